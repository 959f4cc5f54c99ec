// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// A broker offers what an event told it of. Here a message is visible of which
// no event told: the offset of its lite topic is set back behind the broker's
// back, which is what a dropped event amounts to. RocketMQ 5.5.0 offers it to
// nobody, however long one polls; somebody who joins the group makes the broker
// look, and so a consumer that has somebody do that gets it (L02).
func TestRealAMessageThatNoEventToldOf(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	const topic, group, lite = "FORGOTTEN", "FORGOTTEN-GROUP", "lt"
	mq := realmqtest.Shared(t)
	if err := mq.CreateTopic(t.Context(), topic, realmq.Lite); err != nil {
		t.Fatal(err)
	}
	if err := mq.CreateGroup(t.Context(), group, realmq.LiteBind(topic), realmq.Wildcard()); err != nil {
		t.Fatal(err)
	}
	endpoints, err := litegrpc.ParseEndpoints(mq.Endpoints())
	if err != nil {
		t.Fatal(err)
	}
	base := litegrpc.Config{Endpoints: endpoints, StartTimeout: 20 * time.Second}
	open := func(lookAgain time.Duration) *litegrpc.Consumer {
		t.Helper()
		c, err := litegrpc.NewConsumer(t.Context(), litegrpc.ConsumerConfig{Config: base, Topic: topic, Group: group,
			AwaitDuration: litegrpc.MinAwaitDuration, LookAgain: lookAgain})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	receive := func(c *litegrpc.Consumer, polls int) []coders.AckableMessage {
		t.Helper()
		for range polls {
			batch, err := c.Receive(t.Context(), 32, litegrpc.MinInvisibleDuration, litegrpc.MinAwaitDuration)
			if err != nil {
				t.Logf("receiving: %v", err)
			}
			if len(batch.Messages) > 0 {
				return batch.Messages
			}
		}
		return nil
	}
	forget := func(c *litegrpc.Consumer, got []coders.AckableMessage) {
		t.Helper()
		if len(got) != 1 {
			t.Fatalf("received %d messages, want 1", len(got))
		}
		if err := c.Ack(t.Context(), topic, []coders.ReceiptHandle{got[0].Handle})[0]; err != nil {
			t.Fatal(err)
		}
		if again := receive(c, 2); again != nil { // until what c's joining set off is over
			t.Fatalf("received %v, which was acked", again)
		}
		const updateConsumerOffset = 15
		realRemoting{mq}.call(t, updateConsumerOffset, map[string]string{"consumerGroup": group,
			"topic": "%LMQ%$" + topic + "$" + lite, "queueId": "0", "commitOffset": "0"}, nil)
	}

	producer, err := litegrpc.NewProducer(t.Context(), litegrpc.ProducerConfig{Config: base, Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close(context.Background())
	if _, err := producer.Send(t.Context(), litegrpc.Outgoing{LiteTopic: lite, Body: []byte("a")}); err != nil {
		t.Fatal(err)
	}

	c := open(0)
	forget(c, receive(c, 4))
	if got := receive(c, 3); got != nil {
		t.Errorf("polls brought %d messages that no event told of: lookAgain is not needed any more", len(got))
	}
	c.Close(context.Background())

	c = open(10 * time.Second)
	defer c.Close(context.Background())
	forget(c, receive(c, 4)) // which came because c joined
	if got := receive(c, 6); len(got) != 1 {
		t.Errorf("received %d messages in six polls, want the one that the broker forgot", len(got))
	}
}
