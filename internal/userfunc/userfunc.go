// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package userfunc judges functions that users hand over, to be called by workers.
package userfunc

import (
	"fmt"
	"regexp"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

// unbound matches the names that the compiler gives to function literals and to
// methods of a value. Beam finds the code of such a function on the worker, and
// calls it without what it captured: with whatever the memory there holds.
var unbound = regexp.MustCompile(`\.func\d+(\.\d+)*$|-fm$`)

// Check refuses a function that a worker could not find again. what is what the user
// calls it.
func Check(what string, fn reflectx.Func) error {
	if fn == nil {
		return fmt.Errorf("%s is nil: want a named function registered with package register", what)
	}
	if unbound.MatchString(fn.Name()) {
		return fmt.Errorf("%s is the function literal or method value %s, whose variables do not travel to the workers: want a named function registered with package register", what, fn.Name())
	}
	return nil
}
