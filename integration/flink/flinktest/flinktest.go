// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flinktest gives tests a Flink job server. Where Java or Maven is
// missing such tests are skipped with a text that says so; with the environment
// variable CI=true they fail instead.
package flinktest

import (
	"errors"
	"os"
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
)

// Start starts a job server for this test alone and ends it, with its jobs, at
// the test's end. Its log is kept if the test fails.
func Start(t testing.TB, opts ...flink.Option) *flink.Server {
	t.Helper()
	Need(t)
	s, err := flink.Start(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.KeepLogs()
			t.Logf("the log of the Flink job server is %s", s.Log())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Need skips the test where no job server can be started, or fails it in CI.
func Need(t testing.TB) {
	t.Helper()
	err := flink.Available()
	if err == nil {
		return
	}
	if _, missing := errors.AsType[*flink.Missing](err); missing && os.Getenv("CI") != "true" {
		t.Skip("skipped: " + err.Error())
	}
	t.Fatal(err)
}
