// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// A broker with a main topic for lite topics and a group that receives all of
// them; point any client of RocketMQ 5.x at Endpoints.
func ExampleStart() {
	mq := embedded.Start(context.Background(),
		embedded.WithLiteTopic("agent-bus"),
		embedded.WithWildcardGroup("beam-agents", "agent-bus"))
	defer mq.Close()
	id := mq.Publish("agent-bus", "tenant-7", []byte("hello"), embedded.PublishTag("greeting"))
	m, _ := mq.Message(id)
	fmt.Println(m.LiteTopic, string(m.Body), m.Acked(), mq.Pending("agent-bus"))
	// Output: tenant-7 hello false 1
}

// A broker with old messages gone, as the remoting side sees it: point any client
// of RocketMQ 4.x at NameServer.
func ExampleBroker_NameServer() {
	mq := embedded.Start(context.Background(), embedded.WithNormalTopic("orders"), embedded.WithQueues(2))
	defer mq.Close()
	mq.PublishMany("orders", [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d")}, embedded.PublishTag("paid"))
	q := embedded.Queue{Topic: "orders", ID: 1}
	mq.ExpireMessages(q, 1)
	mq.SetCommitted("beam-orders", q, 2)
	least, next := mq.QueueOffsets(q)
	committed, _ := mq.Committed("beam-orders", q)
	fmt.Println(least, next, committed, string(mq.MessagesIn(q)[0].Body))
	// Output: 1 2 2 d
}

// The second ack from now on loses its answer; the next one waits for an hour of
// the clock that the test moves.
func ExampleBroker_Control() {
	clock := embedded.NewClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	mq := embedded.Start(context.Background(), embedded.WithClock(clock))
	defer mq.Close()
	n := 0
	mq.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		if n++; n < 2 {
			return embedded.Pass()
		}
		return embedded.LoseReply()
	})
	mq.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Delay(time.Hour)
	})
}
