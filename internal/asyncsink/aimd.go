// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"fmt"
	"math"
)

// AIMD is a [Strategy] of additive increase and multiplicative decrease.
//
// It looks at windows of as many entries as the limit. A window in which the
// destination asked for less, or did not answer in time, for a larger share of the
// requests than Tolerance makes the limit smaller by Factor, at once; what was
// under way by then says nothing any more. A window that was used in full and had
// less of that makes the limit larger by Step.
//
// The tolerance is what tells a destination that is full from one that is busy
// now and then: without it, one answer in twenty would bring the limit to a few.
// A destination that is full refuses much more than that, for whoever is refused
// makes room for the next. With a tolerance, windows have so many requests at
// least that chance does not matter: with 0.2, twenty.
type AIMD struct {
	cfg AIMDConfig

	limit     float64
	inFlight  int
	epoch     uint64 // counts decreases
	done      int    // entries of this window that were answered
	requests  int    // requests of this window that were answered
	congested int    // those of them that were to come more slowly
	full      bool   // the limit held something back in this window
}

// AIMDConfig sets an [AIMD].
type AIMDConfig struct {
	// Initial, Min and Max are the limit at the beginning and its bounds. Max is
	// required; the defaults of the others are Max and 1.
	Initial, Min, Max int
	// Step is what a good window adds, 1 or more. Default 10.
	Step int
	// Factor is what a bad window leaves of the limit, more than 0 and less than
	// 1. Default 0.8.
	Factor float64
	// Tolerance is the share of requests in a window that may be sent back
	// without a decrease, 0 or more and less than 1.
	Tolerance float64
}

// NewAIMD checks the settings.
func NewAIMD(cfg AIMDConfig) (*AIMD, error) {
	if cfg.Initial == 0 {
		cfg.Initial = cfg.Max
	}
	if cfg.Min == 0 {
		cfg.Min = 1
	}
	if cfg.Step == 0 {
		cfg.Step = 10
	}
	if cfg.Factor == 0 {
		cfg.Factor = 0.8
	}
	switch {
	case cfg.Min < 1 || cfg.Initial < cfg.Min || cfg.Max < cfg.Initial:
		return nil, fmt.Errorf("asyncsink: AIMD between %d and %d from %d on: want 1 <= min <= initial <= max", cfg.Min, cfg.Max, cfg.Initial)
	case cfg.Step < 1:
		return nil, fmt.Errorf("asyncsink: AIMD step %d: want 1 or more", cfg.Step)
	case !(cfg.Factor > 0 && cfg.Factor < 1):
		return nil, fmt.Errorf("asyncsink: AIMD factor %v: want more than 0 and less than 1", cfg.Factor)
	case !(cfg.Tolerance >= 0 && cfg.Tolerance < 1):
		return nil, fmt.Errorf("asyncsink: AIMD tolerance %v: want 0 or more and less than 1", cfg.Tolerance)
	}
	return &AIMD{cfg: cfg, limit: float64(cfg.Initial)}, nil
}

// Limit is how many entries may be in flight at present.
func (a *AIMD) Limit() int { return int(a.limit) }

// Admit lets a batch go that fits.
func (a *AIMD) Admit(n int) int {
	got := admit(n, a.inFlight, a.Limit())
	a.full = a.full || got < n
	return got
}

// Started takes the entries into the count.
func (a *AIMD) Started(n int) uint64 {
	a.inFlight += n
	a.full = a.full || a.inFlight >= a.Limit()
	return a.epoch
}

// Ended judges the window.
func (a *AIMD) Ended(mark uint64, r Report) {
	a.inFlight -= r.Entries
	if mark != a.epoch {
		return // sent under the former limit, which has been judged
	}
	if r.Acknowledged+r.Congested == 0 {
		return // it says nothing of how much the destination bears
	}
	a.done += r.Acknowledged + r.Congested
	a.requests++
	if r.Congested > 0 {
		a.congested++
	}
	if a.requests < a.enough() {
		return
	}
	switch {
	case float64(a.congested) > a.cfg.Tolerance*float64(a.requests):
		a.limit = max(float64(a.cfg.Min), a.limit*a.cfg.Factor)
		a.epoch++
		a.nextWindow()
	case a.done >= a.Limit():
		if a.full {
			a.limit = min(float64(a.cfg.Max), a.limit+float64(a.cfg.Step))
		}
		a.nextWindow()
	}
}

// enough is how many requests say something: of those, four may be sent back.
func (a *AIMD) enough() int {
	if a.cfg.Tolerance == 0 {
		return 1
	}
	return int(math.Ceil(4 / a.cfg.Tolerance))
}

func (a *AIMD) nextWindow() { a.done, a.requests, a.congested, a.full = 0, 0, 0, false }
