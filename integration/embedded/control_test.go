// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func routeOf(c *client, d time.Duration) (*v2.QueryRouteResponse, error) {
	return c.QueryRoute(c.ctx(d), &v2.QueryRouteRequest{Topic: res(bus)})
}

func TestAControlForOneUseIsGoneAfterItReacted(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	var seen atomic.Int32
	b.Control(embedded.QueryRoute, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if r.ClientID != "c1" || r.Topic() != bus || r.Route() == nil || r.Ack() != nil {
			t.Errorf("request %+v", r)
		}
		if seen.Add(1) == 1 {
			return embedded.Pass()
		}
		return embedded.Answer(&v2.QueryRouteResponse{Status: &v2.Status{Code: v2.Code_FORBIDDEN}})
	})
	for i, want := range []v2.Code{v2.Code_OK, v2.Code_FORBIDDEN, v2.Code_OK} {
		r, err := routeOf(c, patience)
		if err != nil {
			t.Fatal(err)
		}
		if r.GetStatus().GetCode() != want {
			t.Errorf("request %d: got %s, want %s", i, r.GetStatus().GetCode(), want)
		}
	}
	if n := seen.Load(); n != 2 {
		t.Errorf("the control saw %d requests, want 2", n)
	}
	if n := b.Requests(embedded.QueryRoute); n != 3 {
		t.Errorf("%d requests counted, want 3", n)
	}
}

func TestAKeptControlStaysUntilRemovedAndOthersRunInOrder(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	var order []string
	b.ControlAlways(embedded.AnyMethod, func(context.Context, *embedded.Request) embedded.Reaction {
		order = append(order, "first")
		return embedded.Pass()
	})
	remove := b.ControlAlways(embedded.QueryRoute, func(context.Context, *embedded.Request) embedded.Reaction {
		order = append(order, "second")
		return embedded.Fail(status.Error(codes.ResourceExhausted, "enough"))
	})
	for range 2 {
		if _, err := routeOf(c, patience); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("got %v, want ResourceExhausted", err)
		}
	}
	remove()
	if _, err := routeOf(c, patience); err != nil {
		t.Errorf("after removal: %v", err)
	}
	if len(order) != 5 || order[0] != "first" || order[1] != "second" || order[4] != "first" {
		t.Errorf("controls ran as %v", order)
	}
}

func TestAControlForOneUseReactsOnceToRequestsAtTheSameTime(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	b.Control(embedded.QueryRoute, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Fail(status.Error(codes.Aborted, "you"))
	})
	failed := make(chan bool)
	for range 8 {
		go func() {
			_, err := routeOf(c, patience)
			failed <- err != nil
		}()
	}
	n := 0
	for range 8 {
		if <-failed {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d requests failed, want 1", n)
	}
}

func TestDropNeverAnswers(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	b.Publish(bus, "t1", []byte("m"))
	for m, call := range map[embedded.Method]func(context.Context) error{
		embedded.QueryRoute: func(ctx context.Context) error {
			_, err := c.QueryRoute(ctx, &v2.QueryRouteRequest{Topic: res(bus)})
			return err
		},
		embedded.ReceiveMessage: func(ctx context.Context) error {
			stream, err := c.ReceiveMessage(ctx, c.receiveRequest())
			if err != nil {
				return err
			}
			_, err = stream.Recv()
			return err
		},
	} {
		seen := make(chan struct{})
		b.Control(m, func(context.Context, *embedded.Request) embedded.Reaction {
			defer close(seen)
			return embedded.Drop()
		})
		ctx, cancel := context.WithCancel(c.ctx(patience))
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		<-seen
		select {
		case err := <-done:
			t.Fatalf("%s was answered: %v", m, err)
		default:
		}
		cancel() // the client gives up
		if err := <-done; status.Code(err) != codes.Canceled {
			t.Errorf("%s: got %v, want Canceled", m, err)
		}
	}
	c.want("m")
}

// (L46) The answer of a receive is lost: the message is out all the same.
func TestLoseReplyKeepsTheEffect(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	id := b.Publish(bus, "t1", []byte("m"))
	b.Control(embedded.ReceiveMessage, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.LoseReply() })
	ctx, cancel := context.WithCancel(c.ctx(patience))
	stream, err := c.ReceiveMessage(ctx, c.receiveRequest())
	if err != nil {
		t.Fatal(err)
	}
	wait(t, b, "the delivery", func(s embedded.Snapshot) bool { m, _ := s.Message(id); return len(m.Deliveries) == 1 })
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
	b.ExpireLeases()
	m := c.want("m")[0]
	b.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.LoseReply() })
	ctx, cancel = context.WithCancel(c.ctx(patience))
	lost := make(chan error, 1)
	go func() {
		_, err := c.AckMessage(ctx, &v2.AckMessageRequest{Group: res(wild), Topic: res(bus), Entries: []*v2.AckMessageEntry{entry(m)}})
		lost <- err
	}()
	wait(t, b, "the ack", func(s embedded.Snapshot) bool { m, _ := s.Message(id); return m.Acked() })
	cancel()
	if err := <-lost; status.Code(err) != codes.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
}

func TestDelayPassesOnTheBrokersClock(t *testing.T) {
	t.Parallel()
	clock := embedded.NewClock(epoch())
	b := start(t, embedded.WithClock(clock))
	c := dial(t, b, "c1")
	asked := make(chan struct{})
	b.Control(embedded.QueryRoute, func(context.Context, *embedded.Request) embedded.Reaction {
		defer close(asked)
		return embedded.Delay(time.Hour)
	})
	done := make(chan error, 1)
	go func() {
		_, err := routeOf(c, patience)
		done <- err
	}()
	<-asked
	select {
	case err := <-done:
		t.Fatalf("answered before the time was up: %v", err)
	default:
	}
	// The timer is set a moment after the control returned: move until it fires.
	for {
		clock.Advance(time.Hour)
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("after the delay: %v", err)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

func TestFailCanCutTheConnection(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	b.Control(embedded.QueryRoute, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Fail(embedded.ErrConnectionCut)
	})
	if _, err := routeOf(c, patience); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	if _, err := c.stream.Recv(); err == nil {
		t.Error("the telemetry stream of the same connection survived")
	}
}

func TestAControlMayChangeTheRequest(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	b.Control(embedded.SendMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		r.Send().Messages[0].Body = []byte("changed")
		return embedded.Pass()
	})
	wantCode(t, "send", c.send(message(bus, "t1", "id-1", "as sent")).GetStatus(), v2.Code_OK)
	if m, _ := b.Message("id-1"); string(m.Body) != "changed" {
		t.Errorf("stored %q", m.Body)
	}
}

func TestAnAnswerOfTheWrongTypeIsAnError(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	b.Control(embedded.QueryRoute, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.HeartbeatResponse{})
	})
	if _, err := routeOf(c, patience); status.Code(err) != codes.Internal {
		t.Errorf("got %v, want Internal", err)
	}
}

func TestControlsSeeTelemetry(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.Control(embedded.Telemetry, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if r.Group() != wild || r.Telemetry().GetSettings() == nil {
			t.Errorf("request %+v", r)
		}
		return embedded.Fail(status.Error(codes.Unavailable, "not today"))
	})
	c := dial(t, b, "c1")
	if _, err := c.telemetry(c.settings()); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	c.open()
	b.Control(embedded.Telemetry, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.TelemetryCommand{Status: &v2.Status{Code: v2.Code_FORBIDDEN}})
	})
	cmd, err := c.telemetry(c.settings())
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "answer", cmd.GetStatus(), v2.Code_FORBIDDEN)
}

// A verb that stops the proxy must not wait for the request whose control calls it.
func TestVerbsMayBeCalledFromAControl(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	id := b.Publish(bus, "t1", []byte("m"))
	msgs := c.want("m")
	b.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		b.Restart()
		b.ForgetSubscriptions(wild)
		b.ExpireLeases()
		_ = b.Messages(bus)
		return embedded.Pass()
	})
	_, err := c.AckMessage(c.ctx(patience), &v2.AckMessageRequest{Group: res(wild), Topic: res(bus), Entries: []*v2.AckMessageEntry{entry(msgs[0])}})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	if m, _ := b.Message(id); m.Acked() {
		t.Error("the proxy that died carried the request out")
	}
}

func TestABlockedControlEndsWithTheBroker(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := dial(t, b, "c1")
	in := make(chan struct{})
	b.Control(embedded.QueryRoute, func(ctx context.Context, _ *embedded.Request) embedded.Reaction {
		close(in)
		<-ctx.Done()
		return embedded.Pass()
	})
	done := make(chan error, 1)
	go func() {
		_, err := routeOf(c, patience)
		done <- err
	}()
	<-in
	b.Close()
	if err := <-done; err == nil {
		t.Error("answered by a closed broker")
	}
}
