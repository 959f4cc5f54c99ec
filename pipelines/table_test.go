// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// scriptOf copies a topic of numbers to another.
func scriptOf(t *testing.T, nameServer, columns string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.sql")
	text := fmt.Sprintf(`CREATE TABLE a (%[2]s) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '%[1]s', 'rocketmq.source.topic' = 'in',
  'rocketmq.source.group' = 'g', 'rocketmq.source.startup.scan.mode' = 'earliest', 'format' = 'json');
CREATE TABLE b (x INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '%[1]s', 'rocketmq.sink.topic' = 'out', 'format' = 'json',
  'rocketmq.client.accessKey' = 'AKTEST', 'rocketmq.client.secretKey' = 'SKTEST');
INSERT INTO b SELECT x FROM a;`, nameServer, columns)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTableFromTheCommandLine(t *testing.T) {
	b := embedded.Start(t.Context(), embedded.WithNormalTopic("in", "out"))
	t.Cleanup(b.Close)
	b.Publish("in", "", []byte(`{"x":5}`))
	script := scriptOf(t, b.NameServer(), "x INT")
	code, out, errs := call(t, t.Context(), "table", "--explain", script)
	if code != exitOK || !strings.Contains(out, "→ read topic in as group g from earliest, without end") || strings.Contains(out+errs, "SKTEST") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if n := len(b.Messages("out")); n != 0 {
		t.Errorf("explaining wrote %d messages", n)
	}
	code, out, errs = call(t, t.Context(), "table", "--bounded", script)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitOK || !strings.Contains(lines[len(lines)-1], `"rows_written":1,`) || len(strings.Fields(lines[max(len(lines)-2, 0)])) != 8 {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if ms := b.Messages("out"); len(ms) != 1 || string(ms[0].Body) != `{"x":5}` {
		t.Errorf("got %v, want the row", ms)
	}
}

func TestTableSaysWhatIsWrong(t *testing.T) {
	b := embedded.Start(t.Context(), embedded.WithNormalTopic("out"))
	t.Cleanup(b.Close)
	missing := filepath.Join(t.TempDir(), "none.sql")
	for _, tt := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"no script", []string{"table"}, exitUsage, []string{"one script"}},
		{"a file that is not there", []string{"table", missing}, exitUsage, []string{missing}},
		{"an end for idle tables that do not end", []string{"table", "--idle-timeout", "3s", missing}, exitUsage, []string{"--idle-timeout 3s", "--bounded"}},
		{"a wrong flag", []string{"table", "--idle-timeout", "0s", missing}, exitUsage, []string{"--idle-timeout 0s"}},
		{"an option of Flink without Flink", []string{"table", "--parallelism", "2", missing}, exitUsage, []string{"--parallelism", "--flink host:port"}},
		{"a column that is not there", []string{"table", scriptOf(t, b.NameServer(), "y INT")}, exitUsage, []string{"copy.sql", "line 5, column 22", "`x`"}},
		{"a topic that is not there", []string{"table", scriptOf(t, b.NameServer(), "x INT")}, exitFailed, []string{"topic in", "check the topic's name"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, errs := call(t, t.Context(), tt.args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(errs, want) {
					t.Errorf("got %q, want it to name %q", errs, want)
				}
			}
		})
	}
}

func TestAnInterruptedTableHasItsExitCode(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	code, out, errs := call(t, ctx, "table", scriptOf(t, "127.0.0.1:1", "x INT"))
	// That the script was not read yet is as good.
	if out != "" && !strings.HasSuffix(out, `"interrupted":true}`+"\n") {
		t.Errorf("the last line does not say that the run was interrupted:\n%s", out)
	}
	if code != exitInterrupted || !strings.Contains(errs, "interrupted") {
		t.Errorf("exit code %d, stderr %q; want %d and a word on it", code, errs, exitInterrupted)
	}
}

// A script comes from a terminal, or from a pipe to which nobody writes.
func TestWaitingForAScriptIsInterrupted(t *testing.T) {
	stdin, writer := io.Pipe()
	t.Cleanup(func() { writer.Close() })
	ctx, interrupt := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer interrupt()
	if _, err := readScript(ctx, "-", stdin); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "script -") {
		t.Errorf("got %v, want it interrupted", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe.sql")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // lets go of the goroutine that opens it
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			f.Close()
		}
	})
	ctx, interrupt = context.WithCancel(t.Context())
	interrupt()
	if code, _, errs := call(t, ctx, "table", pipe); code != exitInterrupted || !strings.Contains(errs, "interrupted") {
		t.Errorf("exit code %d and %q, want %d", code, errs, exitInterrupted)
	}
}
