// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/report"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	beam.RegisterDoFn(&normalFn{})
	beam.RegisterDoFn(&liteFn{})
	register.Emitter1[rocketmqio.OutgoingMessage]()
	register.Emitter1[litegrpcio.Message]()
	beam.RegisterDoFn(&normalWrittenFn{})
	beam.RegisterDoFn(&liteWrittenFn{})
}

// Sink makes a worker write messages, one bundle of them, and then end. A worker
// that is started again writes all of them again, as a runner repeats a bundle.
type Sink struct {
	// Lite writes to lite topics at Endpoints; else it is the queues of Topic at
	// NameServer.
	Lite       bool   `json:"lite,omitempty"`
	NameServer string `json:"name_server,omitempty"`
	// Count is how many, Every the pause after each. Bodies and keys are their
	// numbers, from 0 on.
	Count int           `json:"count"`
	Every time.Duration `json:"every"`
	// Patience is how long messages of a normal topic wait for a broker; 0 is
	// the sink's default.
	Patience time.Duration `json:"patience,omitempty"`
}

// SinkLites is over how many lite topics the messages go, sinkReady how many wait
// in the sink of a normal topic at most.
const (
	SinkLites = 20
	sinkReady = 64
)

func buildSink(c Config) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	start := beam.Impulse(s)
	if c.Sink.Lite {
		opts := []litegrpcio.WriteOption{litegrpcio.WriteRequestTimeout(c.Timeout), litegrpcio.WriteTLS(c.TLS)}
		if c.Credentials != "" {
			opts = append(opts, litegrpcio.WriteCredentials(c.Credentials))
		}
		msgs := beam.ParDo(s, &liteFn{Count: c.Sink.Count, Every: c.Sink.Every}, start)
		beam.ParDo0(s, &liteWrittenFn{}, litegrpcio.Write(s, c.Endpoints, c.Topic, msgs, opts...))
		return p
	}
	opts := []rocketmqio.WriteOption{
		rocketmqio.WriteTopic(c.Topic), rocketmqio.WriteSendTimeout(c.Timeout), rocketmqio.WritePendingMax(sinkReady),
		rocketmqio.WriteTLS(c.TLS), rocketmqio.WriteBatch(8, 1<<20),
	}
	if c.Sink.Patience > 0 {
		opts = append(opts, rocketmqio.WritePatience(c.Sink.Patience))
	}
	if c.Credentials != "" {
		opts = append(opts, rocketmqio.WriteCredentials(c.Credentials))
	}
	msgs := beam.ParDo(s, &normalFn{Count: c.Sink.Count, Every: c.Sink.Every}, start)
	beam.ParDo0(s, &normalWrittenFn{}, rocketmqio.Write(s, c.Sink.NameServer, msgs, opts...))
	return p
}

// emit calls hand for each number, and tells of it when hand is back.
func emit(ctx context.Context, count int, every time.Duration, hand func(i int, id string)) error {
	for i := range count {
		id := strconv.Itoa(i)
		hand(i, id)
		if err := report.Write(os.Stdout, report.Line{Kind: report.Emitted, ID: id}); err != nil {
			return err
		}
		if err := work(ctx, every); err != nil {
			return err
		}
	}
	return nil
}

// normalFn makes messages for a normal topic.
type normalFn struct {
	Count int
	Every time.Duration
}

// ProcessElement makes all of them.
func (f *normalFn) ProcessElement(ctx context.Context, _ []byte, out func(rocketmqio.OutgoingMessage)) error {
	return emit(ctx, f.Count, f.Every, func(_ int, id string) {
		out(rocketmqio.OutgoingMessage{Body: []byte(id), Keys: []string{id}})
	})
}

// liteFn makes messages for lite topics.
type liteFn struct {
	Count int
	Every time.Duration
}

// ProcessElement makes all of them.
func (f *liteFn) ProcessElement(ctx context.Context, _ []byte, out func(litegrpcio.Message)) error {
	return emit(ctx, f.Count, f.Every, func(i int, id string) {
		out(litegrpcio.Message{LiteTopic: "lite-" + strconv.Itoa(i%SinkLites), Body: []byte(id), Keys: []string{id}})
	})
}

// normalWrittenFn tells what is written.
type normalWrittenFn struct{}

// ProcessElement tells of one message.
func (*normalWrittenFn) ProcessElement(r rocketmqio.WriteResult) error {
	return report.Write(os.Stdout, report.Line{Kind: report.Written, ID: r.Keys[0], Detail: r.UniqueKey})
}

// liteWrittenFn tells what is written.
type liteWrittenFn struct{}

// ProcessElement tells of one message.
func (*liteWrittenFn) ProcessElement(r litegrpcio.WriteResult) error {
	return report.Write(os.Stdout, report.Line{Kind: report.Written, ID: r.Keys[0], Detail: r.MessageID})
}
