// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package flink_test

import (
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/flink/flinktest"
)

func TestTheServerStarts(t *testing.T) {
	s := flinktest.Start(t)
	t.Log(s.Endpoint(), s.Log())
}
