// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

// Runner runs a pipeline, under a name, until ctx ends, which is no error, with
// workers in this process.
type Runner func(ctx context.Context, name string, p *beam.Pipeline) error

// onPrism runs a pipeline on prism in this process.
func onPrism(ctx context.Context, p *beam.Pipeline) error {
	ended := make(chan error, 1)
	go func() {
		// prism's results of a cancelled job crash whoever looks at them, so it
		// never hears of ctx; an abandoned job ends with the process.
		_, err := prism.Execute(context.WithoutCancel(ctx), p)
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pipeline is what a user writes, read and ack.
func (l *Leg) pipeline(ctx context.Context, t *tally) error {
	defer func() {
		litegrpcio.Shutdown()
		ackfn.Shutdown()
	}()
	p, s := beam.NewPipelineWithRoot()
	observe(s, l, t, ackfn.Ack(s, litegrpcio.Read(s, l.Endpoints, Topic(l.Name), Group(l.Name), l.readOptions()...)))
	defer forget(l)
	err := l.execute(ctx, t, p)
	if ctx.Err() != nil { // which some runners do not call an error
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%d of %d messages came: %w", t.distinct(), l.measured(), err)
	}
	return nil
}

func (l *Leg) readOptions() []litegrpcio.ReadOption {
	options := []litegrpcio.ReadOption{
		litegrpcio.ReadFetchConcurrency(l.Concurrency), litegrpcio.ReadMaxMessageNum(l.batch()), litegrpcio.ReadShards(max(l.Shards, 1)),
		litegrpcio.ReadInvisibleDuration(invisibility), litegrpcio.ReadAwaitDuration(longPoll), litegrpcio.ReadMaxDuration(legTimeout),
	}
	if l.Runner == nil {
		options = append(options, litegrpcio.ReadMaxRecords(int64(l.measured())))
	}
	return options
}

// execute runs the pipeline: on prism to its end, elsewhere until all is
// acknowledged. A limit would be shared out among shards there, and what was
// received for one that has reached its own has to wait for the end of its lease.
func (l *Leg) execute(ctx context.Context, t *tally, p *beam.Pipeline) error {
	if l.Runner == nil {
		return onPrism(ctx, p)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-t.done:
			cancel()
		case <-stop:
		}
	}()
	return l.Runner(ctx, "bench-"+l.Name, p)
}
