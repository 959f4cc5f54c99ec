// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package rocketmqio

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

// Not under the race detector: Beam's own table of plans that await finalization has
// no lock.

func init() {
	beam.RegisterDoFn(&pulsesFn{})
	beam.RegisterFunction(dropPrepared)
}

// fixedSDK is the environment variable that says that the tests are built with an
// SDK that runs all callbacks of bundle finalization.
const fixedSDK = "ROCKETMQ_BEAM_TEST_FIXED_SDK"

const (
	pulses   = 10
	perPulse = 5
)

// pulsesFn makes some messages in each of many bundles.
type pulsesFn struct{ Pulses, PerPulse int }

func (fn *pulsesFn) CreateInitialRestriction([]byte) offsetrange.Restriction {
	return offsetrange.Restriction{Start: 0, End: int64(fn.Pulses)}
}

func (fn *pulsesFn) SplitRestriction(_ []byte, r offsetrange.Restriction) []offsetrange.Restriction {
	return []offsetrange.Restriction{r}
}

func (fn *pulsesFn) RestrictionSize(_ []byte, r offsetrange.Restriction) float64 { return r.Size() }

func (fn *pulsesFn) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

func (fn *pulsesFn) ProcessElement(rt *sdf.LockRTracker, _ []byte, emit func(OutgoingMessage)) sdf.ProcessContinuation {
	r := rt.GetRestriction().(offsetrange.Restriction)
	if !rt.TryClaim(r.Start) {
		return sdf.StopProcessing()
	}
	for i := range fn.PerPulse {
		emit(numbered(int(r.Start)*fn.PerPulse + i))
	}
	if r.Start+1 >= r.End {
		rt.TryClaim(r.End) // says that it is done
		return sdf.StopProcessing()
	}
	return sdf.ResumeProcessingIn(time.Millisecond)
}

func dropPrepared(prepared) {}

// makePulses makes messages for many bundles. Prism finalizes a stage only if the
// first of its transforms asks for it, so the next one has to begin a stage.
func makePulses(s beam.Scope) beam.PCollection {
	return beam.Reshuffle(s, beam.ParDo(s, &pulsesFn{pulses, perPulse}, beam.Impulse(s)))
}

// What a callback alone commits: all, with an SDK that runs them all; else the
// transform finds out that they are lost.
func TestCallbacksOfThisSDK(t *testing.T) {
	mq := startTxn(t)
	cfg := finalConfig(t, mq)
	p, s := beam.NewPipelineWithRoot()
	messages := makePulses(s)
	halves := beam.ParDo(s, &prepareFinalFn{prepareFn: prepareFn{bundleWriter: bundleWriter{Config: cfg}}}, messages)
	beam.ParDo0(s, dropPrepared, halves)
	t.Cleanup(writeSessions.CloseIdle)
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	got := visible(mq)
	for body, times := range got {
		if times != 1 {
			t.Errorf("%q is there %d times, want once", body, times)
		}
	}
	_, fixed := os.LookupEnv(fixedSDK)
	off := false
	key, err := json.Marshal(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	txnSessions.Peek(string(key), func(s *txnSession) { off = s.callbacks.off })
	t.Logf("an SDK that is fixed: %v; callbacks committed %d of %d; given up: %v", fixed, len(got), pulses*perPulse, off)
	switch all := len(got) == pulses*perPulse; {
	case fixed && (!all || off):
		t.Errorf("callbacks committed %d of %d messages, given up: %v; want all", len(got), pulses*perPulse, off)
	case !fixed && (all || !off || len(got) == 0):
		t.Errorf("callbacks committed %d of %d messages, given up: %v; want that of the first bundle, and the loss of others found out", len(got), pulses*perPulse, off)
	}
}

// With the commit step behind them all are there, once, whatever the SDK does.
func TestCallbacksWithTheCommitStepBehindThem(t *testing.T) {
	mq := startTxn(t)
	out := &results{}
	resultsOf.Store(t.Name(), out)
	t.Cleanup(func() { resultsOf.Delete(t.Name()); writeSessions.CloseIdle(); txnSessions.CloseIdle() })
	p, s := beam.NewPipelineWithRoot()
	messages := makePulses(s)
	beam.ParDo0(s, &resultsFn{Test: t.Name()}, Write(s, mq.NameServer(), messages, WriteTopic(testTopic),
		WriteExactlyOnce(bodyAsKey), settleSoon, WriteCommitAtFinalization(30*time.Second)))
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	wantVisible(t, mq, pulses*perPulse)
	if len(out.all) != pulses*perPulse {
		t.Errorf("%d results, want %d", len(out.all), pulses*perPulse)
	}
	if commits, rollbacks := endsOf(mq); commits != pulses*perPulse || rollbacks != 0 {
		t.Errorf("%d commits and %d rollbacks, want %d and none", commits, rollbacks, pulses*perPulse)
	}
}

func TestTheSameIsCountedWithCallbacks(t *testing.T) {
	wantFigures(t, WriteExactlyOnce(bodyAsKey), settleSoon, WriteCommitAtFinalization(30*time.Second))
}

// The tests above once more, built with a copy of the SDK in which a plan empties
// its list of callbacks when a bundle is final, instead of taking another.
func TestCallbacksOfAnSDKWithTheFix(t *testing.T) {
	if _, fixed := os.LookupEnv(fixedSDK); fixed {
		t.Skip("skipped: this is that run")
	}
	if os.Getenv("CI") != "true" {
		t.Skip("skipped: builds Beam anew, which takes minutes; run it with CI=true")
	}
	module := goCommand(t, "list", "-m", "-f", "{{.Dir}}", "github.com/apache/beam/sdks/v2")
	home := filepath.Dir(goCommand(t, "env", "GOMOD"))
	patched := t.TempDir()
	patchSDK(t, module, patched)
	// A modfile beside the project's own, with its sums.
	alt := filepath.Join(t.TempDir(), "fixed.mod")
	copyFile(t, filepath.Join(home, "go.mod"), alt)
	copyFile(t, filepath.Join(home, "go.sum"), strings.TrimSuffix(alt, ".mod")+".sum")
	goCommand(t, "mod", "edit", "-replace=github.com/apache/beam/sdks/v2="+patched, alt)
	// With paths that are the same in
	// each run, for the build's cache.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-modfile="+alt, "-trimpath", "-count=1", "-vet=off", "-v", "-timeout=10m",
		"-run=^(TestCallbacksOfThisSDK|TestCallbacksWithTheCommitStepBehindThem)$", "github.com/rocketmq-beam/rocketmq-beam/rocketmqio")
	cmd.Env = append(os.Environ(), fixedSDK+"=yes")
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	if err != nil || bytes.Count(text, []byte("--- PASS")) != 2 {
		t.Fatalf("the tests with the fixed SDK: %v", err)
	}
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	var complaint bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSpace(string(text))
}

// patchSDK makes a copy of the SDK with one line changed.
func patchSDK(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join(from, name), filepath.Join(to, name))
	}
	// No symbolic links: go does not follow them.
	if err := os.CopyFS(filepath.Join(to, "go"), os.DirFS(filepath.Join(from, "go"))); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(to, "go", "pkg", "beam", "core", "runtime", "exec", "plan.go")
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	const is, should = "p.bf = &newFinalizer", "*p.bf = newFinalizer"
	if n := bytes.Count(text, []byte(is)); n != 1 {
		t.Fatalf("the SDK has %q %d times, want once: has it been fixed?", is, n)
	}
	// What is copied from the module cache cannot be written.
	if err := os.Remove(plan); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plan, bytes.Replace(text, []byte(is), []byte(should), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
