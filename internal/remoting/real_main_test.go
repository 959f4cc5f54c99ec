// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	. "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(realmqtest.Wrap(m)) }

func newClient(t testing.TB, cfg Config) *Client          { t.Helper(); return NewTestClient(t, cfg) }
func eventually(t testing.TB, what string, f func() bool) { t.Helper(); Eventually(t, what, f) }
func must[T any](t testing.TB) func(T, error) T           { return Must[T](t) }
func wantClass(t testing.TB, err error, want Class) *Error {
	t.Helper()
	return WantClass(t, err, want)
}
func background(t testing.TB) context.Context     { return Background(t) }
func awaitPending(t testing.TB, c *Client, n int) { t.Helper(); AwaitPending(t, c, n) }
