// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package flink_test

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
	"github.com/rocketmq-beam/rocketmq-beam/integration/flink/flinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAServerTakesConnectionsAndLeavesNothing(t *testing.T) {
	flinktest.Need(t)
	s, err := flink.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", s.Endpoint(), 5*time.Second)
	if err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	if all, err := s.Clusters(); err != nil || len(all) != 0 {
		t.Errorf("got clusters %v, %v; want none before there is a job", all, err)
	}
	for range 2 { // the second time does nothing
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if conn, err := net.DialTimeout("tcp", s.Endpoint(), time.Second); err == nil {
		conn.Close()
		t.Error("the server still listens")
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("the scratch folder: got %v, want it gone", err)
	}
}

func TestAServerThatDoesNotComeUpSaysWhy(t *testing.T) {
	flinktest.Need(t)
	t.Setenv("TMPDIR", t.TempDir())
	s, err := flink.Start(t.Context(), flink.Heap("1k"))
	if err == nil {
		_ = s.Close()
		t.Fatal("no error")
	}
	for _, want := range []string{"starting the Flink job server", "before it was ready", "heap"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to say %q", err, want)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTheLogIsKeptWhenAskedFor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // removed after the test, with the log
	s := flinktest.Start(t)
	s.KeepLogs()
	s.Kill()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if log, err := os.ReadFile(s.Log()); err != nil || len(log) == 0 {
		t.Errorf("the log: %d bytes, %v", len(log), err)
	}
}
