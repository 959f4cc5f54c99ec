// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// dispatcher is the acknowledging of one bundle: it fills batches, sends them
// in the background as many at a time as may be in flight, and emits their
// results on the bundle's goroutine. Its methods are for that goroutine only.
type dispatcher struct {
	client  *Client
	ctx     context.Context // of the requests; ends when the bundle is given up
	giveUp  context.CancelFunc
	open    map[route]*batch
	last    *batch // the one that the former handle went into
	answers chan *batch
	flying  int
	spare   []*batch
}

func newDispatcher(c *Client) *dispatcher {
	return &dispatcher{client: c, open: make(map[route]*batch), answers: make(chan *batch, c.settings.MaxInFlight)}
}

// begin starts a bundle. What a former one left behind, because it failed
// somewhere else, is waited for.
func (d *dispatcher) begin(ctx context.Context) {
	d.abandon()
	d.ctx, d.giveUp = context.WithCancel(ctx)
}

// add takes one handle. It sends a batch that is full, and waits for an answer
// first if too many are under way.
func (d *dispatcher) add(ctx context.Context, h *coders.ReceiptHandle, p placed.Place, emit emitResult) error {
	b := d.last
	if r := routeOf(h); b == nil || b.route != r {
		if err := checkHandle(h); err != nil {
			return err
		}
		if b = d.open[r]; b == nil {
			b = d.fresh(r)
			d.open[r] = b
		}
		d.last = b
	} else if err := checkHandle(h); err != nil {
		return err
	}
	b.handles = append(b.handles, *h)
	b.places = append(b.places, p)
	if len(b.handles) < d.client.settings.BatchSize {
		return nil
	}
	return d.send(ctx, b, emit)
}

// send sends a batch in the background.
func (d *dispatcher) send(ctx context.Context, b *batch, emit emitResult) error {
	delete(d.open, b.route)
	d.last = nil
	for d.flying == d.client.settings.MaxInFlight {
		if err := d.take(ctx, <-d.answers, emit); err != nil {
			return err
		}
	}
	d.flying++
	requests := d.ctx
	go func() { // ended by take or abandon, which wait for its answer
		d.client.sendAcks(requests, b)
		d.answers <- b
	}()
	return nil
}

// flush sends what is left and returns when every handle has its outcome.
func (d *dispatcher) flush(ctx context.Context, emit emitResult) error {
	for _, b := range d.open {
		if err := d.send(ctx, b, emit); err != nil {
			return err
		}
	}
	for d.flying > 0 {
		if err := d.take(ctx, <-d.answers, emit); err != nil {
			return err
		}
	}
	return nil
}

// take emits the results of a batch that was answered.
func (d *dispatcher) take(ctx context.Context, b *batch, emit emitResult) error {
	d.flying--
	b.record(ctx)
	var failures failure
	for i := range b.verdicts {
		failures.add(b.verdicts[i].err)
	}
	failures.record(ctx)
	if err := failures.err(); err != nil {
		return err
	}
	for i := range b.handles {
		r := b.result(i)
		r.place = &b.places[i]
		emit(r)
	}
	d.spare = append(d.spare, b)
	return nil
}

// fresh is an empty batch, used before if there is one.
func (d *dispatcher) fresh(r route) *batch {
	n := len(d.spare)
	if n == 0 {
		size := d.client.settings.BatchSize
		return &batch{route: r, handles: make([]coders.ReceiptHandle, 0, size), places: make([]placed.Place, 0, size)}
	}
	b := d.spare[n-1]
	d.spare = d.spare[:n-1]
	b.route, b.handles, b.places = r, b.handles[:0], b.places[:0]
	return b
}

// abandon ends the requests of a bundle that has failed and waits until they
// have ended, which they do at once. After a bundle that went well it only
// frees the context.
func (d *dispatcher) abandon() {
	if d.giveUp != nil {
		d.giveUp()
	}
	for ; d.flying > 0; d.flying-- {
		<-d.answers
	}
	clear(d.open)
	d.last, d.giveUp = nil, nil
}
