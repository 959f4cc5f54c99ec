// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[assignment](), encodeAssignment, decodeAssignment)
}

// assignment is one queue and the range of it to read, from discovery to the
// reading DoFn.
type assignment struct {
	Queue
	// Start is the first offset; End is the offset before which reading ends,
	// endless for never, unread for not at all.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

const (
	endless = math.MaxInt64
	unread  = -1 // end of a queue that is not to be read
)

// isRead says that the queue has its reader. One in which there is nothing to
// read has it, too: its position is committed, or the next pipeline of the group
// would not know where this one has been.
func (a assignment) isRead() bool { return a.Start <= a.End }

func encodeAssignment(a assignment) ([]byte, error) { return json.Marshal(a) }

func decodeAssignment(data []byte) (assignment, error) {
	var a assignment
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("rocketmqio: assignment: %w", err)
	}
	return a, nil
}
