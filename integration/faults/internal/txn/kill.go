// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package txn kills workers that write exactly once, at every step of that, and
// counts what consumers see.
package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Options say how much.
type Options struct {
	// Messages is how many, a multiple of 50.
	Messages int
	// Kills is how many workers are killed.
	Kills int
	// Random leaves the keys to chance: then what was committed before a kill is
	// written again.
	Random bool
	// RestartBroker restarts a real broker once in the middle of the commits. Two
	// of the kills are of the broker then: one in good order, one by SIGKILL.
	RestartBroker bool
	// Seed makes the random moments.
	Seed uint64
	// Log takes a line of progress.
	Log func(format string, args ...any)
}

// Verdict is what came of it.
type Verdict struct {
	Row      string         `json:"row"`
	Messages int            `json:"messages"`
	Seen     int            `json:"seen"` // by a consumer, with repetitions
	Lost     int            `json:"lost"`
	Twice    int            `json:"twice"` // that were seen more than once
	Kills    map[string]int `json:"kills"` // by step
	Workers  int            `json:"workers"`
	Seconds  float64        `json:"seconds"`
	Prepared int            `json:"prepared,omitempty"` // half messages, where they are counted
	Error    string         `json:"error,omitempty"`
}

// OK says that each was seen once, or, with random keys, none was lost.
func (v Verdict) OK(random bool) bool {
	return v.Error == "" && v.Lost == 0 && (random || v.Twice == 0)
}

// step is a place where a worker can be killed: at a request that is to come.
type step struct {
	name    string
	method  embedded.Method
	counts  func(*embedded.Request) bool // nil: each
	react   embedded.Reaction
	instant bool // before the reaction; else a moment after it
}

func isCommit(r *embedded.Request) bool { return r.Fields["commitOrRollback"] == "8" }

var steps = []step{
	{"before send", embedded.RemotingSend, nil, embedded.Drop(), true},
	{"after send, reply lost", embedded.RemotingSend, nil, embedded.LoseReply(), true},
	{"after send, about when the handle is emitted", embedded.RemotingSend, nil, embedded.Pass(), false},
	{"before commit", embedded.RemotingQueryMessage, nil, embedded.Drop(), true},
	{"commit under way", embedded.RemotingEndTransaction, isCommit, embedded.Drop(), true},
	{"commit reply lost", embedded.RemotingEndTransaction, isCommit, embedded.LoseReply(), true},
	{"after commit", embedded.RemotingEndTransaction, isCommit, embedded.Pass(), false},
}

const (
	topic = "txn-out"
	group = "txn-writers"
)

// Embedded kills workers of an embedded broker at each step in turn.
func Embedded(ctx context.Context, o Options) Verdict {
	begin := time.Now()
	v := Verdict{Row: "txn-killed/embedded", Messages: o.Messages, Kills: map[string]int{}}
	mq := embedded.Start(ctx, embedded.WithNormalTopic(topic), embedded.WithQueues(4))
	defer mq.Close()
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	c := config{NameServer: mq.NameServer(), Topic: topic, Group: group, Messages: o.Messages, Settle: 200 * time.Millisecond, Random: o.Random}
	err := killAtSteps(ctx, mq, rng, c, o, &v)
	seen := map[string]int{}
	for _, m := range mq.Messages(topic) {
		seen[string(m.Body)]++
	}
	v.judge(seen, err, begin)
	return v
}

func killAtSteps(ctx context.Context, mq *embedded.Broker, rng *rand.Rand, c config, o Options, v *Verdict) error {
	for n := 0; n < o.Kills; n++ {
		s := steps[n%len(steps)]
		most := c.Messages
		// What is committed is not there any more for later kills.
		if s.counts != nil || s.method == embedded.RemotingQueryMessage {
			most = max(1, c.Messages/o.Kills)
		}
		killed, err := runKilled(ctx, mq, s, 1+rng.IntN(most), time.Duration(rng.IntN(3000))*time.Microsecond, c)
		if err != nil {
			return fmt.Errorf("worker to be killed %s: %w", s.name, err)
		}
		v.Workers++
		if killed {
			v.Kills[s.name]++
		}
		o.Log("%s: killed %v, %d messages are there", s.name, killed, len(mq.Messages(topic)))
	}
	return runToEnd(ctx, c, v)
}

// runKilled runs a worker and kills it at the n-th request of the step.
func runKilled(ctx context.Context, mq *embedded.Broker, s step, n int, later time.Duration, c config) (bool, error) {
	there := make(chan struct{})
	var w *worker
	remove := s.arm(mq, n, later, func() { <-there; w.kill() })
	defer remove()
	w, err := startWorker(c)
	if err != nil {
		return false, err
	}
	close(there)
	return w.wait(ctx)
}

// arm has a worker killed at the n-th request of the step from now on.
func (s step) arm(mq *embedded.Broker, n int, later time.Duration, kill func()) (remove func()) {
	var mu sync.Mutex
	count := 0
	return mq.ControlAlways(s.method, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		mu.Lock()
		defer mu.Unlock()
		if s.counts != nil && !s.counts(r) {
			return embedded.Pass()
		}
		if count++; count != n {
			return embedded.Pass()
		}
		if s.instant {
			kill()
		} else {
			time.AfterFunc(later, kill)
		}
		return s.react
	})
}

func runToEnd(ctx context.Context, c config, v *Verdict) error {
	w, err := startWorker(c)
	if err != nil {
		return err
	}
	v.Workers++
	_, err = w.wait(ctx)
	return err
}

// Real kills workers of a real broker at random moments.
func Real(ctx context.Context, mq *realmq.Cluster, o Options) Verdict {
	begin := time.Now()
	v := Verdict{Row: "txn-killed/real", Messages: o.Messages, Kills: map[string]int{}}
	if o.RestartBroker {
		v.Row = "txn-broker-restarted/real"
	}
	seen, err := real(ctx, mq, o, &v)
	v.judge(seen, err, begin)
	return v
}

func real(ctx context.Context, mq *realmq.Cluster, o Options, v *Verdict) (map[string]int, error) {
	name := topic + "-" + strconv.FormatUint(o.Seed, 36)
	if o.RestartBroker {
		name += "-restart"
	}
	const queues = 4
	if err := mq.CreateTopic(ctx, name, realmq.Normal, realmq.Queues(queues)); err != nil {
		return nil, err
	}
	client, err := remoting.NewClient(remoting.Config{NameServers: mq.NameServer()})
	if err != nil {
		return nil, err
	}
	r := &realRun{mq: mq, client: client, queues: queues, o: o, v: v, rng: rand.New(rand.NewPCG(o.Seed, 2)),
		c: config{NameServer: mq.NameServer(), Topic: name, Group: group + name, Messages: o.Messages, Settle: 4 * time.Second, Random: o.Random}}
	if o.RestartBroker {
		err = r.restart(ctx)
	} else {
		err = r.kill(ctx)
	}
	seen, seeErr := r.see(ctx)
	return seen, errors.Join(err, seeErr, client.Close())
}

// realRun is a run against a real broker.
type realRun struct {
	mq     *realmq.Cluster
	client *remoting.Client
	queues int
	o      Options
	v      *Verdict
	rng    *rand.Rand
	c      config
}

// kill kills workers: each second one when some more messages have become visible,
// the others at any moment.
func (r *realRun) kill(ctx context.Context) error {
	for n := range r.o.Kills {
		w, err := startWorker(r.c)
		if err != nil {
			return err
		}
		r.v.Workers++
		how := "at any moment"
		if n%2 == 0 {
			how = "during commits"
			err = r.awaitVisible(ctx, w, 1+r.rng.IntN(max(1, 2*r.o.Messages/r.o.Kills)))
		} else {
			err = pause(ctx, w, time.Duration(r.rng.IntN(12_000))*time.Millisecond)
		}
		if err != nil {
			return err
		}
		w.kill()
		killed, err := w.wait(ctx)
		if err != nil {
			return err
		}
		if killed {
			r.v.Kills[how]++
		}
		seen, err := r.visible(ctx)
		if err != nil {
			return err
		}
		r.o.Log("%s: killed %v, %d messages are there", how, killed, seen)
	}
	return runToEnd(ctx, r.c, r.v)
}

// restart restarts the broker in the middle of the commits of one worker, and kills
// it in those of the next.
func (r *realRun) restart(ctx context.Context) error {
	for _, how := range []string{"broker restarted", "broker killed"} {
		w, err := startWorker(r.c)
		if err != nil {
			return err
		}
		r.v.Workers++
		if err := r.awaitVisible(ctx, w, 1+r.rng.IntN(r.o.Messages/3)); err != nil {
			return err
		}
		if how == "broker killed" {
			err = errors.Join(r.mq.KillBroker(), r.mq.StartBroker(ctx))
		} else {
			err = r.mq.RestartBroker(ctx)
		}
		if err != nil {
			return err
		}
		r.v.Kills[how]++
		if how == "broker restarted" {
			w.kill() // so that there is something left for the next one
		}
		if _, err := w.wait(ctx); err != nil {
			return err
		}
		r.o.Log("%s", how)
	}
	return runToEnd(ctx, r.c, r.v)
}

// awaitVisible waits until so many messages more are there, or the worker has ended.
func (r *realRun) awaitVisible(ctx context.Context, w *worker, more int) error {
	first, err := r.visible(ctx)
	if err != nil {
		return err
	}
	for {
		now, err := r.visible(ctx)
		if err != nil || now >= first+int64(more) {
			return err
		}
		if err := pause(ctx, w, 5*time.Millisecond); err != nil { // between two looks
			return err
		}
		select {
		case <-w.ended:
			return nil
		default:
		}
	}
}

// pause waits for d, or less if the worker ends.
func pause(ctx context.Context, w *worker, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-w.ended:
	case <-ctx.Done():
		w.kill()
		return context.Cause(ctx)
	}
	return nil
}

func (r *realRun) queue(id int) remoting.Queue {
	return remoting.Queue{Topic: r.c.Topic, Broker: "broker-a", ID: id}
}

func (r *realRun) visible(ctx context.Context) (n int64, err error) {
	for id := range r.queues {
		end, err := r.client.MaxOffset(ctx, r.queue(id))
		if err != nil {
			return n, err
		}
		n += end
	}
	return n, nil
}

// see reads the topic from end to end.
func (r *realRun) see(ctx context.Context) (map[string]int, error) {
	seen := map[string]int{}
	for id := range r.queues {
		end, err := r.client.MaxOffset(ctx, r.queue(id))
		if err != nil {
			return seen, err
		}
		for at := int64(0); at < end; {
			got, err := r.client.Pull(ctx, remoting.PullRequest{Queue: r.queue(id), Group: group + "-reader", Offset: at, Max: 32})
			if err != nil {
				return seen, err
			}
			for _, m := range got.Messages {
				seen[string(m.Body)]++
			}
			if got.Next <= at {
				return seen, fmt.Errorf("reading stands still at %d of %d", at, end)
			}
			at = got.Next
		}
	}
	return seen, nil
}

func (v *Verdict) judge(seen map[string]int, err error, begin time.Time) {
	for i := range v.Messages {
		n := seen[strconv.Itoa(i)]
		v.Seen += n
		switch {
		case n == 0:
			v.Lost++
		case n > 1:
			v.Twice++
		}
	}
	v.Seconds = time.Since(begin).Seconds()
	if err != nil {
		v.Error = err.Error()
	}
}
