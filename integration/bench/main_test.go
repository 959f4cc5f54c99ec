// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/scalebench"
)

// TestMain is the program itself where a test starts it again for a broker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{brokerName, normalBrokerName, slowReaderName}, os.Args[1]) {
		main()
		return
	}
	os.Exit(m.Run())
}

// bench runs the program with these arguments and returns its output.
func bench(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := command()
	c.SetOut(&out)
	c.SetErr(t.Output())
	c.SetArgs(args)
	err := c.ExecuteContext(ctx)
	return out.String(), err
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func TestScaleMeasuresThePointsOfTheDimensionsThatAreAsked(t *testing.T) {
	dir := t.TempDir()
	page, file := filepath.Join(dir, "page.md"), filepath.Join(dir, "scale.json")
	out, err := bench(t, t.Context(), "scale", "--target", "embedded", "--only", "fetch", "--messages", "60", "--pairs", "1",
		"--plots", dir, "--page", page, "--json", file)
	if err != nil {
		t.Fatal(err)
	}
	var report map[string]*scalebench.Result
	if err := json.Unmarshal([]byte(lastLine(out)), &report); err != nil {
		t.Fatalf("the last line is no JSON: %v", err)
	}
	if report["real"] != nil || len(report["embedded"].Curves) != 1 {
		t.Fatalf("got %s, want one curve of the embedded broker", lastLine(out))
	}
	var polls []int
	for _, p := range report["embedded"].Curves[scalebench.Fetch].Points {
		polls = append(polls, p.Polls)
		if p.Messages != 60 || p.RawPerS <= 0 || p.PipelinePerS <= 0 || p.Ratio <= 0 {
			t.Errorf("got %+v, want speeds of 60 messages on both sides", p)
		}
	}
	if !slices.Equal(polls, []int{1, 2, 4, 8, 16}) {
		t.Errorf("measured with %v polls", polls)
	}
	if written, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(written)) != lastLine(out) {
		t.Errorf("the file holds %q, %v; want the last line", written, err)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "scale-fetch.svg")); err != nil || !bytes.Contains(svg, []byte("pipeline")) {
		t.Errorf("the plot is no picture of the pipeline: %v", err)
	}
	redrawn := filepath.Join(dir, "again.md")
	if again, err := bench(t, t.Context(), "scale", "--target", "embedded", "--from", file, "--page", redrawn); err != nil || lastLine(again) != lastLine(out) {
		t.Errorf("the results drawn again: %v, %s", err, lastLine(again))
	}
	first, _ := os.ReadFile(page)
	if second, err := os.ReadFile(redrawn); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the page drawn again differs: %v\n%s", err, second)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("![Fetch concurrency](scale-fetch.svg)")) {
		t.Errorf("the page does not show the plot: %v\n%s", err, text)
	}
}

// What was measured before is told, and no broker is left behind: the command
// waits for its end.
func TestAnInterruptedScaleEndsSoonWithALineOfJSON(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	out, err := bench(t, ctx, "scale", "--target", "embedded", "--only", "fetch", "--messages", "60")
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v, want an error that tells of the interrupt", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if !json.Valid([]byte(lastLine(out))) {
		t.Errorf("the last line is no JSON: %q", lastLine(out))
	}
}

func TestTheOtherCommandsEndWithALineOfJSON(t *testing.T) {
	for _, args := range [][]string{
		{"lite", "--messages", "100", "--lite-topics", "10"},
		{"read", "--messages", "200", "--client-go", ""},
		{"write", "--messages", "200", "--client-go", "", "--async-in-flight", "4", "--batches-in-flight", "2"},
		{"memory", "--messages", "500", "--slow", "50ms"},
	} {
		t.Run(args[0], func(t *testing.T) {
			args = append(args, "--target", "embedded")
			if args[0] != "memory" {
				args = append(args, "--pairs", "1")
			}
			out, err := bench(t, t.Context(), args...)
			if err != nil {
				t.Fatal(err)
			}
			var report struct{ Real, Embedded map[string]any }
			if err := json.Unmarshal([]byte(lastLine(out)), &report); err != nil {
				t.Fatalf("the last line is no JSON: %v", err)
			}
			if report.Real != nil || len(report.Embedded) == 0 {
				t.Errorf("got %s, want figures of the embedded broker alone", lastLine(out))
			}
		})
	}
}

func TestFlagsThatCannotBeAreRefusedByName(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"scale --only fetch,sideways", "sideways"},
		{"scale --target both", "--target"},
		{"scale --pairs 0", "--pairs 0"},
		{"lite --target moon", `--target "moon"`},
		{"lite --lite-topics 0", "--lite-topics 0"},
		{"read --messages 5,0", "--messages 0"},
		{"write --client-go-in-flight 0", "--client-go-in-flight 0"},
		{"table --queues 0", "--queues 0"},
		{"memory --slow 0s", "--slow 0s"},
	} {
		t.Run(c.args, func(t *testing.T) {
			if _, err := bench(t, t.Context(), strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %s", err, c.want)
			}
		})
	}
}
