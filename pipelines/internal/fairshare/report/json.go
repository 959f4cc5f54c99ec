// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// result is the last line of a run.
type result struct {
	Legs map[string]stats.Summary `json:"legs"`
	// Interrupted says that the run was ended before its time: what is missing
	// then is not lost but left in the topic.
	Interrupted bool `json:"interrupted,omitempty"`
	// Aborted says that something failed beside messages that were lost.
	Aborted bool `json:"aborted,omitempty"`
}

// End is how a run ended.
type End int

// A run comes to its end, is interrupted, or something fails.
const (
	Complete End = iota
	Interrupted
	Aborted
)

// JSON writes the legs as one object on one line.
func JSON(out io.Writer, legs []Leg, end End) error {
	interrupted := end == Interrupted
	r := result{Legs: make(map[string]stats.Summary, len(legs)), Interrupted: interrupted, Aborted: end == Aborted}
	for _, l := range legs {
		s := l.Summary
		if interrupted {
			s.Lost, s.Left = 0, s.Lost
		}
		r.Legs[l.Name] = s
	}
	return json.NewEncoder(out).Encode(r)
}
