// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"math"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// delivered is what a proxy sends of a message, changed.
func delivered(id string, change func(*v2.Message)) *v2.ReceiveMessageResponse {
	m := &v2.Message{
		Topic: &v2.Resource{Name: testTopic}, Body: []byte(id),
		SystemProperties: &v2.SystemProperties{
			MessageId: id, ReceiptHandle: new("handle of " + id), LiteTopic: new("lite"), DeliveryAttempt: new(int32(1)),
			BornTimestamp: timestamppb.Now(), StoreTimestamp: timestamppb.Now(), InvisibleDuration: durationpb.New(lease),
		},
	}
	change(m)
	return &v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Message{Message: m}}
}

// receiveWith receives a message that was changed, between two that were not.
func receiveWith(t *testing.T, change func(*v2.Message)) Batch {
	t.Helper()
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	b.Control(embedded.ReceiveMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		ok := &v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{Status: &v2.Status{Code: v2.Code_OK}}}
		same := func(*v2.Message) {}
		return embedded.Answer(ok, delivered("first", same), delivered("odd", change), delivered("last", same))
	})
	batch, err := c.Receive(t.Context(), 32, lease, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func idsOf(msgs []coders.AckableMessage) (ids []string) {
	for _, m := range msgs {
		ids = append(ids, m.Handle.MessageID)
	}
	return ids
}

// What nobody could acknowledge does not reach the pipeline, and takes nothing
// else with it.
func TestAMessageThatCannotBeSettledIsCorrupt(t *testing.T) {
	for name, change := range map[string]func(*v2.Message){
		"no system properties": func(m *v2.Message) { m.SystemProperties = nil },
		"no receipt handle":    func(m *v2.Message) { m.SystemProperties.ReceiptHandle = nil },
		"an empty one":         func(m *v2.Message) { m.SystemProperties.ReceiptHandle = new("") },
		"no lite topic":        func(m *v2.Message) { m.SystemProperties.LiteTopic = nil },
	} {
		t.Run(name, func(t *testing.T) {
			batch := receiveWith(t, change)
			if diff := cmp.Diff([]string{"first", "last"}, idsOf(batch.Messages)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if len(batch.Corrupt) != 1 || batch.Corrupt[0].Err == nil {
				t.Errorf("corrupt are %+v, want one, with an error", batch.Corrupt)
			}
		})
	}
}

// Times of any year arrive, as near as records can hold them.
func TestAMessageOfAnyTimeCanBeEncoded(t *testing.T) {
	at := func(seconds int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: seconds} }
	year := func(y int) *timestamppb.Timestamp { return timestamppb.New(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)) }
	for name, c := range map[string]struct {
		at   *timestamppb.Timestamp
		year int
	}{
		"none": {year(1), 1}, "year 2": {year(2), 1677}, "1500": {year(1500), 1677}, "1700": {year(1700), 1700}, "2200": {year(2200), 2200},
		"9999": {year(9999), 2262}, "2^60 s": {at(1 << 60), 2262}, "the last second": {at(math.MaxInt64), 2262},
		"the first second": {at(math.MinInt64), 1677}, "far nanoseconds": {&timestamppb.Timestamp{Seconds: farthest, Nanos: math.MaxInt32}, 2262},
		"far nanoseconds before": {&timestamppb.Timestamp{Seconds: -farthest, Nanos: math.MinInt32}, 1677},
	} {
		var got coders.AckableMessage
		m := delivered("odd", func(m *v2.Message) { m.SystemProperties.BornTimestamp, m.SystemProperties.StoreTimestamp = c.at, c.at }).GetMessage()
		if err := fillMessage(&got, m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.BornTime.Year() != c.year || got.StoreTime.Year() != c.year {
			t.Errorf("%s: born %v, stored %v, want year %d", name, got.BornTime, got.StoreTime, c.year)
		}
		data, err := coders.EncodeAckableMessage(got)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := coders.DecodeAckableMessage(data); err != nil || !again.Equal(got) {
			t.Errorf("%s: became %v, %v", name, again, err)
		}
	}
}

// A lease that no broker grants counts as the one that was asked for.
func TestALeaseThatNoBrokerGrantsIsTheOneAskedFor(t *testing.T) {
	for name, d := range map[string]*durationpb.Duration{
		"2^60 s": {Seconds: 1 << 60}, "less than nothing": {Seconds: -5}, "none": nil, "a year": durationpb.New(365 * 24 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			batch := receiveWith(t, func(m *v2.Message) { m.SystemProperties.InvisibleDuration = d })
			if len(batch.Messages) != 3 {
				t.Fatalf("%d messages, want 3; corrupt are %+v", len(batch.Messages), batch.Corrupt)
			}
			until := batch.Messages[1].Handle.InvisibleUntil
			if until.Before(begin.Add(lease)) || until.After(time.Now().Add(lease)) {
				t.Errorf("the lease ends %v after the call, want %v", until.Sub(begin), lease)
			}
		})
	}
}
