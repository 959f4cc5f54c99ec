// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/flink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	register.DoFn2x2[context.Context, coders.Message, coders.Message, error](&failOnceFn{})
	register.Function1x1(keyOfRead)
}

// The run on Flink.
const (
	sourceTopic  = "txn-in"
	sourceQueues = 4
	checkpoints  = 2 * time.Second
	longest      = 30 * time.Minute
)

// keyOfRead is the number.
func keyOfRead(m coders.Message) string { return "number-" + string(m.Body) }

// failing says whether the job is to fail at the next message that it is shown. The
// workers of Flink are in this process.
var failing atomic.Bool

// failOnceFn fails when it is told to, once.
type failOnceFn struct{}

// ProcessElement passes a message on.
func (*failOnceFn) ProcessElement(_ context.Context, m coders.Message) (coders.Message, error) {
	if failing.CompareAndSwap(true, false) {
		return m, errors.New("told to fail")
	}
	return m, nil
}

// FlinkFails has the job fail once in the middle, so that Flink starts it again
// from its last checkpoint.
func FlinkFails(ctx context.Context, o Options) Verdict {
	o.Kills = 1
	r := &flinkRun{o: o, arm: func(int) { failing.Store(true) }, happened: func() int {
		if failing.Load() {
			return 0
		}
		return 1
	}}
	v := r.run(ctx, "txn-flink-restarted/embedded")
	if !failing.Swap(false) && r.armed > 0 {
		v.Kills["job failed, restarted from a checkpoint"]++
	}
	return v
}

// FlinkKilled kills worker processes at each step in turn. Flink starts the job again
// from its last checkpoint each time, and asks for another worker.
func FlinkKilled(ctx context.Context, o Options) Verdict {
	c := &crew{kills: map[string]int{}}
	rng := rand.New(rand.NewPCG(o.Seed, 3))
	r := &flinkRun{o: o, crew: c, happened: c.killed}
	disarm := func() {}
	r.arm = func(n int) {
		disarm()
		s := steps[n%len(steps)]
		at, later := 1+rng.IntN(max(1, r.part()/2)), time.Duration(rng.IntN(3000))*time.Microsecond
		disarm = s.arm(r.mq, at, later, func() { c.kill(s.name) })
		o.Log("%s: a worker will be killed at request %d", s.name, at)
	}
	v := r.run(ctx, "txn-flink-killed/embedded")
	v.Kills, v.Workers = c.kills, c.started
	return v
}

// crew are the worker processes of a job, one after another.
type crew struct {
	mu      sync.Mutex
	now     *worker
	started int
	kills   map[string]int // by step
}

// run is a worker of the job, in a process of its own.
func (c *crew) run(ctx context.Context, asked portable.Worker) error {
	w, err := startWorker(config{OfRunner: &asked})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.now = w
	c.started++
	c.mu.Unlock()
	defer context.AfterFunc(ctx, w.kill)()
	<-w.ended
	return w.err
}

func (c *crew) kill(step string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.kill()
	c.kills[step]++
}

func (c *crew) killed() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kills {
		n += k
	}
	return n
}

// flinkRun writes through Flink with checkpoints, from one topic of an embedded
// broker to another. The messages come in parts, and each but the first has an
// accident.
type flinkRun struct {
	o        Options
	arm      func(n int) // sees that the n-th accident happens
	happened func() int  // how many have happened
	crew     *crew       // nil: the workers are in this process
	mq       *embedded.Broker
	server   *flink.Server

	published, armed int
}

func (r *flinkRun) part() int { return r.o.Messages / (r.o.Kills + 1) }

func (r *flinkRun) run(ctx context.Context, row string) Verdict {
	begin := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("not done in %v", longest))
	defer cancel()
	v := Verdict{Row: row, Messages: r.o.Messages, Kills: map[string]int{}, Workers: 1}
	r.mq = embedded.Start(ctx, embedded.WithNormalTopic(topic), embedded.WithQueues(sourceQueues))
	defer r.mq.Close()
	r.mq.CreateTopic(sourceTopic, sourceQueues)
	err := r.submit(ctx)
	rocketmqio.Shutdown()
	seen := map[string]int{}
	for _, m := range r.mq.Messages(topic) {
		seen[string(m.Body)]++
	}
	v.judge(seen, err, begin)
	v.Prepared = len(r.mq.Halves(group))
	return v
}

func (r *flinkRun) submit(ctx context.Context) error {
	portable.Init(os.Stderr, false)
	var err error
	if r.server, err = flink.Start(ctx); err != nil {
		return err
	}
	defer r.server.Close()
	jobs, err := portable.Dial(ctx, r.server.Endpoint())
	if err != nil {
		return err
	}
	defer jobs.Close()
	options := portable.Options{Parallelism: sourceQueues, CheckpointingInterval: checkpoints, Retries: 10 * (r.o.Kills + 1), RetryDelay: 2 * time.Second}
	if r.crew != nil {
		options.OnWorker = r.crew.run
	}
	job, err := jobs.Submit(ctx, "txn", flinkPipeline(r.mq), options)
	if err != nil {
		return err
	}
	if err = r.follow(ctx, job); err != nil {
		r.server.KeepLogs()
		err = fmt.Errorf("%w; the log of Flink is %s", err, r.server.Log())
	}
	return errors.Join(err, job.Cancel(context.WithoutCancel(ctx)))
}

// follow publishes part after part: when what was published before is there, what
// was to happen has happened, and two more checkpoints have been completed, so that
// nothing is under way any more. The job itself has no end: what ends a source's job
// on Flink also ends its checkpoints.
func (r *flinkRun) follow(ctx context.Context, job *portable.Job) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	r.publish(r.o.Messages - r.o.Kills*r.part())
	since, shown := -1, time.Now()
	for {
		select {
		case <-tick.C:
		case <-job.Ended():
			return errors.Join(errors.New("the job has ended by itself"), job.Wait(ctx))
		case <-ctx.Done():
			return fmt.Errorf("%d of %d messages are there, %d of %d accidents have happened: %w", stored(r.mq), r.published, r.happened(), r.armed, context.Cause(ctx))
		}
		there, done := stored(r.mq), checkpointsOf(ctx, r.server)
		if time.Since(shown) >= time.Second {
			r.o.Log("%d messages are there, after %d checkpoints", there, done)
			shown = time.Now()
		}
		switch {
		case there < r.published || r.happened() < r.armed:
			since = -1
		case since < 0:
			since = done
		case done < since+2:
		case r.armed == r.o.Kills:
			return nil
		default:
			r.arm(r.armed)
			r.armed++
			r.publish(r.part())
			since = -1
		}
	}
}

func (r *flinkRun) publish(n int) {
	for i := r.published; i < r.published+n; i++ {
		r.mq.PublishTo(embedded.Queue{Topic: sourceTopic, ID: i % sourceQueues}, strconv.AppendInt(nil, int64(i), 10))
	}
	r.published += n
}

func stored(mq *embedded.Broker) (n int) {
	for id := range sourceQueues {
		_, end := mq.QueueOffsets(embedded.Queue{Topic: topic, ID: id})
		n += int(end)
	}
	return n
}

// checkpointsOf is how many the latest cluster has completed.
func checkpointsOf(ctx context.Context, server *flink.Server) int {
	all, err := server.Clusters()
	if err != nil || len(all) == 0 {
		return 0
	}
	at, err := all[len(all)-1].Checkpoint(ctx)
	if err != nil {
		return 0 // it has none yet, or has ended
	}
	return at.Completed
}

func flinkPipeline(mq *embedded.Broker) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	msgs := rocketmqio.Read(s, mq.NameServer(), "txn-reader", []string{sourceTopic},
		rocketmqio.ReadFrom(rocketmqio.Earliest()))
	beam.ParDo0(s, &writtenFn{}, rocketmqio.Write(s, mq.NameServer(), beam.ParDo(s, &failOnceFn{}, msgs),
		rocketmqio.WriteTopic(topic), rocketmqio.WriteGroup(group), rocketmqio.WriteExactlyOnce(keyOfRead),
		rocketmqio.WriteCommitSettle(200*time.Millisecond)))
	return p
}
