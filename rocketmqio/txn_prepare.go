// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
	"github.com/rocketmq-beam/rocketmq-beam/internal/stageoutput"
)

func init() {
	beam.RegisterDoFn(&prepareFn{})
	register.Function6x1((&prepareFn{}).ProcessElement)
	beam.RegisterDoFn(&keyFn{})
	register.Function1x2((&keyFn{}).ProcessElement)
	beam.RegisterDoFn(&keyReadFn{})
	register.Function1x2((&keyReadFn{}).ProcessElement)
	beam.RegisterDoFn(&registerFn{})
	register.Function2x1((&registerFn{}).ProcessElement)
	register.Function1x1(Outgoing)
}

// writeExactlyOnce is [Write] with EXACTLY_ONCE: half messages in the bundle that
// has the elements, and their commits behind a shuffle, so that nothing is visible
// of a bundle that failed.
func writeExactlyOnce(s beam.Scope, cfg writeConfig, col beam.PCollection) beam.PCollection {
	cfg.nameGroup(s.String())
	beam.ParDo0(s, &registerFn{Config: cfg}, beam.Impulse(s))
	first := prepareFn{bundleWriter: bundleWriter{Config: cfg}}
	messages := keyed(s, &cfg, col)
	var halves beam.PCollection
	if cfg.Transaction.Finalize > 0 {
		halves = beam.ParDo(s, &prepareFinalFn{prepareFn: first}, messages)
	} else {
		halves = beam.ParDo(s, &first, messages)
	}
	return stageoutput.Add(s, beam.ParDo(s, &commitHalfFn{Config: cfg}, beam.Reshuffle(s, halves)))
}

// keyed makes messages with unique keys of the input.
func keyed(s beam.Scope, cfg *writeConfig, col beam.PCollection) beam.PCollection {
	read := col.Type().Type() == reflect.TypeFor[coders.Message]()
	switch {
	case read && cfg.Topic == "":
		panic("rocketmqio.Write: messages that were read name no topic to be written to: give one with WriteTopic")
	case !read && col.Type().Type() != reflect.TypeFor[OutgoingMessage]():
		panic(fmt.Sprintf("rocketmqio.Write: the input is of type %v: want rocketmqio.OutgoingMessage or coders.Message", col.Type()))
	}
	key := cfg.Transaction.key
	if key == nil {
		if read {
			return beam.ParDo(s, Outgoing, col)
		}
		return col
	}
	if of := reflect.TypeOf(key).In(0); of != col.Type().Type() {
		panic(fmt.Sprintf("rocketmqio.Write: the function of WriteExactlyOnce takes %v, and the input is of type %v", of, col.Type()))
	}
	fn := keyFn{Function: beam.EncodedFunc{Fn: reflectx.MakeFunc(key)}}
	if read {
		return beam.ParDo(s, &keyReadFn{fn}, col)
	}
	return beam.ParDo(s, &fn, col)
}

// keyFn gives messages the keys that the user's function says.
type keyFn struct {
	Function beam.EncodedFunc

	call reflectx.Func1x1
}

// Setup finds the fastest way to call the function.
func (fn *keyFn) Setup() { fn.call = reflectx.ToFunc1x1(fn.Function.Fn) }

// ProcessElement gives one message its key.
func (fn *keyFn) ProcessElement(m OutgoingMessage) (OutgoingMessage, error) { return fn.set(m, m) }

func (fn *keyFn) set(of any, m OutgoingMessage) (OutgoingMessage, error) {
	m.UniqueKey, _ = fn.call.Call1x1(of).(string)
	if m.UniqueKey == "" {
		return m, fmt.Errorf("rocketmqio.Write: the function of WriteExactlyOnce gives no key for a message with keys %q to topic %q: each needs one", m.Keys, m.Topic)
	}
	return m, nil
}

// keyReadFn is keyFn for messages that were read elsewhere.
type keyReadFn struct{ keyFn }

// ProcessElement gives one message its key.
func (fn *keyReadFn) ProcessElement(m coders.Message) (OutgoingMessage, error) {
	return fn.set(m, Outgoing(m))
}

// registerFn makes the producer group known to the brokers when the pipeline
// starts, whether or not there is anything to write: they may have half messages
// of a former run to ask about.
type registerFn struct{ Config writeConfig }

// ProcessElement opens the session, which goes on in the background.
func (fn *registerFn) ProcessElement(ctx context.Context, _ []byte) error {
	return withTransactions(ctx, &fn.Config, func(s *txnSession) error {
		if fn.Config.Topic == "" {
			return nil // each message names its own
		}
		return s.checkBrokers(ctx, fn.Config.Topic)
	})
}

// prepareFn sends half messages, and emits their handles.
type prepareFn struct {
	bundleWriter

	registered bool // in this bundle
}

// StartBundle forgets what a failed bundle left behind.
func (fn *prepareFn) StartBundle(ctx context.Context, _ emitPrepared) {
	fn.bundleWriter.StartBundle(ctx, nil)
	fn.registered = false
}

// ProcessElement hands a message over.
func (fn *prepareFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, m OutgoingMessage, emit emitPrepared) error {
	if err := fn.register(ctx, m.Topic); err != nil {
		return err
	}
	fn.each = fn.emitHandle(emit)
	return fn.add(ctx, &written{message: m, place: placed.Place{Pane: pane, Window: w, Time: t}}, nil)
}

// FinishBundle returns when each message is prepared.
func (fn *prepareFn) FinishBundle(ctx context.Context, emit emitPrepared) error {
	fn.each = fn.emitHandle(emit)
	return fn.bundleWriter.FinishBundle(ctx, nil)
}

// register makes this process one that brokers ask about its half messages, before
// it sends any.
func (fn *prepareFn) register(ctx context.Context, topic string) error {
	if topic == "" {
		topic = fn.Config.Topic
	}
	if fn.registered && topic == fn.Config.Topic {
		return nil
	}
	fn.registered = true
	return withTransactionsOf(ctx, fn.key, &fn.Config, func(s *txnSession) error {
		s.keeper.watch(topic)
		return s.checkBrokers(ctx, topic)
	})
}

func (fn *prepareFn) emitHandle(emit emitPrepared) func(*messageResult) {
	return func(o *messageResult) {
		_, physical, _ := remoting.ParseOffsetID(o.Ack.id) // submitHalf has read it before
		emit(prepared{
			half: remoting.Half{Topic: o.In.message.Topic, Group: fn.Config.Group, Broker: o.Ack.queue.Broker, UniqueKey: o.Entry.wire.UniqueKey,
				QueueOffset: o.Ack.offset, PhysicalOffset: physical},
			keys: o.In.message.Keys, queue: int32(o.Ack.queue.ID), born: o.Entry.wire.Born,
			attempts: int32(o.Attempts), repeated: o.Uncertain, source: o.In.message.Source, place: &o.In.place,
		})
	}
}

// halfPropertiesExtra is the room that those properties of half messages need
// which client and broker add.
const halfPropertiesExtra = 160

// makeHalf turns a message that is ready to be sent into a half message.
func (s *writeSession) makeHalf(m *OutgoingMessage, o *outgoing, w *remoting.PropertyWriter, propertiesSize int) error {
	if m.ShardingKey != "" {
		return fmt.Errorf("sharding key %q with EXACTLY_ONCE: transactions are committed in no order", m.ShardingKey)
	}
	// The broker keeps topic, group and, a second time, the unique key beside them.
	extra := halfPropertiesExtra + len(m.Topic) + len(s.cfg.Group) + len(m.UniqueKey)
	if over := propertiesSize + extra - maxPropertiesSize; over > 0 {
		return fmt.Errorf("its properties, keys and tag have %d bytes, %d more than what RocketMQ leaves for them in a transaction", propertiesSize, over)
	}
	o.wire.Half = true
	o.lane = asyncsink.Lane{Key: "half/" + m.Topic, MaxBatch: 1}
	return w.Add(remoting.PropertyCheckImmunity, strconv.FormatInt(int64((s.cfg.Transaction.Timeout+time.Second-1)/time.Second), 10))
}

// checkHalf says what is wrong with the answer to a half message.
func checkHalf(r *remoting.SendResult) error {
	if len(r.OffsetIDs) != 1 {
		return errors.New("the broker gave a half message no id")
	}
	_, _, err := remoting.ParseOffsetID(r.OffsetIDs[0])
	return err
}
