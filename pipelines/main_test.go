// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// call runs the program.
func call(t *testing.T, ctx context.Context, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(ctx, args, &o, &e)
	return code, o.String(), e.String()
}

func TestWrongCommandLinesNameFlagAndValue(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"malformed endpoints", []string{"fairshare", "--endpoints", "proxy"}, []string{"--endpoints", `"proxy"`, "host:port"}},
		{"an empty topic", []string{"fairshare", "--topic", ""}, []string{"--topic", "empty"}},
		{"a duration out of range", []string{"fairshare", "--window", "2h"}, []string{"--window 2h0m0s", "10ms to 1m0s"}},
		{"a duration that is none", []string{"fairshare", "--duration", "soon"}, []string{"--duration", `"soon"`}},
		{"an unknown resolver", []string{"fairshare", "--credentials", "vault"}, []string{"--credentials", `"vault"`, "env"}},
		{"no tenants", []string{"fairshare", "--tenants", "0"}, []string{"--tenants 0"}},
		{"a share of everything", []string{"fairshare", "--noisy-share", "1"}, []string{"--noisy-share 1"}},
		{"a share and a rate", []string{"fairshare", "--noisy-share", "0.5", "--noisy-rate", "9"}, []string{"--noisy-share 0.5", "--noisy-rate 9"}},
		{"an unknown flag", []string{"fairshare", "--colour"}, []string{"--colour"}},
		{"options of Flink without Flink", []string{"fairshare", "--checkpointing-interval", "1s"}, []string{"--checkpointing-interval", "--flink host:port"}},
		{"a job server that is no address", []string{"fairshare", "--flink", "http://localhost:8099"}, []string{"--flink", `"http://localhost:8099"`, "host:port"}},
		{"a state backend without a place", []string{"fairshare", "--flink", "localhost:8099", "--state-backend", "rocksdb"}, []string{`"rocksdb"`, "storage path"}},
		{"a group that is none", []string{"halves", "--name-servers", "ns:9876", "--group", "a b"}, []string{"--group", `"a b"`}},
		{"tags without a tag", []string{"mirror", "--from", "a:1", "--to", "b:1", "--from-topic", "t", "--to-topic", "t", "--tags", ""}, []string{"--tags"}},
		{"an argument", []string{"fairshare", "now"}, []string{`"now"`}},
		{"an unknown subcommand", []string{"mirrors"}, []string{`"mirrors"`}},
		{"help for an unknown subcommand", []string{"help", "mirrors"}, []string{`"mirrors"`, "did you mean mirror?"}},
		{"help for nothing alike", []string{"help", "nosuch"}, []string{`"nosuch"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := call(t, t.Context(), tt.args...)
			if code != exitUsage || out != "" {
				t.Errorf("exit code %d, stdout %q; want %d and nothing", code, out, exitUsage)
			}
			for _, want := range tt.want {
				if !strings.Contains(errs, want) {
					t.Errorf("got %q, want it to name %q", errs, want)
				}
			}
		})
	}
}

func TestHelpIsThatOfTheSubcommand(t *testing.T) {
	for want, args := range map[string][]string{"pipelines [command]": {"help"}, "--until": {"help", "mirror"}} {
		if code, out, errs := call(t, t.Context(), args...); code != exitOK || errs != "" || !strings.Contains(out, want) {
			t.Errorf("%q: exit code %d, stderr %q, stdout %q; want %q", args, code, errs, out, want)
		}
	}
}

func TestHelpHasAnExample(t *testing.T) {
	code, out, errs := call(t, t.Context(), "fairshare", "--help")
	if code != exitOK || errs != "" {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	for _, want := range []string{"pipelines fairshare --endpoints", "+lite.sub.wildcard=true", "--tls-skip-verify", "--drain-timeout", "130"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
}

func TestClusterFaultsAreClearAndSoon(t *testing.T) {
	plain := embedded.Start(t.Context(), embedded.WithLiteTopic("bus"), embedded.WithLiteGroup("blind", "bus"), embedded.WithWildcardGroup("workers", "bus"), embedded.WithNormalTopic("normal"))
	t.Cleanup(plain.Close)
	signed := embedded.Start(t.Context(), embedded.WithLiteTopic("bus"), embedded.WithWildcardGroup("workers", "bus"), embedded.WithCredentials("ak", "s3cret-of-the-cluster"))
	t.Cleanup(signed.Close)
	t.Setenv("ROCKETMQ_ACCESS_KEY", "ak")
	t.Setenv("ROCKETMQ_SECRET_KEY", "wr0ng-secret")
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"nobody listens", []string{"--endpoints", "127.0.0.1:1", "--topic", "bus"}, []string{"127.0.0.1:1", "check the endpoints"}},
		{"no such topic", []string{"--endpoints", plain.Endpoints(), "--topic", "bsu", "--group", "blind"}, []string{`"bsu"`}},
		{"a topic of another type", []string{"--endpoints", plain.Endpoints(), "--topic", "normal", "--group", "blind"}, []string{`"normal"`, "LITE"}},
		{"a group without the wildcard", []string{"--endpoints", plain.Endpoints(), "--topic", "bus", "--group", "blind"}, []string{`"blind"`, "lite.sub.wildcard"}},
		{"TLS where there is none", []string{"--endpoints", plain.Endpoints(), "--topic", "bus", "--group", "blind", "--tls"}, []string{plain.Endpoints(), "TLS"}},
		{"no credentials", []string{"--endpoints", signed.Endpoints(), "--topic", "bus", "--group", "workers"}, []string{`"bus"`, "UNAUTHORIZED", "check access key"}},
		{"no job server", []string{"--flink", "127.0.0.1:1", "--endpoints", plain.Endpoints(), "--topic", "bus", "--group", "workers"}, []string{"127.0.0.1:1", "check that a Beam job server runs there"}},
		{"wrong credentials", []string{"--endpoints", signed.Endpoints(), "--topic", "bus", "--group", "workers", "--credentials", "env"}, []string{`"bus"`, "UNAUTHORIZED", "check access key"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			begin := time.Now()
			code, out, errs := call(t, t.Context(), append([]string{"fairshare", "--plot", filepath.Join(t.TempDir(), "x.svg")}, tt.args...)...)
			if code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			if !strings.HasSuffix(out, `"aborted":true}`+"\n") {
				t.Errorf("the last line does not say that the run was aborted:\n%s", out)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			for _, want := range tt.want {
				if !strings.Contains(errs, want) {
					t.Errorf("got %q, want it to name %q", errs, want)
				}
			}
			for _, unwanted := range []string{"goroutine", "panic", "s3cret-of-the-cluster", "wr0ng-secret"} {
				if strings.Contains(errs, unwanted) {
					t.Errorf("got %q, want it without %q", errs, unwanted)
				}
			}
		})
	}
}

func TestFairshareAgainstACluster(t *testing.T) {
	mq := embedded.Start(t.Context(), embedded.WithLiteTopic("bus"), embedded.WithWildcardGroup("workers", "bus"))
	t.Cleanup(mq.Close)
	code, out, errs := call(t, t.Context(), "fairshare", "--endpoints", mq.Endpoints(), "--topic", "bus", "--group", "workers",
		"--tenants", "3", "--calm-rate", "5", "--noisy-share", "0.8", "--noisy-sessions", "10", "--duration", "500ms",
		"--work", "10ms", "--workers", "1", "--quota", "8", "--window", "200ms", "--defer", "2s", "--legs", "fair",
		"--plot", filepath.Join(t.TempDir(), "x.svg"))
	if code != exitOK {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var result struct {
		Legs map[string]struct {
			Published, Lost int
			Acked           int `json:"distinct_acked"`
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		t.Fatalf("the last line is no JSON: %v\n%s", err, out)
	}
	got, ok := result.Legs["fair"]
	if !ok || len(result.Legs) != 1 || got.Published == 0 || got.Acked != got.Published || got.Lost != 0 {
		t.Errorf("got %+v, want the leg fair alone, with everything acked", result.Legs)
	}
	if pending := mq.Pending("bus"); pending != 0 {
		t.Errorf("%d messages are left at the broker", pending)
	}
}

func TestInterruptionHasItsExitCode(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	code, out, errs := call(t, ctx, "fairshare", "--plot", filepath.Join(t.TempDir(), "x.svg"))
	if !strings.HasSuffix(out, `"interrupted":true}`+"\n") {
		t.Errorf("the last line does not say that the run was interrupted:\n%s", out)
	}
	if code != exitInterrupted || !strings.Contains(errs, "interrupted") || strings.Contains(errs, "goroutine") {
		t.Errorf("exit code %d, stderr %q; want %d and a word on it", code, errs, exitInterrupted)
	}
}

// A name server that accepts and never answers: Ctrl-C ends the listing, with the
// code of a program that was interrupted.
func TestListingHalvesIsInterrupted(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			interrupt()
			<-t.Context().Done()
			c.Close()
		}
	}()
	code, _, errs := call(t, ctx, "halves", "--name-servers", l.Addr().String(), "--timeout", "30s")
	if code != exitInterrupted || !strings.Contains(errs, "interrupted") {
		t.Errorf("exit code %d and %q, want %d", code, errs, exitInterrupted)
	}
}
