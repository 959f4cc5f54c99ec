// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"errors"
	"fmt"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// batch is what goes into one request: handles of one route, and later what
// became of each.
type batch struct {
	route    route
	handles  []coders.ReceiptHandle
	index    []int          // where each came from in a call of the client
	places   []placed.Place // where each came from in a bundle
	verdicts []verdict
	retry    retry
	took     time.Duration
}

// verdict is what became of one handle; err is set if it failed.
type verdict struct {
	outcome Outcome
	class   litegrpc.Class
	err     error
}

// sendAcks acknowledges the handles of b and returns when each has its outcome.
// It is the only place from which acknowledgements are sent.
func (c *Client) sendAcks(ctx context.Context, b *batch) {
	begin := time.Now()
	b.retry = *c.newRetry()
	b.verdicts = append(b.verdicts[:0], make([]verdict, len(b.handles))...)
	todo, at := b.handles, []int(nil) // at is nil while all are to be sent
	for {
		began := time.Now()
		errs := c.ackOnce(ctx, b.route, todo)
		b.retry.sent++
		c.hear(began, b.route, errs...)
		var worst litegrpc.Class
		todo, at, worst = b.judge(todo, at, errs)
		if len(todo) == 0 || !b.retry.again(ctx, worst) {
			break
		}
	}
	b.took = time.Since(begin)
	c.stats.add(&b.retry)
	for i := range b.verdicts {
		if err := b.verdicts[i].err; err != nil && b.verdicts[i].outcome == Failed {
			b.verdicts[i].err = b.giveUp(ctx, i, err)
		}
	}
}

// hear warns of a route on which nothing gets through.
func (c *Client) hear(began time.Time, r route, errs ...error) {
	for _, err := range errs {
		if v := judge(err, Acked); !v.retriable() {
			c.quiet.Broken()
			return
		}
	}
	if len(errs) > 0 {
		c.quiet.Failed(c.log, began, errs[0], "topic", r.topic, "group", r.group)
	}
}

func (c *Client) ackOnce(ctx context.Context, r route, handles []coders.ReceiptHandle) []error {
	session, release, err := c.settings.session(ctx, r)
	if err != nil {
		errs := make([]error, len(handles))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	defer release()
	return session.Ack(ctx, r.topic, handles)
}

// judge enters what became of each handle that was sent, and returns those to
// send again, their places in the batch, and the class of error to wait for.
func (b *batch) judge(sent []coders.ReceiptHandle, at []int, errs []error) (again []coders.ReceiptHandle, places []int, worst litegrpc.Class) {
	worst = litegrpc.Throttled
	for i, err := range errs {
		place := i
		if at != nil {
			place = at[i]
		}
		v := judge(err, Acked)
		if before := b.verdicts[place].err; before != nil && isEndOfContext(err) {
			v.err = fmt.Errorf("%w; before that: %w", err, before) // what was wrong, not only that time is up
		}
		b.verdicts[place] = v
		if !v.retriable() {
			continue
		}
		again, places = append(again, sent[i]), append(places, place)
		if v.class != litegrpc.Throttled {
			worst = v.class // a pause for what is broken is one for what is busy too
		}
	}
	return again, places, worst
}

func isEndOfContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// judge makes an outcome of an answer; wished is the one of success.
func judge(err error, wished Outcome) verdict {
	if err == nil {
		return verdict{outcome: wished}
	}
	v := verdict{class: litegrpc.ClassOf(err), err: err}
	switch e, _ := errors.AsType[*litegrpc.Error](err); {
	case v.class == litegrpc.HandleExpired:
		v.outcome = Expired
	case e != nil && e.Code == v2.Code_MESSAGE_NOT_FOUND:
		v.outcome = Expired // there is nothing left to acknowledge or to defer
	case v.class == litegrpc.HandleMalformed:
		v.outcome = Malformed
	}
	return v
}

// retriable says whether the same request may succeed later.
func (v *verdict) retriable() bool {
	return v.outcome == Failed && v.err != nil && v.class != litegrpc.Permanent
}

func (b *batch) giveUp(ctx context.Context, i int, err error) error {
	return giveUp(ctx, &b.handles[i], &b.verdicts[i], b.retry.sent, err)
}

// giveUp makes the error of a handle that failed for good.
func giveUp(ctx context.Context, h *coders.ReceiptHandle, v *verdict, sent int, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = errors.Join(cause, err)
	}
	return &Error{Handle: *h, Permanent: v.class == litegrpc.Permanent, Attempts: sent, Err: err}
}

func (b *batch) result(i int) Result {
	r := Result{Handle: b.handles[i], Outcome: b.verdicts[i].outcome}
	if err := b.verdicts[i].err; err != nil {
		r.Detail = err.Error()
	}
	return r
}

// failure collects the errors of many handles into the one to report: the first
// permanent one if there is any, because it says what to change.
type failure struct {
	first *Error
	count int
}

func (f *failure) add(err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return // nil, or the text of an outcome that is no failure
	}
	f.count++
	if f.first == nil || e.Permanent && !f.first.Permanent {
		f.first = e
	}
}

func (f *failure) err() error {
	if f.first == nil {
		return nil
	}
	e := *f.first
	e.Others = f.count - 1
	return &e
}
