// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// legs are two with given latencies of the calm tenants.
func legs(t *testing.T, none, fair time.Duration) []Leg {
	t.Helper()
	return []Leg{made(NameNone, none), made(NameFair, fair)}
}

func made(name string, calm time.Duration) Leg {
	ms := float64(calm.Milliseconds())
	noisy := 8000.0
	return Leg{
		Name: name,
		Summary: stats.Summary{
			Published: 3, DistinctAcked: 2, Lost: 1, CalmP50: &ms, CalmP99: &ms, NoisyP50: &noisy, NoisyP99: &noisy, Duration: 9,
		},
		Points: []stats.Point{{Latency: calm}, {At: time.Second, Latency: 8 * time.Second, Noisy: true}},
	}
}

func TestTableSaysWhatThePolicyChanged(t *testing.T) {
	tests := []struct {
		name, want string
		legs       []Leg
		cut        bool
	}{
		{"it helped", "4.0 times less (p99 500 ms instead of 2000 ms)", legs(t, 2*time.Second, 500*time.Millisecond), false},
		{"it did not", "The policy did not help", legs(t, time.Second, 2*time.Second), false},
		{"one leg alone", "lost", legs(t, time.Second, time.Second)[:1], false},
		{"interrupted", "left", legs(t, 2*time.Second, time.Second), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := Table(&out, tt.legs, tt.cut); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("got\n%s\nwant a line with %q", &out, tt.want)
			}
			if judged := strings.Contains(out.String(), "calm tenants waited"); judged && (tt.cut || len(tt.legs) == 1) {
				t.Errorf("got\n%s\nwant no verdict", &out)
			}
		})
	}
}

func TestTableHasARowForEachLeg(t *testing.T) {
	var out strings.Builder
	if err := Table(&out, legs(t, 2*time.Second, 500*time.Millisecond), false); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(out.String(), "\n")
	want := [][]string{
		{"leg", "published", "acked", "lost", "deferred", "redelivered", "calm", "p50", "calm", "p99", "noisy", "p50", "noisy", "p99", "took"},
		{"none", "3", "2", "1", "0", "0", "2000", "ms", "2000", "ms", "8000", "ms", "8000", "ms", "9.0", "s"},
		{"fair", "3", "2", "1", "0", "0", "500", "ms", "500", "ms", "8000", "ms", "8000", "ms", "9.0", "s"},
	}
	for i, cells := range want {
		got := strings.Join(strings.Fields(rows[i]), " ")
		if want := strings.Join(cells, " "); got != want {
			t.Errorf("row %d:\ngot  %s\nwant %s", i, got, want)
		}
	}
}

func TestJSONIsOneObjectOnOneLine(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, legs(t, 2*time.Second, 500*time.Millisecond), Complete); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
	var got struct {
		Legs        map[string]map[string]any
		Interrupted *bool
		Aborted     *bool
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, leg := range []string{"none", "fair"} {
		for _, key := range []string{"published", "distinct_acked", "lost", "redelivered", "deferred", "calm_p50_ms", "calm_p99_ms", "noisy_p99_ms"} {
			if _, ok := got.Legs[leg][key].(float64); !ok {
				t.Errorf("legs.%s.%s = %v, want a number", leg, key, got.Legs[leg][key])
			}
		}
	}
	if got.Interrupted != nil || got.Aborted != nil {
		t.Error("a run that came to its end says otherwise")
	}
}

func TestJSONSaysThatARunWasInterrupted(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, nil, Interrupted); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"legs":{},"interrupted":true}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func snapshot() stats.Snapshot {
	return stats.Snapshot{
		Counts:  stats.Counts{Published: 10, Delivered: 9, Deferred: 8, Acked: 7, Redelivered: 6},
		Elapsed: 3 * time.Second,
		CalmP50: stats.Quantile{Latency: 250 * time.Millisecond, Measured: true},
		CalmP99: stats.Quantile{Latency: 1500 * time.Millisecond, Measured: true},
	}
}

func TestLiveWritesLinesWhereThereIsNoTerminal(t *testing.T) {
	var out strings.Builder
	live := NewLive(&out)
	live.Head()
	live.Show("none", snapshot())
	live.Show("none", snapshot())
	live.End()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 || strings.Contains(out.String(), "\x1b") {
		t.Fatalf("got %q, want a heading and two plain lines", out.String())
	}
	if got, want := strings.Join(strings.Fields(lines[1]), " "), "none 3s 10 9 8 7 6 250 ms 1.5 s -"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(lines[0]) != len(lines[1]) {
		t.Errorf("the columns do not stand below their names:\n%s\n%s", lines[0], lines[1])
	}
}

func TestLiveRewritesItsLineOnATerminal(t *testing.T) {
	var out strings.Builder
	live := &Live{out: &out, terminal: true}
	live.Show("none", snapshot())
	live.Show("none", snapshot())
	live.End()
	live.End()
	if got := strings.Count(out.String(), "\n"); got != 1 {
		t.Errorf("%d line ends, want the one of End", got)
	}
	if got := strings.Count(out.String(), eraseLine); got != 2 {
		t.Errorf("the line was begun anew %d times, want 2", got)
	}
}

func TestPlotIsAnSVGWithBothLegs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairshare.svg")
	if err := Plot(path, legs(t, 2*time.Second, 500*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := wellFormed(data); err != nil {
		t.Errorf("the file is no XML: %v", err)
	}
	for _, want := range []string{"<svg", "none: without a policy", "fair: with a quota", "calm tenants, p99: 2.0 s", "calm tenants, p99: 0.5 s"} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}

func wellFormed(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestPlotTakesLegsThatMeasuredNothing(t *testing.T) {
	for name, legs := range map[string][]Leg{"an empty leg": {{Name: NameNone}}, "no leg": nil} {
		if err := Plot(filepath.Join(t.TempDir(), "x.svg"), legs); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlotDrawsAtMostSoManyDots(t *testing.T) {
	points := make([]stats.Point, 10*mostPoints+1)
	if got := len(sample(points, false)); got > mostPoints || got < mostPoints/2 {
		t.Errorf("%d dots of %d, want at most %d", got, len(points), mostPoints)
	}
}

func TestPlotNamesTheFileThatItCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "x.svg")
	if err := Plot(path, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error with %s", err, path)
	}
}
