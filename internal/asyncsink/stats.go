// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import "time"

// Stats is what a sink does and has done.
type Stats struct {
	// Requests in flight, and the entries in them.
	Flights, InFlight int
	// Buffered is how many entries wait, repeated ones included; Bytes the size
	// of these and of those in flight.
	Buffered, Bytes int
	// Limit is how many entries the strategy allows in flight.
	Limit int

	// Accepted elements, of which so many have an outcome.
	Accepted, Acknowledged, Failed int64
	// Requests that were sent.
	Requests int64
	// Retried counts entries that went again, each time. Of the answers that led
	// to that, Congested asked to send less or did not come in time (TimedOut),
	// and after Uncertain ones the entry may have been carried out all the same.
	Retried, Congested, TimedOut, Uncertain int64
	// Throttled is how long the strategy held back a batch that was ready.
	Throttled time.Duration
}

// Stats returns a snapshot.
func (s *Sink[In, Entry, Ack]) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Flights, out.Buffered, out.Bytes, out.Limit = len(s.flights), s.buffered, s.bytes, s.cfg.Strategy.Limit()
	if !s.held.IsZero() {
		out.Throttled += time.Since(s.held)
	}
	return out
}

// Report is how one request went.
type Report struct {
	// Entries and Bytes are what it carried.
	Entries, Bytes int
	// Acknowledged entries; Failed ones; those that go again (Retried); and those
	// whose answer was to send less, or none in time (Congested), which are among
	// the former two.
	Acknowledged, Failed, Retried, Congested int
	// Took is the time until its answer.
	Took time.Duration
}
