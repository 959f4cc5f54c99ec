// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
)

// inserter copies rows of three columns.
func inserter(b *testing.B, where string) *Inserter {
	b.Helper()
	s, err := script.Parse("", `CREATE TABLE source (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'a', 'rocketmq.source.group' = 'g');
		CREATE TABLE sink (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'b');
		INSERT INTO sink SELECT * FROM source`+where)
	if err != nil {
		b.Fatal(err)
	}
	source, err := Settle(s.Tables[0], connector.Read)
	if err != nil {
		b.Fatal(err)
	}
	sink, err := Settle(s.Tables[1], connector.Write)
	if err != nil {
		b.Fatal(err)
	}
	i := Insert{Statement: s.Inserts[0].Portable(), Source: source.Side(), Sink: sink.Side()}
	run, err := i.Inserter()
	if err != nil {
		b.Fatal(err)
	}
	return run
}

// What a row costs from body to body, in a bundle whose counters count.
func BenchmarkInsert(b *testing.B) {
	for name, where := range map[string]string{"all": "", "where": " WHERE id > 5 AND name LIKE 'a%'"} {
		b.Run(name, func(b *testing.B) {
			run := inserter(b, where)
			ctx := metrics.SetPTransformID(metrics.SetBundleID(context.Background(), "bundle"), "step")
			body := []byte("1234567\x01a user's name\x01" + strings.Repeat("m", 220))
			m := &coders.Message{Topic: "a", Broker: "broker", MessageID: "id", UniqueKey: "key", BornTime: time.Now()}
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if err := run.Insert(ctx, body, EnvelopeOf(m, time.Now(), nil), func(Message) { n++ }); err != nil || n != 1 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
