// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// mirrorEnds are the flags that each mirror needs.
func mirrorEnds(from, fromTopic, to, toTopic string, more ...string) []string {
	return append([]string{"mirror", "--from", from, "--from-topic", fromTopic, "--to", to, "--to-topic", toTopic}, more...)
}

func TestMirrorSaysWhatIsWrong(t *testing.T) {
	b := embedded.Start(t.Context(), embedded.WithNormalTopic("out"))
	t.Cleanup(b.Close)
	ns := b.NameServer()
	good := func(more ...string) []string { return mirrorEnds(ns, "in", ns, "out", more...) }
	for _, tt := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"no flag at all", []string{"mirror"}, exitUsage, []string{"--from is empty", "--from-topic is empty", "--to is empty", "--to-topic is empty"}},
		{"an argument", good("now"), exitUsage, []string{`"now"`}},
		{"an unknown flag", good("--colour"), exitUsage, []string{"--colour"}},
		{"a topic onto itself", mirrorEnds(ns, "in", ns, "in"), exitUsage, []string{"--from", "--to", `"in"`, ns}},
		{"a start that is none", good("--since", "yesterday"), exitUsage, []string{`--since "yesterday"`, "earliest"}},
		{"an end that is none", good("--until", "soon"), exitUsage, []string{`--until "soon"`, "latest"}},
		{"a guarantee that is none", good("--guarantee", "twice"), exitUsage, []string{`--guarantee "twice"`, "at-least-once"}},
		{"exactly once", good("--guarantee", "exactly-once"), exitUsage, []string{"--guarantee exactly-once"}},
		{"an empty group", good("--group", ""), exitUsage, []string{"--group is empty"}},
		{"two filters", good("--tags", "paid,open", "--sql", "price > 5"), exitUsage, []string{"--tags paid,open", `--sql "price > 5"`}},
		{"a duration that is none", good("--lite", "--idle-timeout", "long"), exitUsage, []string{"--idle-timeout", `"long"`}},
		{"an end for idle lite topics of a normal one", good("--idle-timeout", "1s"), exitUsage, []string{"--idle-timeout", "--lite"}},
		{"a lease of a normal topic", good("--invisible-duration", "20s"), exitUsage, []string{"--invisible-duration", "--lite"}},
		{"a start of lite topics", good("--lite", "--since", "earliest"), exitUsage, []string{"--since", "--idle-timeout"}},
		{"name servers that are none", mirrorEnds("broker", "in", ns, "out"), exitUsage, []string{"--from: ", `"broker"`, "host:port"}},
		{"an unknown resolver", good("--to-credentials", "vault"), exitUsage, []string{"--to-credentials: ", `"vault"`}},
		{"a certificate that is missing", good("--from-tls", "--from-tls-ca", "/no/ca.pem"), exitUsage, []string{"--from-tls-ca: ", "/no/ca.pem"}},
		{"a certificate without TLS", good("--to-tls-ca", "/no/ca.pem"), exitUsage, []string{"--to-tls and its companions: "}},
		{"a topic that RocketMQ refuses", mirrorEnds(ns, "a b", ns, "out"), exitUsage, []string{"--from-topic: ", `"a b"`}},
		{"name servers for lite topics", mirrorEnds("http://proxy:8081", "bus", ns, "out", "--lite"), exitUsage, []string{"--from: ", "http://proxy:8081"}},
		{"a property of RocketMQ's own", good("--guarantee", "none", "--born-property", "TAGS"), exitUsage, []string{`--born-property "TAGS"`}},
		{"an option of Flink without Flink", good("--parallelism", "2"), exitUsage, []string{"--parallelism", "--flink host:port"}},
		{"a job server that is no address", good("--flink", "localhost"), exitUsage, []string{`--flink "localhost"`, "host:port"}},
		{"a topic that is not there", good("--until", "latest"), exitFailed, []string{"topic in", "check the topic's name"}},
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
			if strings.Contains(errs, "goroutine") || strings.Contains(errs, "panic") {
				t.Errorf("got %q, want a plain text", errs)
			}
		})
	}
}

// mirrored is the last line of a mirror.
func mirrored(t *testing.T, out string) (r struct{ Read, Written, Failed, Commits, Acked int }) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("the last line is no JSON: %v\n%s", err, out)
	}
	return r
}

func TestMirrorFromTheCommandLine(t *testing.T) {
	from := embedded.Start(t.Context(), embedded.WithNormalTopic("in"), embedded.WithLiteTopic("bus"), embedded.WithWildcardGroup("g", "bus"))
	t.Cleanup(from.Close)
	to := embedded.Start(t.Context(), embedded.WithNormalTopic("out"), embedded.WithLiteTopic("bus"))
	t.Cleanup(to.Close)
	for i, tag := range []string{"paid", "open", "paid"} {
		from.Publish("in", "", []byte(tag), embedded.PublishTag(tag), embedded.PublishKeys([]string{"a", "b", "c"}[i]))
	}
	code, out, errs := call(t, t.Context(), mirrorEnds(from.NameServer(), "in", to.NameServer(), "out", "--tags", "paid", "--until", "latest", "--born-property", "born")...)
	if r := mirrored(t, out); code != exitOK || r.Written != 2 || r.Failed != 0 || r.Commits == 0 {
		t.Fatalf("exit code %d, %+v\n%s%s", code, r, out, errs)
	}
	// However short it was, its figures are under their headings.
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) < 4 || !strings.Contains(lines[len(lines)-2], "          2          2 ") {
		t.Errorf("the last row of figures is missing:\n%s", out)
	}
	for _, m := range to.Messages("out") {
		if string(m.Body) != "paid" || m.Tag != "paid" || m.Properties["born"] == "" {
			t.Errorf("got %+v, want those with the tag paid, and when they were made", m)
		}
	}
	from.Publish("bus", "tenant", []byte("hello"))
	code, out, errs = call(t, t.Context(), mirrorEnds(from.Endpoints(), "bus", to.Endpoints(), "bus", "--lite", "--group", "g", "--idle-timeout", "1s")...)
	if r := mirrored(t, out); code != exitOK || r.Written != 1 || r.Acked != 1 {
		t.Fatalf("exit code %d, %+v\n%s%s", code, r, out, errs)
	}
	if ms := to.Messages("bus"); len(ms) != 1 || ms[0].LiteTopic != "tenant" || from.Pending("bus") != 0 {
		t.Errorf("got %+v and %d pending, want one copy in its lite topic", ms, from.Pending("bus"))
	}
}

func TestAnInterruptedMirrorHasItsExitCode(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	code, out, errs := call(t, ctx, mirrorEnds("127.0.0.1:1", "in", "127.0.0.1:1", "out")...)
	if !strings.HasSuffix(out, `"interrupted":true,"aborted":false}`+"\n") {
		t.Errorf("the last line does not say that the run was interrupted:\n%s", out)
	}
	if code != exitInterrupted || !strings.Contains(errs, "interrupted") {
		t.Errorf("exit code %d, stderr %q; want %d and a word on it", code, errs, exitInterrupted)
	}
}
