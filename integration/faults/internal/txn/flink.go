// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
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

// Flink writes through Flink with checkpoints, from one topic of an embedded broker
// to another, and has the job fail once in the middle, so that Flink starts it again
// from its last checkpoint.
func Flink(ctx context.Context, o Options) Verdict {
	begin := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("not done in %v", longest))
	defer cancel()
	v := Verdict{Row: "txn-flink-restarted/embedded", Messages: o.Messages, Kills: map[string]int{}}
	mq := embedded.Start(ctx, embedded.WithNormalTopic(topic), embedded.WithQueues(sourceQueues))
	defer mq.Close()
	mq.CreateTopic(sourceTopic, sourceQueues)
	for i := range o.Messages {
		mq.PublishTo(embedded.Queue{Topic: sourceTopic, ID: i % sourceQueues}, strconv.AppendInt(nil, int64(i), 10))
	}
	err := onFlink(ctx, mq, o, &v)
	rocketmqio.Shutdown()
	seen := map[string]int{}
	for _, m := range mq.Messages(topic) {
		seen[string(m.Body)]++
	}
	v.judge(seen, err, begin)
	v.Prepared = len(mq.Halves(group))
	return v
}

func onFlink(ctx context.Context, mq *embedded.Broker, o Options, v *Verdict) error {
	portable.Init(os.Stderr, false)
	server, err := flink.Start(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	jobs, err := portable.Dial(ctx, server.Endpoint())
	if err != nil {
		return err
	}
	defer jobs.Close()
	job, err := jobs.Submit(ctx, "txn", flinkPipeline(mq), portable.Options{
		Parallelism: sourceQueues, CheckpointingInterval: checkpoints,
	})
	if err != nil {
		return err
	}
	v.Workers++
	err = failInTheMiddle(ctx, mq, server, job, o, v)
	return errors.Join(err, job.Cancel(context.WithoutCancel(ctx)))
}

// failInTheMiddle has the job fail when a tenth is there and a checkpoint lies behind
// it, and returns when all are there and two more checkpoints have been completed, so
// that nothing is under way any more. The job itself has no end: what ends a source's
// job on Flink also ends its checkpoints.
func failInTheMiddle(ctx context.Context, mq *embedded.Broker, server *flink.Server, job *portable.Job, o Options, v *Verdict) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	armed, atEnd := false, -1
	defer func() {
		if armed && !failing.Swap(false) {
			v.Kills["job failed, restarted from a checkpoint"]++
		}
	}()
	for {
		select {
		case <-tick.C:
		case <-job.Ended():
			return errors.Join(errors.New("the job has ended by itself"), job.Wait(ctx))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		there := stored(mq)
		done := checkpointsOf(ctx, server)
		o.Log("%d messages are there, after %d checkpoints", there, done)
		if !armed && done > 0 && there > o.Messages/10 {
			armed = true
			failing.Store(true)
		}
		switch {
		case there < o.Messages:
		case atEnd < 0:
			atEnd = done
		case done >= atEnd+2:
			return nil
		}
	}
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
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	beam.ParDo0(s, &writtenFn{}, rocketmqio.Write(s, mq.NameServer(), beam.ParDo(s, &failOnceFn{}, msgs),
		rocketmqio.WriteTopic(topic), rocketmqio.WriteGroup(group), rocketmqio.WriteExactlyOnce(keyOfRead),
		rocketmqio.WriteCommitSettle(200*time.Millisecond)))
	return p
}
