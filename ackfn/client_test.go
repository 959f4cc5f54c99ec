// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestHandlesOfManyLiteTopicsAreAckedInSharedRequests(t *testing.T) {
	b := newBus(t)
	ids := b.publish(70, 70)
	c, _ := client(t)
	results, err := c.Ack(t.Context(), handlesOf(b.receive(70))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Outcome != Acked {
			t.Errorf("%v: %v, want acked", r.Handle, r.Outcome)
		}
	}
	b.wantAcked(ids...)
	if n := b.Requests(embedded.AckMessage); n != 3 {
		t.Errorf("%d requests for 70 handles, want 3", n)
	}
}
