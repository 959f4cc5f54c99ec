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

// pipeline is what a user writes, read and ack, on prism in this process.
func (l *Leg) pipeline(ctx context.Context, t *tally) error {
	defer func() {
		litegrpcio.Shutdown()
		ackfn.Shutdown()
	}()
	p, s := beam.NewPipelineWithRoot()
	messages := litegrpcio.Read(s, l.Endpoints, Topic(l.Name), Group(l.Name),
		litegrpcio.ReadFetchConcurrency(l.Concurrency), litegrpcio.ReadMaxMessageNum(perRequest),
		litegrpcio.ReadInvisibleDuration(invisibility), litegrpcio.ReadAwaitDuration(longPoll),
		litegrpcio.ReadMaxRecords(int64(l.Messages)), litegrpcio.ReadMaxDuration(legTimeout))
	observe(s, l, t, ackfn.Ack(s, messages))
	defer forget(l)
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
		return fmt.Errorf("%d of %d messages came: %w", t.distinct(), l.Messages, context.Cause(ctx))
	}
}
