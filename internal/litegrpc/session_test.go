// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testTopic = "bus"
	testGroup = "workers"
	lease     = 10 * time.Second
)

func startBroker(t *testing.T, opts ...embedded.Option) *embedded.Broker {
	t.Helper()
	b := embedded.Start(t.Context(), append([]embedded.Option{
		embedded.WithLiteTopic(testTopic), embedded.WithWildcardGroup(testGroup, testTopic),
	}, opts...)...)
	t.Cleanup(b.Close)
	return b
}

func consumerConfig(t *testing.T, endpoints string) ConsumerConfig {
	t.Helper()
	parsed, err := ParseEndpoints(endpoints)
	if err != nil {
		t.Fatal(err)
	}
	return ConsumerConfig{
		Config: Config{Endpoints: parsed, RequestTimeout: time.Second, StartTimeout: 3 * time.Second},
		Topic:  testTopic, Group: testGroup, AwaitDuration: 5 * time.Second,
	}
}

func startConsumer(t *testing.T, cfg ConsumerConfig) *Consumer {
	t.Helper()
	c, err := NewConsumer(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// receive polls until n messages came.
func receive(t *testing.T, c *Consumer, n int) []coders.AckableMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out []coders.AckableMessage
	for len(out) < n {
		batch, err := c.Receive(ctx, 32, lease, 5*time.Second)
		if err != nil && ctx.Err() != nil {
			t.Fatalf("%d of %d messages, then: %v", len(out), n, err)
		}
		out = append(out, batch.Messages...)
	}
	return out
}

func TestAMessageIsSentReceivedAndAcked(t *testing.T) {
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	p, err := NewProducer(t.Context(), ProducerConfig{Config: c.cfg.Config, Topic: testTopic})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	sent, err := p.Send(t.Context(), Outgoing{LiteTopic: "s-1", Body: []byte("hi"), Keys: []string{"k1", "k2"}, Tag: "t", Properties: map[string]string{"p": "值"}})
	if err != nil {
		t.Fatal(err)
	}
	m := receive(t, c, 1)[0]
	want := coders.ReceiptHandle{Endpoints: b.Endpoints(), ConsumerGroup: testGroup, Topic: testTopic, LiteTopic: "s-1",
		MessageID: sent.MessageID, DeliveryAttempt: 1, Handle: m.Handle.Handle, InvisibleUntil: m.Handle.InvisibleUntil}
	if !m.Handle.Equal(want) || m.Handle.Handle == "" {
		t.Errorf("handle: got %+v, want %+v", m.Handle, want)
	}
	if string(m.Body) != "hi" || strings.Join(m.Keys, " ") != "k1 k2" || m.Tag != "t" || len(m.Properties) != 1 || m.Properties["p"] != "值" || m.StoreTime.IsZero() {
		t.Errorf("got %+v", m)
	}
	if errs := c.Ack(t.Context(), testTopic, []coders.ReceiptHandle{m.Handle}); errs[0] != nil {
		t.Fatal(errs[0])
	}
	if state, ok := b.Message(m.Handle.MessageID); !ok || b.Pending(testTopic) != 0 {
		t.Errorf("the broker still has it: %+v", state)
	}
}

// Y43, L23, X22f: each receive carries an invisible duration and asks for no
// renewal by the proxy. X22g: each poll asks a broker of the route.
func TestWhatAReceiveAsksFor(t *testing.T) {
	b := startBroker(t)
	b.Publish(testTopic, "s", []byte("x"))
	seen := make(chan *v2.ReceiveMessageRequest, 1)
	b.Control(embedded.ReceiveMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		seen <- r.Message.(*v2.ReceiveMessageRequest)
		return embedded.Pass()
	})
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	if _, err := c.Receive(t.Context(), 7, lease, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	r := <-seen
	if r.GetInvisibleDuration().AsDuration() != lease || r.GetAutoRenew() || r.GetBatchSize() != 7 || r.GetMessageQueue().GetBroker().GetName() == "" {
		t.Errorf("got %v", r)
	}
}

// X01: a group without the wildcard attribute is told at once, not by silence.
// X02, X19: wrong kinds of group and topic are permanent and name both.
func TestAGroupThatCannotReceiveIsRefusedWithItsName(t *testing.T) {
	for name, c := range map[string]struct {
		opts         []embedded.Option
		topic, group string
		want         []string
	}{
		"no wildcard attribute":  {[]embedded.Option{embedded.WithLiteGroup("plain", testTopic)}, testTopic, "plain", []string{`"plain"`, "lite.sub.wildcard=true"}},
		"bound to another topic": {[]embedded.Option{embedded.WithLiteTopic("other"), embedded.WithWildcardGroup("others", "other")}, testTopic, "others", []string{`"others"`, "lite.bind.topic"}},
		"a normal group":         {[]embedded.Option{embedded.WithNormalGroup("normal")}, testTopic, "normal", []string{`"normal"`, "lite.bind.topic"}},
		"no such topic":          {nil, "nowhere", testGroup, []string{`"nowhere"`, "message.type=LITE"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t, c.opts...)
			cfg := consumerConfig(t, b.Endpoints())
			cfg.Topic, cfg.Group = c.topic, c.group
			start := time.Now()
			consumer, err := NewConsumer(t.Context(), cfg)
			if err == nil {
				consumer.Close(context.Background())
				t.Fatal("it was accepted")
			}
			if ClassOf(err) != Permanent || time.Since(start) > 5*time.Second {
				t.Errorf("class %v after %v: %v", ClassOf(err), time.Since(start), err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %s: %v", part, err)
				}
			}
		})
	}
}

// L31, L32: a proxy that forgot the client is told everything again, and the
// messages go on.
func TestASessionSurvivesWhatAProxyForgets(t *testing.T) {
	for name, fault := range map[string]func(*embedded.Broker){
		"the proxy restarts":             func(b *embedded.Broker) { b.Restart() },
		"the proxy forgets all sessions": func(b *embedded.Broker) { b.ForgetSessions() },
		"all connections are cut":        func(b *embedded.Broker) { b.CutConnections() },
		"the proxy is away for a moment": func(b *embedded.Broker) { b.Stop(); b.Resume() },
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t)
			c := startConsumer(t, consumerConfig(t, b.Endpoints()))
			b.Publish(testTopic, "s-1", []byte("before"))
			first := receive(t, c, 1)
			fault(b)
			b.Publish(testTopic, "s-2", []byte("after"))
			if got := receive(t, c, 1); string(got[0].Body) != "after" {
				t.Errorf("got %q", got[0].Body)
			}
			if errs := ackPatiently(t, c, first[0].Handle); errs != nil {
				t.Errorf("acking what was received before: %v", errs)
			}
		})
	}
}

// L33: the telemetry stream lives on when the time of a request is over, many times.
func TestASessionOutlivesTheTimeoutOfRequests(t *testing.T) {
	b := startBroker(t)
	cfg := consumerConfig(t, b.Endpoints())
	cfg.RequestTimeout = 100 * time.Millisecond
	lost := &reconnections{}
	cfg.Events = lost
	c := startConsumer(t, cfg)
	id := b.Sessions()[0].ClientID
	if batch, err := c.Receive(t.Context(), 1, lease, MinAwaitDuration); err != nil || len(batch.Messages) != 0 {
		t.Errorf("a poll of %v: %v, %v", MinAwaitDuration, batch, err)
	}
	if all := b.Sessions(); lost.n.Load() != 0 || len(all) != 1 || all[0].ClientID != id || !all[0].Subscribed {
		t.Errorf("opened again %d times, sessions %+v", lost.n.Load(), all)
	}
}

type reconnections struct{ n atomic.Int64 }

func (r *reconnections) Reconnected() { r.n.Add(1) }

func ackPatiently(t *testing.T, a Acknowledger, h coders.ReceiptHandle) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		err := a.Ack(ctx, h.Topic, []coders.ReceiptHandle{h})[0]
		if err == nil || ctx.Err() != nil || ClassOf(err) != Transient && ClassOf(err) != SessionLost {
			return err
		}
	}
}

// Each of these must be clear within ten seconds, and say what to check.
func TestAProxyThatCannotBeUsedIsAClearErrorSoon(t *testing.T) {
	plain := startBroker(t)
	secured, ca := startTLSBroker(t)
	signed := startBroker(t, embedded.WithCredentials("AK", "SECRET-KEY"))
	wrong := auth.Source{StaticAccessKey: "AK", StaticSecretKey: "WRONG-SECRET"}
	for name, c := range map[string]struct {
		endpoints string
		change    func(*ConsumerConfig)
		want      []string
	}{
		"nobody listens":               {"127.0.0.1:1", nil, []string{"127.0.0.1:1", "check the endpoints"}},
		"TLS here, plain text there":   {plain.Endpoints(), func(c *ConsumerConfig) { c.TLS = auth.TLS{Enabled: true} }, []string{"switch TLS off"}}, // Y23, L43
		"plain text here, TLS there":   {secured.Endpoints(), nil, []string{"speaks TLS only", "switch TLS on"}},
		"an unknown authority":         {secured.Endpoints(), func(c *ConsumerConfig) { c.TLS = auth.TLS{Enabled: true} }, []string{"x509", "CA"}},                                                     // Y22
		"a certificate for other name": {secured.Endpoints(), func(c *ConsumerConfig) { c.TLS = auth.TLS{Enabled: true, CAFile: ca, ServerName: "elsewhere.example"} }, []string{"elsewhere.example"}}, // Y24
		"no credentials":               {signed.Endpoints(), nil, []string{"access key"}},
		"wrong credentials":            {signed.Endpoints(), func(c *ConsumerConfig) { c.Credentials = wrong.Provider("x") }, []string{"access key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := consumerConfig(t, c.endpoints)
			if c.change != nil {
				c.change(&cfg)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			consumer, err := NewConsumer(ctx, cfg)
			if err == nil {
				consumer.Close(context.Background())
				t.Fatal("it was accepted")
			}
			if ctx.Err() != nil {
				t.Errorf("it took more than ten seconds")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
			for _, secret := range []string{"SECRET-KEY", "WRONG-SECRET"} {
				if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
					t.Errorf("the error tells %s: %v", secret, err)
				}
			}
		})
	}
}

func TestTLSWithTheRightAuthorityAndCredentialsWork(t *testing.T) {
	b, ca := startTLSBroker(t, embedded.WithCredentials("AK", "SK"))
	cfg := consumerConfig(t, b.Endpoints())
	cfg.TLS = auth.TLS{Enabled: true, CAFile: ca}
	cfg.Credentials = auth.Source{StaticAccessKey: "AK", StaticSecretKey: "SK"}.Provider("x")
	c := startConsumer(t, cfg)
	b.Publish(testTopic, "s", []byte("x"))
	receive(t, c, 1)

	other := consumerConfig(t, b.Endpoints())
	other.TLS = auth.TLS{Enabled: true, SkipVerify: true}
	other.Credentials = cfg.Credentials
	startConsumer(t, other)
}

// L35: more than gRPC's own limit of 4 MiB in one answer.
func TestALargeMessageArrives(t *testing.T) {
	b := startBroker(t, embedded.WithMaxBodySize(8<<20))
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	body := bytes.Repeat([]byte("0123456789"), 6<<20/10)
	b.Publish(testTopic, "big", body)
	if got := receive(t, c, 1)[0].Body; !bytes.Equal(got, body) {
		t.Errorf("got %d bytes, want %d", len(got), len(body))
	}
}

func TestMessagesBeforeABrokenStreamAreKept(t *testing.T) {
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	for i := range 5 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte("x"))
	}
	b.CutReceiveAfter(2)
	batch, err := c.Receive(t.Context(), 32, lease, 5*time.Second)
	if err == nil || len(batch.Messages) != 2 {
		t.Errorf("got %d messages and error %v, want 2 and an error", len(batch.Messages), err)
	}
}

// X15: cancelling a long poll returns at once. X22e: closing tells the proxy, and
// L16: it does not wait for anything.
func TestCancellingAndClosingEndWithinASecond(t *testing.T) {
	b := startBroker(t)
	c, err := NewConsumer(t.Context(), consumerConfig(t, b.Endpoints()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := c.Receive(ctx, 32, lease, 20*time.Second); ended <- err }()
	if err := b.Wait(t.Context(), func(embedded.Snapshot) bool { return b.LongPolls(testGroup) == 1 }); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	c.Close(context.Background())
	c.Close(context.Background())
	if d := time.Since(start); d > time.Second {
		t.Errorf("it took %v", d)
	}
	if n := b.Requests(embedded.NotifyClientTermination); n != 1 {
		t.Errorf("the proxy was told %d times, want 1", n)
	}
}

// L10, X25d: acking and deferring name the lite topic; a handle that lost it is
// refused before anything is sent.
func TestAHandleWithoutLiteTopicIsRefused(t *testing.T) {
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	h := coders.ReceiptHandle{Topic: testTopic, ConsumerGroup: testGroup, MessageID: "m", Handle: "h"}
	err := c.Ack(t.Context(), testTopic, []coders.ReceiptHandle{h})[0]
	if ClassOf(err) != Permanent || !strings.Contains(err.Error(), "no lite topic") {
		t.Errorf("ack: got %v", err)
	}
	if _, err := c.ChangeInvisible(t.Context(), h, Deferral{For: lease}); ClassOf(err) != Permanent {
		t.Errorf("change: got %v", err)
	}
	if n := b.Requests(embedded.AckMessage) + b.Requests(embedded.ChangeInvisibleDuration); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestOneBadHandleAmongManySpoilsOnlyItself(t *testing.T) {
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	for i := range 3 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte("x"))
	}
	var handles []coders.ReceiptHandle
	for _, m := range receive(t, c, 3) {
		handles = append(handles, m.Handle)
	}
	bad := handles[0]
	bad.Handle = "no handle at all"
	errs := c.Ack(t.Context(), testTopic, append(handles, bad, handles[1]))
	for i, err := range errs {
		if want := i == 3; (err != nil) != want {
			t.Errorf("handle %d: %v", i, err)
		}
	}
	if ClassOf(errs[3]) != HandleMalformed {
		t.Errorf("class %v: %v", ClassOf(errs[3]), errs[3])
	}
}

// L03, L09, L30, X24: the handles of a chain of changes, and the ack with the
// last.
func TestTheHandleOfAChangeIsTheOneToGoOnWith(t *testing.T) {
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	a, err := NewAcker(t.Context(), AckerConfig{Config: c.cfg.Config, Topic: testTopic, Group: testGroup})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	b.Publish(testTopic, "s", []byte("x"))
	h := receive(t, c, 1)[0].Handle
	for i := range 3 {
		next, err := a.ChangeInvisible(t.Context(), h, Deferral{For: time.Duration(i+1) * 20 * time.Second, Suspend: true})
		if err != nil {
			t.Fatal(err)
		}
		if next.Handle == h.Handle || !next.InvisibleUntil.After(h.InvisibleUntil) {
			t.Errorf("change %d: handle %q until %v after %q until %v", i, next.Handle, next.InvisibleUntil, h.Handle, h.InvisibleUntil)
		}
		h = next
	}
	if err := a.Ack(t.Context(), testTopic, []coders.ReceiptHandle{h})[0]; err != nil {
		t.Error(err)
	}
}

// leaveOut makes the next ack's answer speak of another handle.
func leaveOut(b *embedded.Broker) {
	b.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.AckMessageResponse{Status: &v2.Status{Code: v2.Code_OK},
			Entries: []*v2.AckMessageResultEntry{{ReceiptHandle: "another", Status: &v2.Status{Code: v2.Code_OK}}}})
	})
}

// L39, X25a, X25e: with two proxies of which one cannot be subscribed at, the other
// serves, and the first is subscribed at when it can be.
func TestTwoProxiesOfWhichOneFailsToSubscribe(t *testing.T) {
	b := startBroker(t, embedded.WithProxies(2))
	remove := b.ControlAlways(embedded.SyncLiteSubscription, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if r.Proxy == 0 {
			return embedded.Answer(&v2.SyncLiteSubscriptionResponse{Status: &v2.Status{Code: v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED, Message: "quota"}})
		}
		return embedded.Pass()
	})
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	b.Publish(testTopic, "s", []byte("x"))
	receive(t, c, 1)
	if n := c.Subscriptions(); n != 1 {
		t.Errorf("%d subscriptions, want 1", n)
	}
	remove()
	for c.Subscriptions() < 2 { // each failed opening is tried again within a second or so
		if _, err := c.Receive(t.Context(), 1, lease, 5*time.Second); t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// L05: a proxy that is gone does not take the acks of what it gave out with it.
func TestAnotherProxyAcksWhatADeadOneGaveOut(t *testing.T) {
	b := startBroker(t, embedded.WithProxies(2))
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	for i := range 4 {
		b.Publish(testTopic, fmt.Sprintf("s-%d", i), []byte("x"))
	}
	got := receive(t, c, 4)
	b.StopProxy(0)
	for _, m := range got {
		if err := ackPatiently(t, c, m.Handle); err != nil {
			t.Error(err)
		}
	}
	if n := b.Pending(testTopic); n != 0 {
		t.Errorf("%d not acked", n)
	}
}

// C03: no two clients of a process have the same id, and a session that is
// opened again has a new one: see becomeSomebodyNew.
func TestEachSessionHasAClientIDOfItsOwn(t *testing.T) {
	b := startBroker(t)
	seen := make(chan string, 100)
	b.ControlAlways(embedded.Heartbeat, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		seen <- r.ClientID
		return embedded.Pass()
	})
	var consumers []*Consumer
	for range 8 {
		consumers = append(consumers, startConsumer(t, consumerConfig(t, b.Endpoints())))
	}
	b.CutConnections()
	ids := map[string]int{}
	for range 2 * len(consumers) {
		select {
		case id := <-seen:
			ids[id]++
		case <-time.After(20 * time.Second):
			t.Fatalf("%d heartbeats of new sessions, want %d", len(ids), 2*len(consumers))
		}
	}
	if len(ids) != 2*len(consumers) {
		t.Errorf("%d client ids for %d sessions", len(ids), 2*len(consumers))
	}
}

// A proxy that refuses for good does not spoil calls that a ready one takes.
func TestAReadyProxyIsUsedWhileAnotherRefuses(t *testing.T) {
	b := startBroker(t, embedded.WithProxies(2))
	cfg := consumerConfig(t, b.Endpoints())
	a, err := NewAcker(t.Context(), AckerConfig{Config: cfg.Config, Group: testGroup, Topic: testTopic})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	if err := b.Wait(t.Context(), func(s embedded.Snapshot) bool { return len(s.Sessions()) == 2 }); err != nil {
		t.Fatal(err)
	}
	b.ControlAlways(embedded.Heartbeat, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		if r.Proxy != 1 {
			return embedded.Pass()
		}
		return embedded.Answer(&v2.HeartbeatResponse{Status: &v2.Status{Code: v2.Code_ILLEGAL_CONSUMER_GROUP, Message: "no"}})
	})
	b.RestartProxy(1) // its link opens again, and is refused
	refused, err := a.client.inTurn()
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, first, change := refused[0].state()
		_, second, other := refused[1].state()
		if ClassOf(first) == Permanent || ClassOf(second) == Permanent {
			break
		}
		if err := waitAny(t.Context(), []<-chan struct{}{change, other}); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := a.client.pick(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	}
}
