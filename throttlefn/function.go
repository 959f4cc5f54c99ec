// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"regexp"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// anonymous matches the names that the compiler gives to function literals.
var anonymous = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// checkFunction refuses a user's function that a worker could not find again.
func checkFunction(what string, fn reflectx.Func) error {
	if fn == nil {
		return fmt.Errorf("%s is nil: want a named function registered with register.Function1x1", what)
	}
	if anonymous.MatchString(fn.Name()) {
		return fmt.Errorf("%s is the function literal %s, whose variables do not travel to the workers: want a named function registered with register.Function1x1", what, fn.Name())
	}
	return nil
}
