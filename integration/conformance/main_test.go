// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(realmqtest.Wrap(m)) }
