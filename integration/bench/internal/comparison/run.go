// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package comparison

import "time"

// Run is one timed run of one side.
type Run struct {
	// Messages were handled in Elapsed, which begins with the first message that
	// was received and ends with the last acknowledgement.
	Messages int
	Elapsed  time.Duration
	// FirstAck is the part of Elapsed until the first acknowledgement.
	FirstAck time.Duration
	// CPU is the processor time that this process used in Elapsed; 0 where the
	// system does not tell.
	CPU time.Duration
	// Allocations and AllocatedBytes are those of this process over the whole
	// run, its start included.
	Allocations, AllocatedBytes uint64
	// Calls is into how many requests or bundles the messages came, LargestCall
	// the number of messages in the largest.
	Calls, LargestCall int
}

// PerSecond is the speed in messages.
func (r Run) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Messages) / r.Elapsed.Seconds()
}

// CPUMicros is the processor time for one message in microseconds, which is also
// that for a million messages in seconds.
func (r Run) CPUMicros() float64 {
	return float64(r.CPU.Nanoseconds()) / 1000 / float64(max(r.Messages, 1))
}

// AllocationsPerMessage is the number of allocations for one message.
func (r Run) AllocationsPerMessage() float64 {
	return float64(r.Allocations) / float64(max(r.Messages, 1))
}

// BytesPerMessage is what was allocated for one message.
func (r Run) BytesPerMessage() float64 {
	return float64(r.AllocatedBytes) / float64(max(r.Messages, 1))
}

// MessagesPerCall is the mean number of messages in a request or bundle.
func (r Run) MessagesPerCall() float64 { return float64(r.Messages) / float64(max(r.Calls, 1)) }

// Pair is one run of each side, one right after the other.
type Pair struct {
	First         Side
	Raw, Pipeline Run
}

// run is that of one side.
func (p Pair) run(of Side) Run {
	if of == Pipeline {
		return p.Pipeline
	}
	return p.Raw
}

// Ratio is how fast the pipeline was, as a part of the raw speed.
func (p Pair) Ratio() float64 {
	raw := p.Raw.PerSecond()
	if raw <= 0 {
		return 0
	}
	return p.Pipeline.PerSecond() / raw
}

// Alternate makes pairs of runs, in alternating order. It ends with the first
// error of run.
func Alternate(pairs int, run func(pair int, side Side) (Run, error)) ([]Pair, error) {
	var out []Pair
	for i := range pairs {
		order := Order(i)
		p := Pair{First: order[0]}
		for _, side := range order {
			r, err := run(i, side)
			if err != nil {
				return out, err
			}
			if side == Raw {
				p.Raw = r
			} else {
				p.Pipeline = r
			}
		}
		out = append(out, p)
	}
	return out, nil
}
