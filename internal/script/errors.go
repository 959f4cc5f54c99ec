// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Error is a fault of a script.
type Error struct {
	At      Position
	Message string
}

// Error names line and column.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.At.Line, e.At.Column, e.Message)
}

func fault(at Position, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// joined puts faults into the order of the script, each once. It is nil if there
// are none.
func joined(faults []error) error {
	var own []*Error
	var others []error
	for _, err := range faults {
		var e *Error
		if errors.As(err, &e) {
			own = append(own, e)
		} else if err != nil {
			others = append(others, err)
		}
	}
	slices.SortStableFunc(own, func(a, b *Error) int {
		return cmp.Or(a.At.Line-b.At.Line, a.At.Column-b.At.Column)
	})
	own = slices.CompactFunc(own, func(a, b *Error) bool { return *a == *b })
	for i, e := range own {
		others = slices.Insert(others, i, error(e))
	}
	return errors.Join(others...)
}

// EvalError is a row that an expression could not work on.
type EvalError struct {
	// At is where the expression is in the script.
	At  Position
	Err error
}

// Error names line and column.
func (e *EvalError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.At.Line, e.At.Column, e.Err)
}

// Unwrap gives the reason.
func (e *EvalError) Unwrap() error { return e.Err }
