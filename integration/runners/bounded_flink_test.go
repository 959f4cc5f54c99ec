// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import "testing"

// Not under the race detector, like all that runs on Flink: what runs here is the same
// as on prism.

func TestABoundedReadOfNormalTopicsOnFlink(t *testing.T) { eachTarget(t, onFlink, wantOrders) }

func TestABoundedReadOfLiteTopicsOnFlink(t *testing.T) { eachTarget(t, onFlink, wantBus) }
