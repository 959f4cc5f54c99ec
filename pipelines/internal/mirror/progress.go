// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
)

// figures are what a mirror has done. Bundles that a runner repeats count again.
type figures struct {
	Seconds float64 `json:"seconds"`
	Read    int64   `json:"read"`
	Written int64   `json:"written"`
	// Failed are not written: only with the guarantee none.
	Failed int64 `json:"failed"`
	// Filtered are messages of lite topics that have none of the tags.
	Filtered int64 `json:"filtered"`
	// Repeated may be stored more than once, because a request had no answer.
	Repeated int64 `json:"repeated"`
	// Commits are of positions, in normal topics; Acked are messages of lite ones.
	Commits int64 `json:"commits"`
	Acked   int64 `json:"acked"`

	lag int64 // ms, of all messages read together
}

func figuresOf(c map[string]int64, elapsed time.Duration) figures {
	const normal, lite = "rocketmq.rocketmqio.write.", "rocketmq.litegrpcio.write."
	return figures{
		Seconds: elapsed.Seconds(), Read: c[counters+".read"], Written: c[normal+"sent"] + c[lite+"sent"], Failed: c[normal+"failed"],
		Filtered: c[counters+".filtered"], Repeated: c[normal+"retried_uncertain"] + c[lite+"maybe_repeated"],
		Commits: c["rocketmq.rocketmqio.read.commits"], Acked: c["rocketmq.ackfn.acked"], lag: c[counters+".lag_ms"],
	}
}

// progress shows figures as they come.
type progress struct {
	out   io.Writer
	begin time.Time
	last  figures
}

func newProgress(out io.Writer) *progress { return &progress{out: out, begin: time.Now()} }

// Head writes what the columns are. The job begins with it.
func (p *progress) Head() {
	p.begin = time.Now()
	fmt.Fprintln(p.out, "  time       read    written  written/s     failed        lag")
}

// Line shows a second. The lag is how old messages were, on the average, when they
// were read, by the clocks of the broker and of this machine.
func (p *progress) Line(now time.Time, counters map[string]int64) {
	f := figuresOf(counters, now.Sub(p.begin))
	lag := "-"
	if n := f.Read - p.last.Read; n > 0 {
		lag = (time.Duration((f.lag-p.last.lag)/n) * time.Millisecond).String()
	}
	rate := follow.Rate(f.Written-p.last.Written, f.Seconds-p.last.Seconds)
	fmt.Fprintf(p.out, "%5.0fs %10d %10d %10.0f %10d %10s\n", f.Seconds, f.Read, f.Written, rate, f.Failed, lag)
	p.last = f
}

// Result writes the last line. That messages could not be written is no error with
// the guarantee none, but that none of them could is.
func (p *progress) Result(now time.Time, counters map[string]int64, err error) error {
	r := struct {
		figures
		PerSecond   float64 `json:"written_per_s"`
		Interrupted bool    `json:"interrupted"`
		Aborted     bool    `json:"aborted"`
	}{figures: figuresOf(counters, now.Sub(p.begin)), Interrupted: errors.Is(err, ErrInterrupted)}
	r.Aborted = err != nil && !r.Interrupted
	r.PerSecond = math.Floor(follow.Rate(r.Written, r.Seconds))
	if err := json.NewEncoder(p.out).Encode(r); err != nil {
		return err
	}
	if err == nil && r.Failed > 0 && r.Written == 0 {
		return fmt.Errorf("none of %d messages could be written: the warning before says why", r.Failed)
	}
	return nil
}
