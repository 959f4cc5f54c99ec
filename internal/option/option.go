// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package option is what the options of all transforms have in common: they
// change a configuration while the pipeline is built, and refuse values out of
// range with an error that names the option and the value.
//
// An option is a func(*C) error over a transform's configuration C.
package option

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
)

// Apply applies the options in turn and returns all their faults together.
func Apply[C any, O ~func(*C) error](c *C, opts []O) error {
	var faults []error
	for i, opt := range opts {
		if opt == nil {
			faults = append(faults, fmt.Errorf("option %d of %d is nil", i+1, len(opts)))
			continue
		}
		faults = append(faults, opt(c))
	}
	return errors.Join(faults...)
}

// InRange is an option that takes a value from low to high.
func InRange[C any, V cmp.Ordered](name string, v, low, high V, set func(*C)) func(*C) error {
	return func(c *C) error {
		if !(v >= low && v <= high) { // so that NaN is refused, too
			return fmt.Errorf("option %s: %v is out of range: want %v to %v", name, v, low, high)
		}
		set(c)
		return nil
	}
}

// ZeroOrInRange is [InRange] for a value whose zero turns something off.
func ZeroOrInRange[C any, V cmp.Ordered](name string, v, low, high V, set func(*C)) func(*C) error {
	var zero V
	if v == zero {
		return func(c *C) error { set(c); return nil }
	}
	return func(c *C) error {
		if !(v >= low && v <= high) {
			return fmt.Errorf("option %s: %v is out of range: want %v, or %v to %v", name, v, zero, low, high)
		}
		set(c)
		return nil
	}
}

// OneOf is an option that takes one of a few values.
func OneOf[C any, V ~string](name string, v V, values []V, set func(*C)) func(*C) error {
	return func(c *C) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("option %s: %q is unknown: want one of %q", name, v, values)
		}
		set(c)
		return nil
	}
}

// Namespace is an option that takes an instance namespace.
func Namespace[C any](name, namespace string, set func(*C)) func(*C) error {
	return func(c *C) error {
		if err := names.CheckNamespace(namespace); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
		set(c)
		return nil
	}
}

// Resolver is an option that names the resolver of a transform's keys.
func Resolver[C any](name, resolver string, source func(*C) *auth.Source) func(*C) error {
	return func(c *C) error {
		if resolver == "" {
			return fmt.Errorf("option %s: the resolver's name is empty; leave the option out to send unsigned requests", name)
		}
		source(c).Resolver = resolver
		return nil
	}
}

// StaticKeys is an option that gives a transform's keys themselves.
func StaticKeys[C any](name, accessKey, secretKey string, source func(*C) *auth.Source) func(*C) error {
	return func(c *C) error {
		if accessKey == "" || secretKey == "" {
			return fmt.Errorf("option %s: access key and secret key must not be empty", name)
		}
		s := source(c)
		s.StaticAccessKey, s.StaticSecretKey = accessKey, secretKey
		return nil
	}
}
