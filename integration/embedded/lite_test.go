// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"testing"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

func TestALiteMessageIsSentReceivedAndAcked(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	r := c.send(message(bus, "t1", "id-1", "one"))
	wantCode(t, "send", r.GetStatus(), v2.Code_OK)
	msgs := c.want("one")
	if got := msgs[0].GetSystemProperties().GetLiteTopic(); got != "t1" {
		t.Errorf("lite topic %q, want t1", got)
	}
	c.ack(msgs...)
	m, ok := b.Message("id-1")
	if !ok || !m.Acked() || len(m.Deliveries) != 1 {
		t.Errorf("message on the broker's side: %+v, want one delivery and acked", m)
	}
	if n := b.Pending(bus); n != 0 {
		t.Errorf("pending %d, want 0", n)
	}
}
