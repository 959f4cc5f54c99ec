// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

// deferrer makes the deferrals of one bundle in the background, so that what
// passes need not wait for them. Its workers take from a queue without bound,
// which holds handles only, and end when it is empty.
type deferrer struct {
	client  *ackfn.Client
	most    int // workers
	now     func() time.Time
	ctx     context.Context // of the requests; ends when the bundle is given up
	giveUp  context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex
	queue   []job
	workers int
	done    []answer
}

type job struct {
	deferral
	place placed.Place
}

type answer struct {
	job
	result    ackfn.Result
	delay     time.Duration
	took      time.Duration
	err       error
	throttled time.Duration
}

// quiet hides the bundle from what the client counts: metrics may be touched on
// the bundle's goroutine only.
type quiet struct{ context.Context }

func (quiet) Value(any) any { return nil }

func startDeferrer(ctx context.Context, c *ackfn.Client, most int, now func() time.Time) *deferrer {
	d := &deferrer{client: c, most: most, now: now}
	d.ctx, d.giveUp = context.WithCancel(quiet{ctx})
	return d
}

// add queues deferrals and returns at once.
func (d *deferrer) add(place placed.Place, deferrals []deferral) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range deferrals {
		d.queue = append(d.queue, job{x, place})
		if d.workers < d.most {
			d.workers++
			d.working.Go(d.work)
		}
	}
}

func (d *deferrer) work() {
	for {
		d.mu.Lock()
		if len(d.queue) == 0 || d.ctx.Err() != nil {
			d.workers--
			d.mu.Unlock()
			return
		}
		j := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()

		a := d.ask(j)
		d.mu.Lock()
		d.done = append(d.done, a)
		d.mu.Unlock()
	}
}

// ask makes one deferral. It counts the delay from the decision on, not from
// the time at which the deferral's turn came.
func (d *deferrer) ask(j job) answer {
	begin := d.now()
	a := answer{job: j, delay: max(j.until.Sub(begin), minDelay)}
	results, err := d.client.Defer(d.ctx, ackfn.Deferral{Handle: j.handle, For: a.delay, Suspend: j.suspend})
	a.took, a.err = d.now().Sub(begin), err
	if len(results) == 1 {
		a.result = results[0]
	}
	return a
}

// take returns the answers that came since the last call.
func (d *deferrer) take() []answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	done := d.done
	d.done = nil
	return done
}

// wait returns when all deferrals are answered, or given up.
func (d *deferrer) wait() { d.working.Wait() }

// abandon ends the requests under way and waits for them. After a bundle that
// went well it only frees the context.
func (d *deferrer) abandon() {
	d.giveUp()
	d.working.Wait()
}

// fatal says whether the deferral failed in a way that no other would fare
// better: a wrong name, permission or setting. Everything else leaves the
// message to the end of its lease.
func (a *answer) fatal() error {
	if e, ok := errors.AsType[*ackfn.Error](a.err); ok && e.Permanent {
		return e
	}
	return nil
}
