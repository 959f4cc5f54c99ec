// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// emitWriteResult is a type of its own, so that results which become known later
// get the windows and times of their elements.
type emitWriteResult func(WriteResult)

func init() {
	placed.Register[WriteResult, emitWriteResult](func(r *WriteResult) *placed.Place {
		p := r.place
		r.place = nil
		return p
	})
	beam.RegisterDoFn(&writeFn{})
	register.Function6x1((&writeFn{}).ProcessElement)
	beam.RegisterDoFn(&writeReadFn{})
	register.Function6x1((&writeReadFn{}).ProcessElement)
}

// bundleWriter is what the DoFns share: it hands a bundle's messages to the
// process's session and emits what became of them. Its Config travels in the graph.
//
// It holds the session during calls only, for a bundle that fails elsewhere is
// never finished. One that paused for longer than the session waits goes on with
// another.
type bundleWriter struct {
	Config writeConfig

	key     string // of the session
	held    *pool.Hold[string, *writeSession]
	session *writeSession
	writer  *messageWriter
	tally   bundleTally
	each    func(*messageResult) // if not nil, takes what was stored in place of an emitter
}

// Setup prepares what all bundles of this instance use.
func (b *bundleWriter) Setup() (err error) {
	b.key, err = b.Config.sessionKey()
	return err
}

// sessionKey is what those have in common who share a session.
func (c *writeConfig) sessionKey() (string, error) {
	key, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("rocketmqio.Write: configuration: %w", err)
	}
	return string(key), nil
}

// StartBundle forgets what a failed bundle left behind.
func (b *bundleWriter) StartBundle(context.Context, emitWriteResult) {
	b.abandon()
	b.tally = bundleTally{}
}

// FinishBundle returns when each message has its result.
func (b *bundleWriter) FinishBundle(ctx context.Context, emit emitWriteResult) (err error) {
	if b.writer == nil {
		return nil
	}
	over := false
	defer func() { b.leave(over && err == nil) }()
	if _, err := b.hold(ctx); err != nil {
		return err
	}
	err = b.finish(ctx, emit)
	over = true
	return err
}

// add takes a message, waiting while too many are pending.
func (b *bundleWriter) add(ctx context.Context, el *written, emit emitWriteResult) (err error) {
	over := false
	defer func() { b.leave(over && err == nil) }()
	s, err := b.hold(ctx)
	if err != nil {
		return err
	}
	err = b.addTo(ctx, s, el, emit)
	over = true
	return err
}

func (b *bundleWriter) addTo(ctx context.Context, s *writeSession, el *written, emit emitWriteResult) error {
	if s != b.session {
		if err := b.finish(ctx, emit); err != nil {
			return err
		}
		b.session, b.writer = s, s.sink.NewWriter(ctx)
	}
	if err := b.writer.Write(ctx, el); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return b.finish(ctx, emit) // an earlier one failed
	}
	return b.emit(ctx, emit)
}

// hold takes the session until leave. A call a message goes that way, so the one
// that was held last is looked up no more.
func (b *bundleWriter) hold(ctx context.Context) (s *writeSession, err error) {
	if b.held != nil {
		if s, ok := b.held.Again(); ok {
			return s, nil
		}
	}
	s, b.held, err = writeSessions.Acquire(ctx, b.key, b.open)
	return s, err
}

func (b *bundleWriter) open(context.Context) (*writeSession, error) {
	return openWriteSession(b.Config)
}

// leave gives the session back. Unless all went well it gives up what is pending:
// the call failed, or panicked, as an emitter does when a later transform fails.
func (b *bundleWriter) leave(well bool) {
	if b.held != nil {
		b.held.Release()
	}
	if !well {
		b.abandon()
	}
}

// finish waits for what is pending. Its error names the first message that
// failed, if that is to fail the bundle.
func (b *bundleWriter) finish(ctx context.Context, emit emitWriteResult) error {
	if b.writer == nil {
		return nil
	}
	flushed := b.writer.Flush(ctx)
	b.session.stats.report(ctx, b.session.sink.Stats)
	if err := b.emit(ctx, emit); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case b.Config.Guarantee == None:
		return nil
	}
	if err := b.tally.err(); err != nil {
		return err
	}
	return flushed
}

// emit emits the results that are known by now.
func (b *bundleWriter) emit(ctx context.Context, emit emitWriteResult) error {
	known := b.writer.Take()
	if len(known) == 0 {
		return nil
	}
	var sent, failed, unsafe int64
	for i := range known {
		o := &known[i]
		b.tally.add(o)
		if o.Err != nil {
			failed++
			if b.Config.Guarantee != None {
				continue // the bundle fails
			}
		} else {
			sent++
			if o.Ack.status != StatusSendOK {
				unsafe++
			}
		}
		if b.each != nil {
			b.each(o)
		} else {
			emit(resultOf(o))
		}
	}
	for _, c := range [...]struct {
		counter beam.Counter
		n       int64
	}{{sentCounter, sent}, {sendFailedCounter, failed}, {unsafeCounter, unsafe}} {
		if c.n > 0 {
			c.counter.Inc(ctx, c.n)
		}
	}
	return nil
}

func resultOf(o *messageResult) WriteResult {
	m := &o.In.message
	r := WriteResult{Topic: m.Topic, UniqueKey: m.UniqueKey, Keys: m.Keys, Attempts: int32(o.Attempts), Repeated: o.Uncertain, Source: m.Source, place: &o.In.place}
	if o.Err != nil {
		r.Error, r.Message = o.Err.Error(), m
		return r
	}
	r.Broker, r.QueueID, r.QueueOffset = o.Ack.queue.Broker, int32(o.Ack.queue.ID), o.Ack.offset
	r.MessageID, r.Status = o.Ack.id, o.Ack.status
	return r
}

func (b *bundleWriter) abandon() {
	if b.writer != nil {
		b.writer.Abandon(nil)
	}
	b.writer, b.session = nil, nil
}

// writeFn writes messages that were made to be written.
type writeFn struct{ bundleWriter }

// ProcessElement hands a message over.
func (fn *writeFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, m OutgoingMessage, emit emitWriteResult) error {
	return fn.add(ctx, &written{message: m, place: placed.Place{Pane: pane, Window: w, Time: t}}, emit)
}

// writeReadFn writes messages that were read elsewhere.
type writeReadFn struct{ bundleWriter }

// ProcessElement hands a message over.
func (fn *writeReadFn) ProcessElement(ctx context.Context, pane beam.PaneInfo, w beam.Window, t beam.EventTime, m coders.Message, emit emitWriteResult) error {
	return fn.add(ctx, &written{message: Outgoing(m), place: placed.Place{Pane: pane, Window: w, Time: t}}, emit)
}
