// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestTheClockStandsUntilMoved(t *testing.T) {
	t.Parallel()
	c := embedded.NewClock(epoch())
	if !c.Now().Equal(epoch()) {
		t.Errorf("starts at %v", c.Now())
	}
	c.Advance(time.Minute)
	if want := epoch().Add(time.Minute); !c.Now().Equal(want) {
		t.Errorf("stands at %v, want %v", c.Now(), want)
	}
	c.Set(epoch())
	if !c.Now().Equal(epoch()) {
		t.Errorf("set back to %v", c.Now())
	}
}

// All that falls due on the way of one long move fires in its turn: a message
// comes back, and a session that nobody renewed is gone.
func TestOneMoveFiresAllThatFallsDue(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	id := b.Publish(bus, "t1", []byte("m"))
	c := consumer(t, b, "c1")
	c.want("m")
	clock.Set(epoch().Add(time.Hour))
	if n := len(b.Sessions()); n != 0 {
		t.Errorf("%d sessions an hour later", n)
	}
	if m, _ := b.Message(id); !m.InvisibleUntil.IsZero() {
		t.Error("the message is still out")
	}
	c.open()
	c.subscribe()
	if got := attempt(c.want("m")[0]); got != 2 {
		t.Errorf("attempt %d, want 2", got)
	}
}
