// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/report"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

func init() {
	beam.RegisterDoFn(&workFn{})
	beam.RegisterDoFn(&ackedFn{})
	beam.RegisterDoFn(&deferredFn{})
}

// build makes the pipeline: read, throttle if asked to, work, ack.
func build(c Config) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	opts := []litegrpcio.ReadOption{
		litegrpcio.ReadInvisibleDuration(c.Lease), litegrpcio.ReadAwaitDuration(5 * time.Second),
		litegrpcio.ReadFetchConcurrency(c.Fetch), litegrpcio.ReadMaxMessageNum(c.Batch),
		litegrpcio.ReadRequestTimeout(c.Timeout), litegrpcio.ReadTLS(c.TLS),
	}
	throttling := []throttlefn.Option{throttlefn.RequestTimeout(c.Timeout), throttlefn.TLS(c.TLS)}
	acking := []ackfn.Option{ackfn.RequestTimeout(c.Timeout), ackfn.TLS(c.TLS)}
	if c.Credentials != "" {
		opts = append(opts, litegrpcio.ReadCredentials(c.Credentials))
		throttling = append(throttling, throttlefn.Credentials(c.Credentials))
		acking = append(acking, ackfn.Credentials(c.Credentials))
	}
	msgs := litegrpcio.Read(s, c.Endpoints, c.Topic, c.Group, opts...)
	if t := c.Throttle; t != nil {
		groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(t.Every))
		out := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: t.PerWindow, Defer: t.Defer}, throttling...)
		beam.ParDo0(s, &deferredFn{}, out.Deferred)
		msgs = out.Passed
	}
	done := beam.ParDo(s, &workFn{Work: c.Work}, msgs)
	beam.ParDo0(s, &ackedFn{}, ackfn.Ack(s, done, acking...))
	return p
}

// workFn tells of a message and works on it.
type workFn struct{ Work time.Duration }

// ProcessElement lets the time of the work pass.
func (f *workFn) ProcessElement(ctx context.Context, m coders.AckableMessage) (coders.AckableMessage, error) {
	if err := tell(report.Delivered, m.Handle, ""); err != nil {
		return m, err
	}
	return m, work(ctx, f.Work)
}

// work lets d pass.
func work(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("working: %w", context.Cause(ctx))
	}
}

// ackedFn tells of acknowledgements.
type ackedFn struct{}

// ProcessElement tells of one.
func (*ackedFn) ProcessElement(r ackfn.Result) error {
	return tell(report.Acked, r.Handle, r.Outcome.String())
}

// deferredFn tells of deferrals.
type deferredFn struct{}

// ProcessElement tells of one.
func (*deferredFn) ProcessElement(d throttlefn.Deferral) error {
	return tell(report.Deferred, d.Handle, d.Outcome.String())
}

func tell(kind report.Kind, h coders.ReceiptHandle, detail string) error {
	return report.Write(os.Stdout, report.Line{Kind: kind, ID: h.MessageID, Attempt: int(h.DeliveryAttempt), Detail: detail})
}
