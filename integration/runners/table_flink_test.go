// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// program builds the program of the pipelines, for what its users type.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipelines")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../pipelines").CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	return path
}

// script copies rows of orders whose number is not negative to counts.
func script(t *testing.T, b *embedded.Broker, group, options string) string {
	t.Helper()
	text := fmt.Sprintf(`CREATE TABLE orders (id BIGINT, name STRING, queue INT METADATA FROM 'queue-id' VIRTUAL) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '%[1]s',
  'rocketmq.source.topic' = '%[2]s', 'rocketmq.source.group' = '%[3]s', 'rocketmq.source.startup.scan.mode' = 'earliest', 'rocketmq.source.offset.commit.interval' = '100');
CREATE TABLE upper (id BIGINT, name STRING, queue INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '%[1]s',
  'rocketmq.sink.topic' = '%[4]s', 'rocketmq.sink.key.columns' = 'id', 'format' = 'json'%[5]s);
INSERT INTO upper SELECT id, UPPER(name), queue FROM orders WHERE id >= 0;`, b.NameServer(), ordersTopic, group, countsTopic, options)
	path := filepath.Join(t.TempDir(), "script.sql")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// publishRows publishes n messages of two rows and one that is filtered out, and
// returns the rows that are to be written.
func publishRows(b *embedded.Broker, from, n int) map[string]int {
	want := map[string]int{}
	for i := from; i < from+n; i++ {
		b.PublishTo(embedded.Queue{Topic: ordersTopic, ID: i % queues}, fmt.Appendf(nil, "%d\x01ann\n-1\x01nobody\n%d\x01böb", i, i))
		for _, name := range []string{"ANN", "BÖB"} {
			want[fmt.Sprintf(`{"id":%d,"name":"%s","queue":%d}`, i, name, i%queues)] = 1
		}
	}
	return want
}

// wantRows waits until the rows are there, and fails if one of them is there twice
// or something else is.
func wantRows(t *testing.T, b *embedded.Broker, want map[string]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.Wait(ctx, func(s embedded.Snapshot) bool { return len(s.Messages(countsTopic)) >= len(want) }); err != nil {
		t.Fatalf("%v: %d of %d rows are there", err, len(b.Messages(countsTopic)), len(want))
	}
	got := map[string]int{}
	for _, m := range b.Messages(countsTopic) {
		got[string(m.Body)]++
	}
	for row, n := range want {
		if got[row] != n {
			t.Errorf("%s is there %d times", row, got[row])
		}
		delete(got, row)
	}
	if len(got) > 0 {
		t.Errorf("rows that nobody wanted: %v", got)
	}
}

// run is a program that runs a script on Flink.
type run struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	ended    chan error
}

func startOnFlink(t *testing.T, program string, args ...string) *run {
	t.Helper()
	onFlink[0].server(t)
	r := &run{ended: make(chan error, 1)}
	args = append([]string{"table", "--flink", shared.job.Endpoint(), "--checkpointing-interval", "500ms", "--parallelism", "2"}, args...)
	r.cmd = exec.CommandContext(t.Context(), program, args...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.cmd.Wait() }()
	return r
}

// end waits for the program, and returns its exit code and last line.
func (r *run) end(t *testing.T) (code int, last string) {
	t.Helper()
	select {
	case err := <-r.ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatalf("it has not ended in %v", patience)
	}
	lines := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	t.Logf("exit code %d\n%s\n%s", code, r.out.String(), r.err.String())
	return code, lines[len(lines)-1]
}

// What users of the connectors for Flink have: a script, and a Flink. One script
// ends, and writes in transactions; the other is interrupted.
func TestScriptsOfTablesOnFlink(t *testing.T) {
	program := program(t)
	t.Run("to the end of what is there, in transactions", func(t *testing.T) {
		t.Parallel()
		b := startBroker(t)
		const n = 40
		want := publishRows(b, 0, n)
		r := startOnFlink(t, program, "--bounded", script(t, b, "bounded", ", 'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE'"))
		code, last := r.end(t)
		var f struct {
			Read    int `json:"messages_read"`
			Written int `json:"rows_written"`
		}
		if err := json.Unmarshal([]byte(last), &f); err != nil || code != 0 || f.Read != n || f.Written != 2*n {
			t.Errorf("exit code %d, %+v, %v; want 0, %d messages and %d rows", code, f, err, n, 2*n)
		}
		wantRows(t, b, want)
		sum := int64(0)
		for id := range queues {
			at, _ := b.Committed("bounded", embedded.Queue{Topic: ordersTopic, ID: id})
			sum += at
		}
		if sum != n {
			t.Errorf("%d of %d messages are committed", sum, n)
		}
	})
	t.Run("until it is interrupted", func(t *testing.T) {
		t.Parallel()
		b := startBroker(t)
		const n = 20
		want := publishRows(b, 0, n)
		r := startOnFlink(t, program, script(t, b, "endless", ""))
		wantRows(t, b, want)
		for row := range publishRows(b, n, n) {
			want[row] = 1
		}
		wantRows(t, b, want)
		wantCommitted(t, b, "endless", 2*n)
		begin := time.Now()
		if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code, last := r.end(t); code != 130 || !strings.HasSuffix(last, `"interrupted":true}`) || time.Since(begin) > 15*time.Second {
			t.Errorf("exit code %d after %v, last line %s", code, time.Since(begin), last)
		}
		wantRows(t, b, want)
	})
}

// wantCommitted waits until the group has committed so many messages.
func wantCommitted(t *testing.T, b *embedded.Broker, group string, n int64) {
	t.Helper()
	poll(t, fmt.Sprintf("%d messages before what group %s has committed", n, group), func() bool {
		sum := int64(0)
		for id := range queues {
			at, _ := b.Committed(group, embedded.Queue{Topic: ordersTopic, ID: id})
			sum += at
		}
		return sum == n
	})
}
