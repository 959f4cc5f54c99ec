// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sampleQueueMessage() Message {
	return Message{
		Topic: "orders", Broker: "broker-a", QueueID: 3, QueueOffset: 42, MessageID: "7F00000100002A9F0000000000000400",
		UniqueKey: "AC11", Keys: []string{"k1", "k2"}, Tag: "paid", Properties: map[string]string{"a": "1", "b": "2"},
		Body: []byte("hello"), BornTime: time.Date(2026, 11, 30, 11, 0, 0, 1e6, time.UTC),
		StoreTime: time.Date(2026, 11, 30, 11, 0, 1, 0, time.UTC), BornHost: "127.0.0.1:4711", ReconsumeTimes: 1,
	}
}

func TestVersion1OfMessageStaysReadable(t *testing.T) {
	const golden = "080112066f72646572731a0862726f6b65722d612003282a322037463030303030313030303032413946303030303030303030303030303430303a044143313142026b3142026b324a047061696452060a016112013152060a0162120132594022bb0997cdec186100aa464597cdec186a0e3132372e302e302e313a34373131720568656c6c6f8001017801"
	data, err := EncodeMessage(sampleQueueMessage())
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(data); got != golden {
		t.Errorf("encoding changed:\n got %s\nwant %s", got, golden)
	}
	old, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeMessage(old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleQueueMessage(), m); diff != "" {
		t.Errorf("golden record reads differently (-want +got):\n%s", diff)
	}
}

// X27: queue, offset, id, times, keys and tags all travel.
func TestEveryFieldOfMessageTravels(t *testing.T) {
	m := sampleQueueMessage()
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("the sample leaves %s empty, so this test cannot see it", v.Type().Field(i).Name)
		}
	}
	if got := throughBeam(t, m); !cmp.Equal(m, got) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(m, got))
	}
	data, err := EncodeMessage(m)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := DecodeMessage(data[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut to %d of %d bytes: got error %v, want ErrMalformed", n, len(data), err)
		}
	}
	for want, m := range map[string]Message{"Message.Topic": {Topic: "\xa4"}, "in Keys": {Keys: []string{"\xa4"}}} {
		if _, err := EncodeMessage(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that names %s", err, want)
		}
	}
}

func TestAnyMessageRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		m := Message{
			Topic: text.Draw(t, "topic"), Broker: text.Draw(t, "broker"), QueueID: rapid.Int32().Draw(t, "queue"),
			QueueOffset: rapid.Int64().Draw(t, "offset"), MessageID: text.Draw(t, "id"), UniqueKey: text.Draw(t, "key"),
			Keys: rapid.SliceOf(text).Draw(t, "keys"), Tag: text.Draw(t, "tag"), Properties: rapid.MapOf(text, text).Draw(t, "properties"),
			Body:     rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOf(rapid.Byte())).Draw(t, "body"),
			BornTime: time.Unix(0, rapid.Int64().Draw(t, "born")), ReconsumeTimes: rapid.Int32().Draw(t, "times"),
		}
		data, err := EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeMessage(data)
		if err != nil || !got.Equal(m) {
			t.Fatalf("%v (-want +got):\n%s", err, cmp.Diff(m, got))
		}
	})
}
