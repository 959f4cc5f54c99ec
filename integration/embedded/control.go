// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Method names a request of the protocol.
type Method string

// The requests that a control can be set on. AnyMethod stands for all of them.
// Telemetry is each command that a client sends on its stream.
const (
	QueryRoute              Method = "QueryRoute"
	QueryAssignment         Method = "QueryAssignment"
	Telemetry               Method = "Telemetry"
	Heartbeat               Method = "Heartbeat"
	SyncLiteSubscription    Method = "SyncLiteSubscription"
	SendMessage             Method = "SendMessage"
	ReceiveMessage          Method = "ReceiveMessage"
	AckMessage              Method = "AckMessage"
	ChangeInvisibleDuration Method = "ChangeInvisibleDuration"
	NotifyClientTermination Method = "NotifyClientTermination"
	ForwardToDeadLetter     Method = "ForwardMessageToDeadLetterQueue"
	EndTransaction          Method = "EndTransaction"
	AnyMethod               Method = "*"
)

// The requests of the remoting protocol, with their codes.
const (
	RemotingSend           Method = "RemotingSend"           // 10 and 310
	RemotingPull           Method = "RemotingPull"           // 11 and 361
	RemotingQueryMessage   Method = "RemotingQueryMessage"   // 12
	RemotingCommitted      Method = "RemotingCommitted"      // 14
	RemotingCommit         Method = "RemotingCommit"         // 15
	RemotingCreateTopic    Method = "RemotingCreateTopic"    // 17
	RemotingBrokerConfig   Method = "RemotingBrokerConfig"   // 26
	RemotingSearchOffset   Method = "RemotingSearchOffset"   // 29
	RemotingMaxOffset      Method = "RemotingMaxOffset"      // 30
	RemotingMinOffset      Method = "RemotingMinOffset"      // 31
	RemotingViewMessage    Method = "RemotingViewMessage"    // 33
	RemotingHeartbeat      Method = "RemotingHeartbeat"      // 34
	RemotingUnregister     Method = "RemotingUnregister"     // 35
	RemotingEndTransaction Method = "RemotingEndTransaction" // 37
	RemotingConsumerList   Method = "RemotingConsumerList"   // 38
	RemotingCheckClient    Method = "RemotingCheckClient"    // 46
	RemotingRoute          Method = "RemotingRoute"          // 105
	RemotingCluster        Method = "RemotingCluster"        // 106
	RemotingCreateGroup    Method = "RemotingCreateGroup"    // 200
	RemotingSendBatch      Method = "RemotingSendBatch"      // 320
	RemotingTopicConfig    Method = "RemotingTopicConfig"    // 351
	RemotingOther          Method = "RemotingOther"          // any other code
)

// ErrConnectionCut, given to Fail, breaks the client's connection instead of
// answering.
var ErrConnectionCut = errors.New("embedded: connection cut")

// Reaction is what a control function decides about a request.
type Reaction struct {
	kind    reactionKind
	answers []proto.Message
	command *remoting.Command
	err     error
	delay   time.Duration
}

type reactionKind int

const (
	reactPass reactionKind = iota
	reactAnswer
	reactFail
	reactDrop
	reactLoseReply
	reactDelay
)

// Pass leaves the request to the next control, or to the broker.
func Pass() Reaction { return Reaction{} }

// Answer replies with these messages in the broker's place: exactly one for a
// unary request, any number for ReceiveMessage and Telemetry.
func Answer(msgs ...proto.Message) Reaction { return Reaction{kind: reactAnswer, answers: msgs} }

// AnswerRemoting replies to a request of the remoting protocol in the broker's
// place: with the code (0 is success), the remark for people, the fields of that
// answer and its body.
func AnswerRemoting(code int, remark string, fields map[string]string, body []byte) Reaction {
	return Reaction{kind: reactAnswer, command: &remoting.Command{Code: code, Remark: remark, Fields: fields, Body: body}}
}

// Fail ends the request with an error: a status of package status as it is, any
// other error as code Unknown, ErrConnectionCut by cutting the connection. A
// request of the remoting protocol is answered SYSTEM_ERROR with the error's text.
func Fail(err error) Reaction { return Reaction{kind: reactFail, err: err} }

// Drop never answers: the client runs into its own deadline.
func Drop() Reaction { return Reaction{kind: reactDrop} }

// LoseReply lets the broker carry the request out and loses the answer: the
// client runs into its deadline, the effect remains.
func LoseReply() Reaction { return Reaction{kind: reactLoseReply} }

// Delay lets d pass on the broker's clock and then passes the request on.
func Delay(d time.Duration) Reaction { return Reaction{kind: reactDelay, delay: d} }

// ControlFunc sees a request before the broker does. It may block; ctx ends when
// the client gives up or the broker closes. It may call the broker's verbs.
type ControlFunc func(ctx context.Context, r *Request) Reaction

// Control registers fn for one use: it sees each request of the method until it
// returns something other than Pass, then it is removed. While it runs, further
// requests of the method wait for it. Several controls run in the order in which
// they were registered. remove takes it away earlier.
func (b *Broker) Control(m Method, fn ControlFunc) (remove func()) {
	return b.controls.add(m, fn, true)
}

// ControlAlways registers fn until remove is called. It may run for several
// requests at the same time.
func (b *Broker) ControlAlways(m Method, fn ControlFunc) (remove func()) {
	return b.controls.add(m, fn, false)
}

type control struct {
	method Method
	fn     ControlFunc
	once   chan struct{} // holds one token if the control is for one use
}

type controls struct {
	mu   sync.Mutex
	list []*control
}

func (cs *controls) add(m Method, fn ControlFunc, once bool) func() {
	c := &control{method: m, fn: fn}
	if once {
		c.once = make(chan struct{}, 1)
		c.once <- struct{}{}
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.list = append(slices.Clone(cs.list), c)
	return func() { cs.remove(c) }
}

func (cs *controls) remove(c *control) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if i := slices.Index(cs.list, c); i >= 0 {
		cs.list = slices.Delete(slices.Clone(cs.list), i, i+1)
	}
}

func (cs *controls) has(c *control) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Contains(cs.list, c)
}

// any reports whether a control may want to see a request of the method.
func (cs *controls) any(m Method) bool {
	return slices.ContainsFunc(cs.snapshot(), func(c *control) bool { return c.method == m || c.method == AnyMethod })
}

func (cs *controls) snapshot() []*control {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.list
}

// run asks the controls one after another. Delays are over when it returns.
func (b *Broker) runControls(ctx context.Context, r *Request) (Reaction, error) {
	for _, c := range b.controls.snapshot() {
		if c.method != r.Method && c.method != AnyMethod {
			continue
		}
		re, err := b.runControl(ctx, c, r)
		if err != nil {
			return re, err
		}
		switch re.kind {
		case reactPass:
		case reactDelay:
			if err := b.sleep(ctx, re.delay); err != nil {
				return re, err
			}
		default:
			return re, nil
		}
	}
	return Pass(), nil
}

func (b *Broker) runControl(ctx context.Context, c *control, r *Request) (Reaction, error) {
	if c.once == nil {
		if !b.controls.has(c) {
			return Pass(), nil
		}
		return c.fn(ctx, r), nil
	}
	select {
	case <-c.once:
	case <-ctx.Done():
		return Pass(), ctx.Err()
	case <-b.core.closed:
		return Pass(), errClosed
	}
	defer func() { c.once <- struct{}{} }()
	if !b.controls.has(c) {
		return Pass(), nil
	}
	re := c.fn(ctx, r)
	if re.kind != reactPass {
		b.controls.remove(c)
	}
	return re, nil
}

// sleep lets d pass on the broker's clock.
func (b *Broker) sleep(ctx context.Context, d time.Duration) error {
	up := make(chan struct{})
	t := b.core.clock.afterFunc(d, func() { close(up) })
	defer t.Stop()
	select {
	case <-up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.core.closed:
		return errClosed
	}
}
