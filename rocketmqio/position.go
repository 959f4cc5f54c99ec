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
)

// Start says where reading begins, in each queue that is there when the
// pipeline starts. Queues that are added to a topic later are read from their
// first message on, whatever the start.
type Start struct {
	Mode     startMode        `json:"mode"`
	At       int64            `json:"at,omitempty"` // milliseconds since 1970
	Offsets  map[string]int64 `json:"offsets,omitempty"`
	Fallback *Start           `json:"fallback,omitempty"`
}

// Earliest begins at the first message that the queue still holds.
func Earliest() Start { return Start{Mode: startEarliest} }

// Latest begins behind the last message that is there when the pipeline starts.
func Latest() Start { return Start{Mode: startLatest} }

// Committed begins where the consumer group has committed, and at fallback in a
// queue for which it has not. A failure to ask is never taken for that.
func Committed(fallback Start) Start { return Start{Mode: startCommitted, Fallback: &fallback} }

// Timestamp begins at the first message stored at t or later, to the
// millisecond; at the end of a queue that has none.
func Timestamp(t time.Time) Start { return Start{Mode: startTimestamp, At: t.UnixMilli()} }

// Specific begins at an offset for each queue named, and at fallback in the
// others.
func Specific(offsets map[Queue]int64, fallback Start) Start {
	s := Start{Mode: startSpecific, Offsets: make(map[string]int64, len(offsets)), Fallback: &fallback}
	for q, offset := range offsets {
		s.Offsets[q.String()] = offset
	}
	return s
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
	switch s.Mode {
	case startEarliest, startLatest:
		return nil
	case startTimestamp:
		if s.At <= 0 {
			return fmt.Errorf("start timestamp %v lies before 1970", time.UnixMilli(s.At).UTC())
		}
		return nil
	case startCommitted, startSpecific:
		for q, offset := range s.Offsets {
			if offset < 0 {
				return fmt.Errorf("start offset %d of queue %s is negative", offset, q)
			}
		}
		if s.Mode == startSpecific && len(s.Offsets) == 0 {
			return errors.New("specific start without any offset")
		}
		if s.Fallback == nil || s.Fallback.Mode == s.Mode {
			return fmt.Errorf("start %s needs another start to fall back to", s.Mode)
		}
		return s.Fallback.check()
	}
	return fmt.Errorf("start %q: want Earliest, Latest, Committed, Timestamp or Specific", s.Mode)
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
	e := End{Mode: endSpecific, Offsets: make(map[string]int64, len(offsets))}
	for q, offset := range offsets {
		e.Offsets[q.String()] = offset
	}
	return e
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
		for q, offset := range e.Offsets {
			if offset < 0 {
				return fmt.Errorf("end offset %d of queue %s is negative", offset, q)
			}
		}
	default:
		return fmt.Errorf("end %q: want AtLatest, AtTimestamp or AtSpecific", e.Mode)
	}
	return nil
}

// checkRange refuses a start that cannot come before the end.
func checkRange(s Start, e End) error {
	switch {
	case s.Mode == startLatest && e.Mode == endLatest:
		return errors.New("start latest and end latest: nothing lies between them")
	case s.Mode == startTimestamp && e.Mode == endTimestamp && s.At >= e.At:
		return fmt.Errorf("start timestamp %v is not before end timestamp %v", time.UnixMilli(s.At).UTC(), time.UnixMilli(e.At).UTC())
	case s.Mode == startSpecific && e.Mode == endSpecific:
		for q, to := range e.Offsets {
			if from, ok := s.Offsets[q]; ok && from > to {
				return fmt.Errorf("queue %s: start offset %d lies beyond end offset %d", q, from, to)
			}
		}
	}
	return nil
}
