// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "time"

// journalSize is how many entries a journal keeps, the latest ones.
const journalSize = 1 << 17

// journal is what has happened, in order.
type journal[T any] struct {
	entries []T
}

func (j *journal[T]) add(e T) {
	if len(j.entries) >= 2*journalSize {
		j.entries = append(j.entries[:0:0], j.entries[journalSize:]...)
	}
	j.entries = append(j.entries, e)
}

func (j *journal[T]) all() []T {
	return append([]T(nil), j.entries[max(0, len(j.entries)-journalSize):]...)
}

// Queue is a queue of a topic at a broker.
type Queue struct {
	Topic  string
	Broker string // its name; empty for the first broker
	ID     int    // counts from 0 at each broker
}

// Pull is a pull that was answered.
type Pull struct {
	At         time.Time // when it came
	Group      string
	Queue      Queue
	Slave      int64 // broker id of the slave that was asked; 0 for the master
	Offset     int64
	Max        int
	Expression string
	Connection string // the client's address
	Code       int    // of the answer
	Messages   int    // in the answer
}

// Commit is one time that a group's offset was written.
type Commit struct {
	At         time.Time
	Group      string
	Queue      Queue
	Offset     int64
	Connection string // the client's address; empty for SetCommitted
}
