// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"io"
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

func TestMain(m *testing.M) {
	portable.Init(io.Discard, false)
	realmqtest.Main(m)
}
