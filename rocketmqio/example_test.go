// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio_test

import (
	"context"
	"encoding/json"
	"log"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	register.Function1x2(parseOrder)
	register.Function1x1(customer)
	register.Function3x0(logRefused)
}

type order struct {
	Customer string `json:"customer"`
	Cents    int64  `json:"cents"`
}

func parseOrder(body []byte) (order, error) {
	var o order
	err := json.Unmarshal(body, &o)
	return o, err
}

func customer(o order) string { return o.Customer }

func logRefused(_ context.Context, fault string, m coders.Message) {
	log.Printf("message %s: %s", m.MessageID, fault)
}

// How many orders each customer makes a minute, from where the group stopped.
func ExampleRead() {
	p, s := beam.NewPipelineWithRoot()
	msgs := rocketmqio.Read(s, "ns1:9876;ns2:9876", "beam-orders", []string{"orders"},
		rocketmqio.ReadFrom(rocketmqio.Committed(rocketmqio.Earliest())),
		rocketmqio.ReadTags("paid", "shipped"))
	orders, refused := rocketmqio.DecodeBody(s, msgs, parseOrder, rocketmqio.DivertUndecodable)
	beam.ParDo0(s, logRefused, refused)
	minutes := beam.WindowInto(s, window.NewFixedWindows(time.Minute), beam.ParDo(s, customer, orders))
	stats.Count(s, minutes)
	if err := beamx.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
}

// All that is in a topic now, as a batch; the direct runner runs it, too.
func ExampleReadBounded() {
	p, s := beam.NewPipelineWithRoot()
	msgs := rocketmqio.ReadBounded(s, "ns1:9876", "beam-report", []string{"orders"},
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	stats.Count(s, rocketmqio.Bodies(s, msgs))
	if err := beamx.Run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
}
