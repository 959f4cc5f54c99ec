// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func TestWriteOptionsThatCannotWorkAreRefused(t *testing.T) {
	for want, opts := range map[string][]WriteOption{
		`WriteGuarantee: "twice"`: {WriteGuarantee("twice")},
		`topic "no topic"`:        {WriteTopic("no topic")},
		"topic is empty":          {WriteTopic("")},
		"has 128 characters":      {WriteTopic(strings.Repeat("t", 128))},
		`tag "a|b"`:               {WriteTag("a|b")},
		`group "a b"`:             {WriteGroup("a b")},
		"WriteSendTimeout: 0s":    {WriteSendTimeout(0)},
		"WriteRetries: -1":        {WriteRetries(-1)},
		"WritePendingMax: 0":      {WritePendingMax(0)},
		"WritePatience: 0s":       {WritePatience(0)},
		"batch of 0 messages":     {WriteBatch(0, 1<<20)},
		"WriteLinger: -1ns":       {WriteLinger(-1)},
		"step 0":                  {WriteCongestion(0, 0.5, 0)},
		"factor 1":                {WriteCongestion(1, 1, 0)},
		"tolerance 1":             {WriteCongestion(1, 0.5, 1)},
		`policy "maybe"`:          {WriteUnsafe("maybe")},
		`status "SEND_OK"`:        {WriteUnsafe(FailUnsafe, StatusSendOK)},
		"WriteCredentials: the resolver's name is empty": {WriteCredentials("")},
		"secret key must not be empty":                   {WriteStaticCredentials("a", "")},
		"option 1 of 1 is nil":                           {nil},
		"WriteMaxBody: 0":                                {WriteMaxBody(0)},
		"WriteIdleClose: 0s":                             {WriteIdleClose(0)},
	} {
		if _, err := newWriteConfig("h:9876", opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if _, err := newWriteConfig("", nil); err == nil {
		t.Error("no name servers were accepted")
	}
	c, err := newWriteConfig("http://MQ_INST_1_abc.region.example.com:80", []WriteOption{WriteTopic(strings.Repeat("t", 127)), WriteMaxBody(1 << 10)})
	if err != nil || c.Namespace != "MQ_INST_1_abc" || c.BatchBytes != 1<<10 {
		t.Errorf("got %+v, %v, want the namespace of the host, and batches within the largest body", c, err)
	}
}

func TestWritePanicsWhileThePipelineIsBuilt(t *testing.T) {
	for want, build := range map[string]func(beam.Scope){
		"the input is of type int":            func(s beam.Scope) { Write(s, "h:1", beam.Create(s, 1)) },
		"give one with WriteTopic":            func(s beam.Scope) { Write(s, "h:1", beam.Create(s, coders.Message{})) },
		"the input is no PCollection of this": func(s beam.Scope) { Write(s, "h:1", beam.PCollection{}) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "rocketmqio.Write: ") || !strings.Contains(got, want) {
					t.Errorf("got %q, want a panic with %q", got, want)
				}
			}()
			_, s := beam.NewPipelineWithRoot()
			build(s)
		}()
	}
}

// full has something in each field.
var full = OutgoingMessage{
	Topic: "t", Tag: "tag", Keys: []string{"k1", "k2"}, Properties: map[string]string{"a": "1", "b": "", "ü": "\xa4"}, Body: []byte{0, 1},
	ShardingKey: "s", DelayLevel: 3, DeliverAt: time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC), UniqueKey: "u",
	Source: &Position{Queue{"t", "b", 7}, 1 << 41}, copied: true,
}

// B27: nothing of a record is lost in a shuffle.
func TestOutgoingMessagesAndResultsSurviveAShuffle(t *testing.T) {
	for _, m := range []OutgoingMessage{full, {}, {Body: []byte("x")}} {
		data, err := EncodeOutgoingMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeOutgoingMessage(data); err != nil || !got.Equal(m) || got.copied != m.copied {
			t.Errorf("got %+v, %v, want %+v", got, err, m)
		}
	}
	r := WriteResult{Topic: "t", UniqueKey: "u", Keys: []string{"k"}, Broker: "b", QueueID: 3, QueueOffset: 1 << 40, MessageID: "id",
		Status: StatusFlushDiskTimeout, Attempts: 2, Repeated: true, Error: "e", Message: &full, Source: full.Source}
	for _, r := range []WriteResult{r, {}} {
		data, err := EncodeWriteResult(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeWriteResult(data); err != nil || !got.Equal(r) {
			t.Errorf("got %+v, %v, want %+v", got, err, r)
		}
	}
	for typ, want := range map[reflect.Type]int{reflect.TypeFor[OutgoingMessage](): 11, reflect.TypeFor[WriteResult](): 14} {
		if typ.NumField() != want {
			t.Errorf("%v has %d fields: extend its coder and this test", typ, typ.NumField())
		}
	}
	if _, err := EncodeOutgoingMessage(OutgoingMessage{DeliverAt: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a time that does not fit was written")
	}
}

func TestDamagedAndForeignRecordsAreRefused(t *testing.T) {
	data, _ := EncodeOutgoingMessage(full)
	for n := range data {
		if m, err := DecodeOutgoingMessage(data[:n]); err == nil && m.Equal(full) && m.copied == full.copied || err != nil && !errors.Is(err, coders.ErrMalformed) {
			t.Errorf("%d of %d bytes: %+v, %v", n, len(data), m, err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":      {nil, coders.ErrMalformed},
		"the future":   {[]byte{8, 2}, coders.ErrVersion},
		"no version":   {[]byte{18, 1, 't'}, coders.ErrMalformed},
		"a half field": {[]byte{8, 1, 18, 9}, coders.ErrMalformed},
	} {
		if _, err := DecodeOutgoingMessage(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s as a message: %v, want %v", name, err, c.want)
		}
		if _, err := DecodeWriteResult(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s as a result: %v, want %v", name, err, c.want)
		}
	}
}

func FuzzDecodeOutgoingMessage(f *testing.F) {
	data, _ := EncodeOutgoingMessage(full)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeOutgoingMessage(data)
		if err != nil {
			if !errors.Is(err, coders.ErrMalformed) && !errors.Is(err, coders.ErrVersion) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		again, err := EncodeOutgoingMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := DecodeOutgoingMessage(again); err != nil || !same.Equal(m) || same.copied != m.copied {
			t.Fatalf("%+v came back as %+v, %v", m, same, err)
		}
	})
}

// A message that was read is passed on with what its producer gave it, and without
// what RocketMQ noted at it: else no sink would take it.
func TestAMessageThatWasReadCanBePassedOn(t *testing.T) {
	read := coders.Message{
		Topic: "from", Broker: "b", QueueID: 3, QueueOffset: 9, Tag: "tag", Keys: []string{"k"}, UniqueKey: "u", Body: []byte("x"),
		Properties: map[string]string{"colour": "red", "MSG_REGION": "DefaultRegion", "TRACE_ON": "true", "CLUSTER": "c", "WAIT": "true", "MIN_OFFSET": "0", "REAL_TOPIC": "t"},
	}
	want := OutgoingMessage{Tag: "tag", Keys: []string{"k"}, UniqueKey: "u", Body: []byte("x"), Properties: map[string]string{"colour": "red"},
		Source: &Position{Queue{"from", "b", 3}, 9}}
	got := Outgoing(read)
	if !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got.Topic = "to"
	if err := checkMessage(&got, DefaultMaxBody, false); err != nil {
		t.Error(err)
	}
}

// What brokers store of tags and keys is more than what consumers can select by. A
// copy is refused only for what cannot be written.
func TestWhatWasStoredCanBeCopied(t *testing.T) {
	stored := map[string]coders.Message{
		"a tag with a bar":              {Tag: "a|b"},
		"a tag with blanks at its ends": {Tag: " x "},
		"a tag that means all":          {Tag: "*"},
		"a tag with a tab":              {Tag: "a\tb"},
		"a key with white space":        {Keys: []string{"a b", "tab\tkey"}},
		"a unique key with separators":  {UniqueKey: "a, b"},
		"a name that is transient":      {Properties: map[string]string{"__RMQ.TRANSIENT.x": "1"}},
		"properties up to the limit":    {Properties: map[string]string{"p": strings.Repeat("x", 32767-len("p")-2-len("UNIQ_KEY")-len("u")-2)}, UniqueKey: "u"},
	}
	client, err := remoting.NewClient(remoting.Config{NameServers: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := &writeSession{client: client, cfg: writeConfig{Topic: "t", MaxBody: DefaultMaxBody}}
	for name, m := range stored {
		t.Run(name, func(t *testing.T) {
			m.Body = []byte("x")
			data, err := EncodeOutgoingMessage(Outgoing(m))
			if err != nil {
				t.Fatal(err)
			}
			copied, err := DecodeOutgoingMessage(data)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.convert(t.Context(), &written{message: copied}); err != nil {
				t.Errorf("the copy: %v", err)
			}
			fresh := Outgoing(m)
			fresh.copied = false
			if _, err := s.convert(t.Context(), &written{message: fresh}); err == nil {
				t.Error("a new message was taken")
			}
		})
	}
	for name, m := range map[string]coders.Message{
		"no UTF-8":                 {Tag: "\xa4"},
		"a separator in a key":     {Keys: []string{"a\x02b"}},
		"one in the unique key":    {UniqueKey: "a\x01b"},
		"no UTF-8 there":           {UniqueKey: "\xa4"},
		"more than can be written": {Properties: map[string]string{"p": strings.Repeat("x", 32767)}},
	} {
		m.Body = []byte("x")
		if _, err := s.convert(t.Context(), &written{message: Outgoing(m)}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestADelayAndATransactionDoNotGoTogether(t *testing.T) {
	m := OutgoingMessage{Topic: "t", Body: []byte("x"), DelayLevel: 1}
	if err := checkMessage(&m, DefaultMaxBody, true); err == nil || !strings.Contains(err.Error(), "a transaction") {
		t.Errorf("got %v", err)
	}
	m.DelayLevel = 0
	if err := checkMessage(&m, DefaultMaxBody, true); err != nil {
		t.Error(err)
	}
}

// Y10: tags follow the rules of brokers, which have no limit of length.
func TestTagsThatConsumersCanSelectByAreTaken(t *testing.T) {
	for _, tag := range []string{"", "a", strings.Repeat("t", 17), strings.Repeat("t", 128), "标签", "a b", "a*"} {
		if err := checkTag(tag); err != nil {
			t.Errorf("tag %q: %v", tag, err)
		}
	}
	for _, tag := range []string{"*", " a", "a ", "a||b", "a\nb", "\xa4"} {
		if checkTag(tag) == nil {
			t.Errorf("tag %q was taken", tag)
		}
	}
}

// L26: what each answer means for a message.
func TestAnswersAreJudged(t *testing.T) {
	answer := func(code int, class remoting.Class, text string) error {
		return fmt.Errorf("sending: %w", &remoting.Error{Code: code, Class: class, Err: errors.New(text)})
	}
	for _, c := range []struct {
		err  error
		want asyncsink.Judgement
	}{
		{answer(remoting.CodeSystemBusy, remoting.Throttled, ""), asyncsink.Congested},
		{answer(remoting.CodeFlowControl, remoting.Throttled, ""), asyncsink.Congested},
		{answer(remoting.CodeSystemError, remoting.Throttled, "timer message is under flow control"), asyncsink.Congested},
		{answer(remoting.CodeSystemError, remoting.Transient, "UNKNOWN_ERROR"), asyncsink.Retry},
		{answer(remoting.CodeSystemError, remoting.Transient, "accurate timer message is not enabled, timerWheelEnable is false"), asyncsink.Final},
		{answer(remoting.CodeSystemError, remoting.Transient, "message body size exceeded"), asyncsink.Alone},
		{answer(remoting.CodeSystemError, remoting.Transient, "in-sync replicas not enough"), asyncsink.Wait},
		{answer(remoting.CodeMessageIllegal, remoting.Permanent, ""), asyncsink.Alone},
		{answer(remoting.CodeServiceNotAvailable, remoting.Transient, ""), asyncsink.Wait},
		{answer(remoting.CodeTopicNotExist, remoting.NoRoute, ""), asyncsink.Wait},
		{answer(remoting.CodeNotLeaderForQueue, remoting.NoRoute, ""), asyncsink.Wait},
		{answer(remoting.CodeNoPermission, remoting.Permanent, "AuthorizationException"), asyncsink.Final},
		{answer(remoting.CodeNoPermission, remoting.Permanent, "the broker[1.2.3.4] sending message is forbidden"), asyncsink.Wait},
		{answer(remoting.CodeInvalidParameter, remoting.Permanent, "request queueId[9] is illegal"), asyncsink.Retry},
		{answer(remoting.CodeVersionNotSupported, remoting.Permanent, ""), asyncsink.Final},
		{answer(0, remoting.Permanent, "certificate"), asyncsink.Final},
		{answer(0, remoting.Transient, "EOF"), asyncsink.Retry},
		{&missingTopic{answer(remoting.CodeTopicNotExist, remoting.NoRoute, "")}, asyncsink.Final},
		{&unsafeStatus{StatusFlushDiskTimeout, FailUnsafe}, asyncsink.Final},
		{&unsafeStatus{StatusFlushDiskTimeout, RetryUnsafe}, asyncsink.Retry},
		{errNoQueue, asyncsink.Wait},
		{fmt.Errorf("x: %w", asyncsink.ErrTimeout), asyncsink.TimedOut},
	} {
		if got := judgeSend(c.err); got != c.want {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	client, err := remoting.NewClient(remoting.Config{NameServers: "127.0.0.1:1"})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	s := &writeSession{client: client, cfg: writeConfig{Topic: "t", MaxBody: DefaultMaxBody}}
	body := make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.convert(b.Context(), &written{message: OutgoingMessage{Body: body}}); err != nil {
			b.Fatal(err)
		}
	}
}
