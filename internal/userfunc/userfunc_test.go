// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package userfunc

import (
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

func named(int) int { return 0 }

type counter int

func (c counter) more(n int) int { return n + int(c) }

// What a worker would call without what it captured is refused: it would read
// foreign memory.
func TestOnlyNamedFunctionsTravel(t *testing.T) {
	captured := len(t.Name())
	for name, c := range map[string]struct {
		fn   any
		want string // of the error; empty: none
	}{
		"a named function":    {named, ""},
		"a literal":           {func(n int) int { return n + captured }, "function literal"},
		"a literal in itself": {func() func(int) int { return func(n int) int { return n + captured } }(), "function literal"},
		"a method of a value": {counter(3).more, "method value"},
	} {
		err := Check("key", reflectx.MakeFunc(c.fn))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "key is")) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := Check("key", nil); err == nil {
		t.Error("nil is taken")
	}
}
