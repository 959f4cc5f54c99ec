// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The bundle's way beside the bare client's, with the same batches of messages of
// 1 KiB, to a broker in this process.
func BenchmarkWrite(b *testing.B) {
	broker := embedded.Start(context.Background())
	defer broker.Close()
	broker.CreateTopic(testTopic, 4)
	body := make([]byte, 1024)
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprint("bundle by ", batch), func(b *testing.B) {
			cfg, err := newWriteConfig(broker.NameServer(), []WriteOption{WriteTopic(testTopic), WriteBatch(batch, 1<<20)})
			if err != nil {
				b.Fatal(err)
			}
			fn := &writeFn{bundleWriter{Config: cfg}}
			if err := fn.Setup(); err != nil {
				b.Fatal(err)
			}
			defer writeSessions.CloseIdle()
			emit := func(WriteResult) {}
			fn.StartBundle(b.Context(), emit)
			b.ReportAllocs()
			for b.Loop() {
				if err := fn.ProcessElement(b.Context(), beam.PaneInfo{}, window.GlobalWindow{}, 0, OutgoingMessage{Body: body}, emit); err != nil {
					b.Fatal(err)
				}
			}
			if err := fn.FinishBundle(b.Context(), emit); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
	b.Run("bare client by 64", func(b *testing.B) {
		c, err := remoting.NewClient(remoting.Config{NameServers: broker.NameServer()})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		messages := make([]*remoting.OutMessage, 64)
		for i := range messages {
			messages[i] = &remoting.OutMessage{Body: body}
		}
		b.ReportAllocs()
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				if n%64 != 0 {
					continue
				}
				if _, err := c.SendBatch(b.Context(), remoting.Queue{Topic: testTopic, Broker: "broker-a", ID: n / 64 % 4}, "g", messages); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	})
}
