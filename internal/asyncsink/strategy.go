// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

// Strategy says how many entries may be in flight. The sink calls it with its
// lock held: it must be quick, needs no lock of its own, and must not call the
// sink.
type Strategy interface {
	// Admit says how many of the next n entries may go now; 0 means none before
	// a request has ended. While nothing is in flight one may always go.
	Admit(n int) int
	// Started is told of a request of n entries. What it returns comes back with
	// the request's end.
	Started(n int) (mark uint64)
	// Ended is told how a request went.
	Ended(mark uint64, r Report)
	// Limit is how many entries may be in flight at present.
	Limit() int
}

// fixed admits a fixed number of entries.
type fixed struct{ limit, inFlight int }

// NewFixed is a strategy that keeps up to limit entries in flight, whatever
// happens.
func NewFixed(limit int) Strategy { return &fixed{limit: max(limit, 1)} }

func (f *fixed) Admit(n int) int { return admit(n, f.inFlight, f.limit) }

func (f *fixed) Started(n int) uint64 {
	f.inFlight += n
	return 0
}

func (f *fixed) Ended(_ uint64, r Report) { f.inFlight -= r.Entries }

func (f *fixed) Limit() int { return f.limit }

// admit lets a batch go if it fits as a whole. Batches cut to what little room
// there is would stay small for good, for what comes back is what went.
func admit(n, inFlight, limit int) int {
	switch {
	case inFlight == 0:
		return min(n, limit)
	case inFlight+n <= limit:
		return n
	}
	return 0
}
