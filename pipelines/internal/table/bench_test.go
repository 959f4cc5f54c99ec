// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// benchMessages is how many messages a run copies.
const benchMessages = 50_000

func benchBody(i int) []byte {
	return fmt.Appendf(nil, "%d\x01a user's name\x01%s", i, strings.Repeat("m", 220))
}

// copyRows copies rows of three columns.
func copyRows(c *cluster) string {
	return c.located(`CREATE TABLE a (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'g', `+earliest+`);
		CREATE TABLE b (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x');
		INSERT INTO b SELECT * FROM a;`, "in", "out")
}

// copyBytes is the same without rows.
func copyBytes(ctx context.Context, c *cluster) error {
	server, err := portable.Prism(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	defer follow.Shutdown()
	p, s := beam.NewPipelineWithRoot()
	messages := rocketmqio.Read(s, c.nameServer, "g", []string{"in"}, rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	rocketmqio.Write(s, c.nameServer, messages, rocketmqio.WriteTopic("out"))
	return server.Run(ctx, "bytes", p, portable.Options{})
}

// A topic copied as rows and as bytes. The embedded broker's work is part of both.
func BenchmarkCopy(b *testing.B) {
	for name, run := range map[string]func(context.Context, *cluster) error{
		"rows": func(ctx context.Context, c *cluster) error {
			return Run(ctx, "bench.sql", copyRows(c), bounded(), &bytes.Buffer{})
		},
		"bytes": copyBytes,
	} {
		b.Run(name, func(b *testing.B) {
			mq := embedded.Start(context.Background(), embedded.WithNormalTopic("in"), embedded.WithQueues(4))
			defer mq.Close()
			for i := range benchMessages {
				mq.PublishTo(embedded.Queue{Topic: "in", ID: i % 4}, benchBody(i))
			}
			c := &cluster{nameServer: mq.NameServer()}
			for b.Loop() {
				mq.CreateTopic("out", 4)
				if err := run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(benchMessages*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// What a message costs in the step of a statement, from message to message.
func BenchmarkStatement(b *testing.B) {
	p, err := read("bench.sql", copyRows(&cluster{nameServer: "x:1"}))
	if err != nil {
		b.Fatal(err)
	}
	fn := &normalToNormalFn{*p.inserting(p.script.Inserts[0])}
	if err := fn.Setup(); err != nil {
		b.Fatal(err)
	}
	m := coders.Message{Topic: "in", Broker: "broker-a", MessageID: "7F0000010000000000000000000000A1", UniqueKey: "7F000001000000000000000000000001", Body: benchBody(7), BornTime: time.Now(), StoreTime: time.Now()}
	ctx := metrics.SetPTransformID(metrics.SetBundleID(context.Background(), "bundle"), "step") // counters count
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if err := fn.ProcessElement(ctx, m, func(rocketmqio.OutgoingMessage) { n++ }); err != nil || n != 1 {
			b.Fatal(n, err)
		}
	}
}
