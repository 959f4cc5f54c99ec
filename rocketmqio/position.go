// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"time"
)

// startMode is where in a queue reading begins.
type startMode string

const (
	startEarliest  startMode = "earliest"
	startLatest    startMode = "latest"
	startCommitted startMode = "committed"
	startTimestamp startMode = "timestamp"
	startSpecific  startMode = "specific"
	startOffset    startMode = "offset"
)

// Start says where reading begins, in each queue that is there when the
// pipeline starts. Queues that are added to a topic later are read from their
// first message on, whatever the start; those of a broker that was away when the
// pipeline started likewise, unless Committed or Specific know an offset.
type Start struct {
	// Steps are tried one after the other; the last one always has an answer.
	// It is a list because a type that holds itself cannot be part of a graph.
	Steps []startStep `json:"steps"`
}

type startStep struct {
	Mode    startMode        `json:"mode"`
	At      int64            `json:"at,omitempty"` // milliseconds since 1970
	Offsets map[string]int64 `json:"offsets,omitempty"`
	Offset  int64            `json:"offset,omitempty"`
}

func startAt(first startStep, fallback ...startStep) Start {
	return Start{Steps: append([]startStep{first}, fallback...)}
}

// Earliest begins at the first message that the queue still holds.
func Earliest() Start { return startAt(startStep{Mode: startEarliest}) }

// Latest begins behind the last message that is there when the pipeline starts.
func Latest() Start { return startAt(startStep{Mode: startLatest}) }

// Committed begins where the consumer group has committed, and at fallback in a
// queue for which it has not. A failure to ask is never taken for that.
func Committed(fallback Start) Start {
	return startAt(startStep{Mode: startCommitted}, fallback.Steps...)
}

// Timestamp begins at the first message stored at t or later, to the
// millisecond; at the end of a queue that has none.
func Timestamp(t time.Time) Start {
	return startAt(startStep{Mode: startTimestamp, At: t.UnixMilli()})
}

// Specific begins at an offset for each queue named, and at fallback in the
// others.
func Specific(offsets map[Queue]int64, fallback Start) Start {
	return startAt(startStep{Mode: startSpecific, Offsets: named(offsets)}, fallback.Steps...)
}

// Offset begins at the same offset in every queue. It is for topics whose queues
// are filled alike, and for those of one queue: a queue that does not hold it, or
// does not end with it, is treated as [ReadOutOfRange] says.
func Offset(offset int64) Start { return startAt(startStep{Mode: startOffset, Offset: offset}) }

func named(offsets map[Queue]int64) map[string]int64 {
	out := make(map[string]int64, len(offsets))
	for q, offset := range offsets {
		out[q.String()] = offset
	}
	return out
}

// only is the mode of a start that needs no fallback, else empty.
func (s Start) only() startStep {
	if len(s.Steps) == 1 {
		return s.Steps[0]
	}
	return startStep{}
}

// later is the start of a queue that is found while the pipeline runs.
func (s Start) later() Start {
	var out Start
	for _, step := range s.Steps {
		if step.mayPass() {
			out.Steps = append(out.Steps, step)
		}
	}
	out.Steps = append(out.Steps, startStep{Mode: startEarliest})
	return out
}

// Queue names one queue of a topic.
type Queue struct {
	// Topic is without namespace, Broker is the broker's name, ID counts from 0.
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	ID     int    `json:"id"`
}

// String is topic/broker/id.
func (q Queue) String() string { return fmt.Sprintf("%s/%s/%d", q.Topic, q.Broker, q.ID) }

func (s Start) check() error {
	if len(s.Steps) == 0 {
		return errors.New("no start: want Earliest, Latest, Committed, Timestamp, Offset or Specific")
	}
	for i, step := range s.Steps {
		if err := step.check(); err != nil {
			return err
		}
		if last := i == len(s.Steps)-1; step.mayPass() == last {
			return fmt.Errorf("start %s: want a fallback of Earliest, Latest, Timestamp or Offset at its end", step.Mode)
		}
	}
	return nil
}

// mayPass says that the step may have no answer for a queue.
func (s startStep) mayPass() bool { return s.Mode == startCommitted || s.Mode == startSpecific }

func (s startStep) check() error {
	switch s.Mode {
	case startEarliest, startLatest, startCommitted:
	case startTimestamp:
		if s.At <= 0 {
			return fmt.Errorf("start timestamp %v lies before 1970", time.UnixMilli(s.At).UTC())
		}
	case startSpecific:
		if len(s.Offsets) == 0 {
			return errors.New("specific start without any offset")
		}
		return checkOffsets("start", s.Offsets)
	case startOffset:
		if s.Offset < 0 {
			return fmt.Errorf("start offset %d is negative", s.Offset)
		}
	default:
		return fmt.Errorf("start %q: want Earliest, Latest, Committed, Timestamp, Offset or Specific", s.Mode)
	}
	return nil
}

func checkOffsets(what string, offsets map[string]int64) error {
	for q, offset := range offsets {
		if offset < 0 {
			return fmt.Errorf("%s offset %d of queue %s is negative", what, offset, q)
		}
	}
	return nil
}

// endMode is where in a queue reading ends.
type endMode string

const (
	endNever     endMode = ""
	endLatest    endMode = "latest"
	endTimestamp endMode = "timestamp"
	endSpecific  endMode = "specific"
)

// End says where reading ends; the message there is not read.
type End struct {
	Mode    endMode          `json:"mode,omitempty"`
	At      int64            `json:"at,omitempty"` // milliseconds since 1970
	Offsets map[string]int64 `json:"offsets,omitempty"`
}

// AtLatest ends behind the last message that is there when the pipeline starts.
func AtLatest() End { return End{Mode: endLatest} }

// AtTimestamp ends before the first message that was stored at t or later, of
// those that are there when the pipeline starts.
func AtTimestamp(t time.Time) End { return End{Mode: endTimestamp, At: t.UnixMilli()} }

// AtSpecific ends before an offset for each queue named, waiting for it if it is
// not there yet; other queues are not read.
func AtSpecific(offsets map[Queue]int64) End {
	return End{Mode: endSpecific, Offsets: named(offsets)}
}

func (e End) check() error {
	switch e.Mode {
	case endNever, endLatest:
	case endTimestamp:
		if e.At <= 0 {
			return fmt.Errorf("end timestamp %v lies before 1970", time.UnixMilli(e.At).UTC())
		}
	case endSpecific:
		if len(e.Offsets) == 0 {
			return errors.New("specific end without any offset")
		}
		return checkOffsets("end", e.Offsets)
	default:
		return fmt.Errorf("end %q: want AtLatest, AtTimestamp or AtSpecific", e.Mode)
	}
	return nil
}

// checkRange refuses a start that cannot come before the end.
func checkRange(start Start, e End) error {
	s := start.only()
	switch {
	case s.Mode == startLatest && e.Mode == endLatest:
		return errors.New("start latest and end latest: nothing lies between them")
	case s.Mode == startTimestamp && e.Mode == endTimestamp && s.At >= e.At:
		return fmt.Errorf("start timestamp %v is not before end timestamp %v", time.UnixMilli(s.At).UTC(), time.UnixMilli(e.At).UTC())
	case e.Mode == endSpecific && len(start.Steps) > 0:
		for q, to := range e.Offsets {
			if from, ok := start.Steps[0].Offsets[q]; ok && from > to {
				return fmt.Errorf("queue %s: start offset %d lies beyond end offset %d", q, from, to)
			}
		}
	}
	return nil
}
