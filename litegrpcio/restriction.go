// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[restriction](), encodeRestriction, decodeRestriction)
}

// restriction is one shard of a source. There are no offsets in it, for the
// broker shares the messages out; it says only when to stop.
type restriction struct {
	// Shard tells restrictions of one source apart.
	Shard int `json:"shard"`
	// Left is how many records may still be emitted; unlimited for no limit.
	Left int64 `json:"left"`
	// Deadline and IdleSince are in milliseconds since 1970, 0 for none.
	Deadline  int64 `json:"deadline,omitempty"`
	IdleSince int64 `json:"idle_since,omitempty"`
	// IdleTimeout ends the shard when no record came for so long; 0 for never.
	IdleTimeout time.Duration `json:"idle_timeout,omitempty"`
	// Done says that there is nothing left to do.
	Done bool `json:"done,omitempty"`
}

const unlimited = math.MaxInt64

// newRestrictions cuts the reading into shards that begin now.
func newRestrictions(c *readConfig, now time.Time) []restriction {
	out := make([]restriction, 0, c.Shards)
	for i := range c.Shards {
		r := restriction{Shard: i, Left: unlimited, IdleTimeout: c.IdleTimeout, IdleSince: now.UnixMilli()}
		if c.MaxRecords > 0 {
			r.Left = share(c.MaxRecords, i, c.Shards)
		}
		if c.MaxDuration > 0 {
			r.Deadline = now.Add(c.MaxDuration).UnixMilli()
		}
		out = append(out, r)
	}
	return out
}

// share is the i-th of n parts of a total, as equal as they can be.
func share(total int64, i, n int) int64 {
	part := total / int64(n)
	if int64(i) < total%int64(n) {
		part++
	}
	return part
}

// over says that the shard's time has come.
func (r restriction) over(now time.Time) bool {
	ms := now.UnixMilli()
	return r.Done || r.Left <= 0 || r.Deadline > 0 && ms >= r.Deadline ||
		r.IdleTimeout > 0 && ms-r.IdleSince >= r.IdleTimeout.Milliseconds()
}

// limited says that the shard ends by itself.
func (r restriction) limited() bool {
	return r.Done || r.Left != unlimited || r.Deadline > 0 || r.IdleTimeout > 0
}

func encodeRestriction(r restriction) ([]byte, error) { return json.Marshal(r) }

func decodeRestriction(data []byte) (restriction, error) {
	var r restriction
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("litegrpcio: restriction: %w", err)
	}
	return r, nil
}
