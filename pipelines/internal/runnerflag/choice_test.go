// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runnerflag

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

// parse reads a command line that has the flags of a runner only.
func parse(t *testing.T, args ...string) (c Choice, err error) {
	t.Helper()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	c.Flags(f)
	return c, f.Parse(args)
}

func TestEachFlagSetsItsOption(t *testing.T) {
	for _, tt := range []struct {
		flag, value string
		want        Choice
	}{
		{"--flink", "job:8099", Choice{Flink: "job:8099"}},
		{"--checkpointing-interval", "1500ms", Choice{Options: portable.Options{CheckpointingInterval: 1500 * time.Millisecond}}},
		{"--parallelism", "3", Choice{Options: portable.Options{Parallelism: 3}}},
		{"--max-bundle-size", "10", Choice{Options: portable.Options{MaxBundleSize: 10}}},
		{"--max-bundle-time", "2s", Choice{Options: portable.Options{MaxBundleTime: 2 * time.Second}}},
		{"--execution-retries", "-1", Choice{Options: portable.Options{Retries: -1}}},
		{"--state-backend", "rocksdb", Choice{Options: portable.Options{StateBackend: "rocksdb"}}},
		{"--state-backend-storage-path", "file:///state", Choice{Options: portable.Options{StateBackendStoragePath: "file:///state"}}},
		{"--savepoint-path", "file:///save", Choice{Options: portable.Options{SavepointPath: "file:///save"}}},
		{"--flink-rest", "rest:8081", Choice{Options: portable.Options{FlinkREST: "rest:8081"}}},
	} {
		t.Run(tt.flag, func(t *testing.T) {
			got, err := parse(t, tt.flag, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("choice (-want +got):\n%s", d)
			}
		})
	}
}

// Flags keep what the program has set before as their defaults.
func TestDefaultsStay(t *testing.T) {
	c := Choice{Flink: "job:1", Options: portable.Options{Parallelism: 2, CheckpointingInterval: time.Second}}
	want := c
	c.Flags(pflag.NewFlagSet("test", pflag.ContinueOnError))
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("choice (-want +got):\n%s", d)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want []string // of the error; none: it is good
	}{
		{"nothing: prism", nil, nil},
		{"Flink", []string{"--flink", "job:8099"}, nil},
		{"Flink by an address of IPv6", []string{"--flink", "[::1]:8099", "--flink-rest", "[::1]:8081"}, nil},
		{"Flink and its options", []string{"--flink", "job:8099", "--parallelism", "2", "--checkpointing-interval", "1s", "--state-backend", "filesystem", "--state-backend-storage-path", "file:///s"}, nil},
		{"checkpoints without Flink", []string{"--checkpointing-interval", "1s"}, []string{"--checkpointing-interval", "--flink host:port"}},
		{"the REST service without Flink", []string{"--flink-rest", "rest:8081"}, []string{"--flink host:port"}},
		{"no port", []string{"--flink", "job"}, []string{`--flink "job"`, "host:port"}},
		{"no host", []string{"--flink", ":8099"}, []string{`--flink ":8099"`}},
		{"an empty port", []string{"--flink", "job:"}, []string{`--flink "job:"`}},
		{"a URL", []string{"--flink", "http://job:8099"}, []string{`--flink "http://job:8099"`}},
		{"a REST service that is a URL", []string{"--flink", "job:8099", "--flink-rest", "http://rest:8081/"}, []string{`--flink-rest "http://rest:8081/"`}},
		{"two faults", []string{"--flink", "job", "--parallelism", "-1"}, []string{`--flink "job"`, "parallelism -1"}},
		{"a backend without a place", []string{"--flink", "job:8099", "--state-backend", "rocksdb"}, []string{`"rocksdb"`, "storage path"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := parse(t, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Check()
			if (err == nil) != (len(tt.want) == 0) {
				t.Fatalf("got %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
		})
	}
}

func TestNameSaysWhereItRuns(t *testing.T) {
	for c, want := range map[*Choice]string{{}: "prism, inside the program", {Flink: "job:8099"}: "Flink, through the job server at job:8099"} {
		if got := c.Name(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A job server that does not answer is named, and waiting for it ends with the
// context.
func TestOpenNamesAJobServerThatIsNotThere(t *testing.T) {
	ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	c := Choice{Flink: "127.0.0.1:1"}
	server, err := c.Open(ctx)
	if err == nil {
		server.Close()
		t.Fatal("it is there")
	}
	if !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "check that a Beam job server runs there") {
		t.Errorf("got %v, want it to name the address", err)
	}
}
