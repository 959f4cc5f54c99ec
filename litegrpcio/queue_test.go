// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func queued(id string, until time.Time) coders.AckableMessage {
	return coders.AckableMessage{Handle: coders.ReceiptHandle{MessageID: id, Handle: "h-" + id, InvisibleUntil: until}}
}

func ids(ws []waiting) string {
	var out []string
	for _, w := range ws {
		out = append(out, w.Handle.MessageID)
	}
	return strings.Join(out, " ")
}

func TestMessagesLeaveInOrderAndExpiredOnesDoNotLeave(t *testing.T) {
	q := newQueue(10)
	later, past := epoch.Add(time.Minute), epoch.Add(-time.Second)
	q.push(epoch, queued("a", later), queued("b", past), queued("c", later), queued("d", later))
	got, expired := q.takeAll(epoch, 2)
	if ids(got) != "a c" || expired != 1 {
		t.Errorf("got %q and %d expired, want \"a c\" and 1", ids(got), expired)
	}
	q.putBack(got[1:])
	if got, _ := q.takeAll(epoch, 9); ids(got) != "c d" {
		t.Errorf("after putting back: got %q, want \"c d\"", ids(got))
	}
}

// A message whose handle is being replaced must not leave with the old one, nor
// may those behind it overtake it.
func TestAMessageBeingRenewedHoldsThoseBehindIt(t *testing.T) {
	q := newQueue(10)
	q.push(epoch, queued("a", epoch.Add(time.Minute)), queued("b", epoch.Add(2*time.Second)), queued("c", epoch.Add(time.Minute)))
	due, next := q.borrow(epoch.Add(5 * time.Second))
	if ids(due) != "b" || !next.Equal(epoch.Add(time.Minute)) {
		t.Fatalf("due %q, next %v", ids(due), next)
	}
	if got, _ := q.takeAll(epoch, 9); ids(got) != "a" {
		t.Errorf("while b is renewed: got %q, want \"a\"", ids(got))
	}
	if again, _ := q.borrow(epoch.Add(5 * time.Second)); len(again) != 0 {
		t.Errorf("borrowed twice: %q", ids(again))
	}
	h := due[0].Handle
	h.Handle, h.InvisibleUntil = "new", epoch.Add(time.Hour)
	q.giveBack("b", due[0].Handle, h, true)
	got, _ := q.takeAll(epoch, 9)
	if ids(got) != "b c" || got[0].Handle.Handle != "new" || got[0].renewed != 1 {
		t.Errorf("got %q with handle %q", ids(got), got[0].Handle.Handle)
	}
}

func TestAFullQueueHoldsReceiversUntilThereIsRoom(t *testing.T) {
	q := newQueue(2)
	later := epoch.Add(time.Minute)
	q.push(epoch, queued("a", later), queued("b", later))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if q.awaitRoom(ctx) {
		t.Error("a full queue has room")
	}
	free := make(chan bool)
	go func() { free <- q.awaitRoom(t.Context()) }()
	q.takeAll(epoch, 1)
	if !<-free {
		t.Error("no room after one left")
	}
}

func TestWaitingForAMessageEndsWithItOrInTime(t *testing.T) {
	q := newQueue(2)
	if q.awaitMessage(t.Context(), time.Millisecond) {
		t.Error("there is none")
	}
	came := make(chan bool)
	go func() { came <- q.awaitMessage(t.Context(), time.Minute) }()
	q.push(epoch, queued("a", epoch.Add(time.Minute)))
	if !<-came {
		t.Error("it came")
	}
}

func BenchmarkQueue(b *testing.B) {
	q := newQueue(128)
	batch := make([]coders.AckableMessage, 32)
	for i := range batch {
		batch[i] = queued(fmt.Sprint(i), epoch.Add(time.Hour))
	}
	b.ReportAllocs()
	for b.Loop() {
		q.push(epoch, batch...)
		if out, _ := q.takeAll(epoch, 32); len(out) != 32 {
			b.Fatal(len(out))
		}
	}
}
