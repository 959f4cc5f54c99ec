// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package direct tells Beam's old direct runner from the others. It runs a
// pipeline in one bundle: it knows no watermark estimators, and forgets the rest
// when a source asks to be called again. Left alone, an unbounded source panics
// deep inside it.
package direct

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
)

// bundleID is the name that the direct runner gives to its one bundle, in the
// context of Setup and of everything after it.
const bundleID = "direct"

// Refuse returns an error for an unbounded transform that the direct runner sets
// up, and nil on every other runner. bounded is what to use instead of it.
func Refuse(ctx context.Context, transform, bounded string) error {
	if metrics.GetBundleID(ctx) != bundleID {
		return nil
	}
	return fmt.Errorf("%s is unbounded, which the direct runner cannot run: use %s, or another runner, "+
		"such as --runner=prism (the default), which needs no installation", transform, bounded)
}
