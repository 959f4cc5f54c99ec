// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package realmqtest gives tests a real RocketMQ: one for all tests of a
// binary, or one of their own.
//
//	func TestMain(m *testing.M) { realmqtest.Main(m) }
//
//	func TestIt(t *testing.T) {
//		mq := realmqtest.Shared(t)
//		…
//	}
//
// Where Java or Maven is missing such tests are skipped with a text that says
// so; with the environment variable CI=true they fail instead.
package realmqtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// shared is the cluster of this test binary. It is the one thing here that
// outlives a test, and [Main] ends it.
var shared struct {
	once sync.Once
	mq   *realmq.Cluster
	err  error

	mu     sync.Mutex
	failed bool
}

// Shared returns the cluster of this test binary and starts it the first
// time. Tests that use it run beside each other: each has its own topics and
// groups, and restarts of a server are for clusters of [Start]. The test
// binary's TestMain must be [Main] or [Wrap].
func Shared(t testing.TB) *realmq.Cluster {
	t.Helper()
	need(t)
	shared.once.Do(func() { shared.mq, shared.err = realmq.Start(context.Background()) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Cleanup(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		shared.failed = shared.failed || t.Failed()
	})
	return shared.mq
}

// Start starts a cluster for this test alone and closes it at the test's end.
// Its logs are kept if the test fails.
func Start(t testing.TB, opts ...realmq.Option) *realmq.Cluster {
	t.Helper()
	need(t)
	mq, err := realmq.Start(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			mq.KeepLogs()
			t.Logf("the logs of RocketMQ are in %s", mq.Logs())
		}
		if err := mq.Close(); err != nil {
			t.Error(err)
		}
	})
	return mq
}

// need skips the test where no RocketMQ can be started, or fails it in CI.
func need(t testing.TB) {
	t.Helper()
	err := realmq.Available()
	if err == nil {
		return
	}
	var missing *realmq.Missing
	if errors.As(err, &missing) && os.Getenv("CI") != "true" {
		t.Skip("skipped: " + err.Error())
	}
	t.Fatal(err)
}

// Main runs the tests, closes the shared cluster, and ends the process.
func Main(m *testing.M) { os.Exit(Wrap(m).Run()) }

// Runner is what [Wrap] returns and goleak.VerifyTestMain takes.
type Runner struct{ m *testing.M }

// Wrap is for a TestMain that does more than [Main], for instance
// goleak.VerifyTestMain(realmqtest.Wrap(m)).
func Wrap(m *testing.M) Runner { return Runner{m} }

// Run runs the tests and closes the shared cluster. Its logs are kept if a
// test that used it failed.
func (r Runner) Run() int {
	code := r.m.Run()
	if shared.mq == nil {
		return code
	}
	if shared.failed {
		shared.mq.KeepLogs()
		fmt.Fprintf(os.Stderr, "the logs of RocketMQ are in %s\n", shared.mq.Logs())
	}
	if err := shared.mq.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
