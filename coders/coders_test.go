// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

func sampleHandle() ReceiptHandle {
	return ReceiptHandle{
		Endpoints: "127.0.0.1:8081", Namespace: "ns", ConsumerGroup: "beam-agents", Topic: "agent-bus",
		LiteTopic: "session-7", MessageID: "01AB", Handle: "0 1 2 3", DeliveryAttempt: 2,
		InvisibleUntil: time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC),
	}
}

func sampleMessage() AckableMessage {
	return AckableMessage{
		Body: []byte("hello"), Keys: []string{"k1", "k2"}, Tag: "paid",
		Properties: map[string]string{"a": "1", "b": "2"},
		BornTime:   time.Date(2026, 11, 30, 11, 0, 0, 1, time.UTC),
		StoreTime:  time.Date(2026, 11, 30, 11, 0, 1, 0, time.UTC),
		BornHost:   "host-1", QueueOffset: 42, Handle: sampleHandle(),
	}
}

func mustEncode(t testing.TB, m AckableMessage) []byte {
	t.Helper()
	data, err := EncodeAckableMessage(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What version 1 wrote once, every later release must read, and this one must
// write again to the letter.
func TestVersion1ReadsAndWritesTheSameBytesForEver(t *testing.T) {
	const golden = "08011251120e3132372e302e302e313a383038311a026e73220b6265616d2d6167656e74732a096167656e742d627573320973657373696f6e2d373a0430314142420730203120322033480251154dc041ddd0ec181a026b311a026b322204706169642a060a01611201312a060a01621201323101e0ab0997cdec183900aa464597cdec184206686f73742d31482a720568656c6c6f7801"
	if got := hex.EncodeToString(mustEncode(t, sampleMessage())); got != golden {
		t.Errorf("encoding changed:\n got %s\nwant %s", got, golden)
	}
	old, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeAckableMessage(old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sampleMessage(), m); diff != "" {
		t.Errorf("golden record reads differently (-want +got):\n%s", diff)
	}
}

// The coder that Beam finds for the type must carry every field, also those a
// later change adds (B27: unexported or forgotten fields are lost in silence).
func TestRegisteredCoderCarriesEveryField(t *testing.T) {
	m := sampleMessage()
	for _, v := range []reflect.Value{reflect.ValueOf(m), reflect.ValueOf(m.Handle)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Fatalf("the sample leaves %s.%s empty, so this test cannot see it", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
	if got := throughBeam(t, m); !cmp.Equal(m, got) {
		t.Errorf("AckableMessage (-want +got):\n%s", cmp.Diff(m, got))
	}
	if got := throughBeam(t, m.Handle); !cmp.Equal(m.Handle, got) {
		t.Errorf("ReceiptHandle (-want +got):\n%s", cmp.Diff(m.Handle, got))
	}
}

func throughBeam[T any](t *testing.T, v T) T {
	t.Helper()
	var buf strings.Builder
	if err := beam.NewElementEncoder(reflect.TypeFor[T]()).Encode(v, &buf); err != nil {
		t.Fatal(err)
	}
	got, err := beam.NewElementDecoder(reflect.TypeFor[T]()).Decode(strings.NewReader(buf.String()))
	if err != nil {
		t.Fatal(err)
	}
	return got.(T)
}

func TestAwkwardRecordsRoundTrip(t *testing.T) {
	big := make([]byte, 4<<20)
	for i := range big {
		big[i] = byte(rand.Uint32())
	}
	for name, m := range map[string]AckableMessage{
		"the zero record":                           {},
		"a nil body stays nil (W20)":                {Body: nil, Tag: "t"},
		"an empty body stays empty (W20)":           {Body: []byte{}, Tag: "t"},
		"a body of 4 MiB":                           {Body: big, Handle: sampleHandle()},
		"CJK and emoji in every text":               {Keys: []string{"键", "🔑"}, Tag: "标签", Properties: map[string]string{"属性": "值 🚀"}, Handle: ReceiptHandle{LiteTopic: "会话-🤖"}},
		"an empty key among the keys":               {Keys: []string{"", "a", ""}},
		"an empty property name and value":          {Properties: map[string]string{"": "", "x": ""}},
		"a negative offset and attempt":             {QueueOffset: -1, Handle: ReceiptHandle{DeliveryAttempt: -1}},
		"the first instant that fits":               {BornTime: firstInstant},
		"the last instant that fits":                {BornTime: lastInstant, StoreTime: time.Unix(0, 0)},
		"a handle of more than 127 bytes":           {Handle: ReceiptHandle{Handle: strings.Repeat("h", 300)}},
		"a handle of more than 16 KiB":              {Handle: ReceiptHandle{Handle: strings.Repeat("h", 20000)}},
		"a property of more than 127 bytes":         {Properties: map[string]string{"k": strings.Repeat("v", 500)}},
		"bytes in the body that look like a record": {Body: mustEncode(t, sampleMessage())},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeAckableMessage(mustEncode(t, m))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(m) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(m, got))
			}
		})
	}
}

func TestAnyRecordRoundTripsAndEqualRecordsGiveEqualBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		first, err := EncodeAckableMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeAckableMessage(first)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(m) {
			t.Fatalf("(-want +got):\n%s", cmp.Diff(m, got))
		}
		got.Properties = maps.Clone(got.Properties) // another order of iteration
		second, err := EncodeAckableMessage(got)
		if err != nil || !slices.Equal(first, second) {
			t.Fatalf("not deterministic (%v):\n%x\n%x", err, first, second)
		}
	})
}

func drawMessage(t *rapid.T) AckableMessage {
	text := rapid.String()
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "known") {
			return time.Unix(0, rapid.Int64().Draw(t, "ns"))
		}
		return time.Time{}
	})
	m := AckableMessage{
		Body: rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOf(rapid.Byte())).Draw(t, "body"),
		Keys: rapid.SliceOf(text).Draw(t, "keys"), Tag: text.Draw(t, "tag"),
		Properties: rapid.MapOf(text, text).Draw(t, "properties"),
		BornTime:   instant.Draw(t, "born"), StoreTime: instant.Draw(t, "store"),
		BornHost: text.Draw(t, "host"), QueueOffset: rapid.Int64().Draw(t, "offset"),
	}
	m.Handle = ReceiptHandle{
		Endpoints: text.Draw(t, "endpoints"), Namespace: text.Draw(t, "namespace"),
		ConsumerGroup: text.Draw(t, "group"), Topic: text.Draw(t, "topic"), LiteTopic: text.Draw(t, "lite"),
		MessageID: text.Draw(t, "id"), Handle: text.Draw(t, "handle"),
		DeliveryAttempt: rapid.Int32().Draw(t, "attempt"), InvisibleUntil: instant.Draw(t, "until"),
	}
	return m
}

func TestARecordCutShortIsAlwaysRefused(t *testing.T) {
	message := mustEncode(t, sampleMessage())
	handle, err := EncodeReceiptHandle(sampleHandle())
	if err != nil {
		t.Fatal(err)
	}
	for n := range message {
		if _, err := DecodeAckableMessage(message[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("message cut to %d of %d bytes: got error %v, want ErrMalformed", n, len(message), err)
		}
	}
	for n := range handle {
		if _, err := DecodeReceiptHandle(handle[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("handle cut to %d of %d bytes: got error %v, want ErrMalformed", n, len(handle), err)
		}
	}
}

func TestForeignBytesAreRefused(t *testing.T) {
	later := protowire.AppendVarint(protowire.AppendTag(nil, recordVersionField, protowire.VarintType), 2)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"JSON":                            {[]byte(`{"body":"x"}`), ErrMalformed},
		"no version at the front":         {appendEnd(nil), ErrMalformed},
		"a later version":                 {appendEnd(later), ErrVersion},
		"a version that is text":          {appendText(nil, recordVersionField, "1"), ErrMalformed},
		"a tag that is a number":          {appendEnd(appendInt(appendVersion(nil), messageTag, 7)), ErrMalformed},
		"a body that is a number":         {appendEnd(appendInt(appendVersion(nil), recordBody, 7)), ErrMalformed},
		"a time that is text":             {appendEnd(appendText(appendVersion(nil), messageBornTime, "x")), ErrMalformed},
		"a text that is not UTF-8":        {appendEnd(appendText(appendVersion(nil), messageTag, "\xa4")), ErrMalformed},
		"a length beyond the end":         {append(appendVersion(nil), 0x22, 0xff, 0xff, 0xff, 0xff, 0x0f), ErrMalformed},
		"an attempt of more than 32 bits": {appendEnd(withAttempt(1 << 40)), ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := DecodeAckableMessage(c.data); !errors.Is(err, c.want) {
				t.Errorf("got error %v, want %v", err, c.want)
			}
		})
	}
}

func withAttempt(n int64) []byte {
	buf, at := openNested(appendVersion(nil), messageHandle)
	return closeNested(appendInt(buf, handleAttempt, n), at)
}

func TestFieldsOfALaterMinorVersionAreSkippedAndAnyOrderIsRead(t *testing.T) {
	buf := appendVersion(nil)
	buf = appendText(buf, recordBody, "body first")
	buf = appendText(buf, 99, "new text")
	buf = protowire.AppendFixed32(protowire.AppendTag(buf, 100, protowire.Fixed32Type), 7)
	buf = appendText(buf, messageTag, "late tag")
	got, err := DecodeAckableMessage(appendEnd(buf))
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Body) != "body first" || got.Tag != "late tag" {
		t.Errorf("got body %q and tag %q", got.Body, got.Tag)
	}
}

func TestWhatTheSchemaCannotHoldIsRefusedWithItsName(t *testing.T) {
	for want, m := range map[string]AckableMessage{
		"AckableMessage.Tag":      {Tag: "\xa4"},
		"in Keys":                 {Keys: []string{"ok", "\xff"}},
		`in property "k"`:         {Properties: map[string]string{"k": "\xa4"}}, // S01
		"name of a property":      {Properties: map[string]string{"\xa4": "v"}},
		"AckableMessage.BornHost": {BornHost: "\xa4"},
		"ReceiptHandle.LiteTopic": {Handle: ReceiptHandle{LiteTopic: "\xa4"}},
	} {
		if _, err := EncodeAckableMessage(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that names %s", err, want)
		}
	}
}

// Whatever a producer says of when it made a message, the pipeline goes on.
func TestTimesThatDoNotFitBecomeTheNearestThatDo(t *testing.T) {
	early, late := time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(math.MaxInt64)
	data, err := EncodeAckableMessage(AckableMessage{BornTime: early, StoreTime: late, Handle: ReceiptHandle{InvisibleUntil: late}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeAckableMessage(data)
	if err != nil || !got.BornTime.Equal(firstInstant) || !got.StoreTime.Equal(lastInstant) || !got.Handle.InvisibleUntil.Equal(lastInstant) {
		t.Errorf("got %v, %v and %v, %v", got.BornTime, got.StoreTime, got.Handle.InvisibleUntil, err)
	}
	data, err = EncodeMessage(Message{BornTime: late, StoreTime: early})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := DecodeMessage(data); err != nil || !m.BornTime.Equal(lastInstant) || !m.StoreTime.Equal(firstInstant) {
		t.Errorf("got %v and %v, %v", m.BornTime, m.StoreTime, err)
	}
}

// Credentials have no place to stand in (X04a): the types hold texts, numbers
// and instants of the message only. A new field must be added here knowingly.
func TestNoFieldCanHoldCredentials(t *testing.T) {
	names := func(v any) (out []string) {
		for i := range reflect.TypeOf(v).NumField() {
			out = append(out, reflect.TypeOf(v).Field(i).Name)
		}
		return out
	}
	want := "Body Keys Tag Properties BornTime StoreTime BornHost QueueOffset Handle"
	if got := strings.Join(names(AckableMessage{}), " "); got != want {
		t.Errorf("AckableMessage has the fields %q, want %q", got, want)
	}
	want = "Endpoints Namespace ConsumerGroup Topic LiteTopic MessageID Handle DeliveryAttempt InvisibleUntil"
	if got := strings.Join(names(ReceiptHandle{}), " "); got != want {
		t.Errorf("ReceiptHandle has the fields %q, want %q", got, want)
	}
}

func TestAppendingToADecodedBodyLeavesTheRecordAlone(t *testing.T) {
	data := mustEncode(t, sampleMessage())
	m, err := DecodeAckableMessage(data)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(m.Body, "overwrite"...)
	if _, err := DecodeAckableMessage(data); err != nil {
		t.Errorf("appending to the body damaged the record: %v", err)
	}
}

func TestStringNamesTheMessageAndNotTheHandle(t *testing.T) {
	got := fmt.Sprint(sampleHandle())
	want := "message 01AB of agent-bus/session-7 (group beam-agents, attempt 2)"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
