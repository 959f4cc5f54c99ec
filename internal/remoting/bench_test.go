// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bufio"
	"bytes"
	"testing"
	"time"
)

// pullBody is the body of a pull of 32 messages of 1 KiB, with the properties
// that a client and the broker give them.
func pullBody() []byte {
	m := sample()
	m.Topic, m.Body = "some-topic-of-usual-length", bytes.Repeat([]byte("x"), 1024)
	m.Properties = "CLUSTER\x01DefaultCluster\x02KEYS\x01order-123456\x02TAGS\x01TagA\x02UNIQ_KEY\x017F0000010B6718B4AAC2574A4E5D0000\x02WAIT\x01true\x02"
	var b []byte
	for range 32 {
		b = AppendMessage(b, &m)
		m.QueueOffset++
	}
	return b
}

func perMessage(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/msg")
}

func BenchmarkDecodePull(b *testing.B) {
	body := pullBody()
	var d Decoder
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if got, err := d.Messages(body); len(got) != 32 || err != nil {
			b.Fatal(len(got), err)
		}
	}
	perMessage(b)
}

func BenchmarkDecodePullAndTags(b *testing.B) {
	body := pullBody()
	var d Decoder
	b.ReportAllocs()
	for b.Loop() {
		got, _ := d.Messages(body)
		for i := range got {
			if got[i].Tag() != "TagA" {
				b.Fatal(got[i].Tag())
			}
		}
	}
	perMessage(b)
}

func BenchmarkDecodePullAndPropertyMaps(b *testing.B) {
	body := pullBody()
	var d Decoder
	b.ReportAllocs()
	for b.Loop() {
		got, _ := d.Messages(body)
		for i := range got {
			if len(got[i].Properties.Map()) != 5 {
				b.Fatal(got[i].Properties)
			}
		}
	}
	perMessage(b)
}

func BenchmarkFrameOfAPullAnswer(b *testing.B) {
	frame, err := AppendCommand(nil, &Command{Language: "JAVA", Version: 513, Opaque: 12345, Flag: 1, Remark: "FOUND", Body: pullBody(),
		Fields: map[string]string{"suggestWhichBrokerId": "0", "nextBeginOffset": "1032", "minOffset": "0", "maxOffset": "300000",
			"topicSysFlag": "0", "groupSysFlag": "0"}}, DefaultMaxFrame)
	if err != nil {
		b.Fatal(err)
	}
	src := bytes.NewReader(nil)
	br := bufio.NewReaderSize(src, 64<<10)
	r := NewReader(br, DefaultMaxFrame)
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(frame)
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
	perMessage(b)
}

func BenchmarkFrameOfASend(b *testing.B) {
	c, err := NewClient(Config{NameServers: "ns:1"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	m := &OutMessage{Body: make([]byte, 1024), Properties: PropertiesOf(PropertyTags, "TagA", PropertyKeys, "order-1")}
	born := time.Now()
	var frame []byte
	b.ReportAllocs()
	for b.Loop() {
		_, e, flag, err := c.prepare(m, "producers")
		if err != nil {
			b.Fatal(err)
		}
		cmd := &Command{Code: codeSendV2, Language: ownLanguage, Body: e.Body,
			Fields: c.sendFields(shortNames, testQueue, "producers", flag, born, 0, e.Properties, false)}
		if frame, err = AppendCommand(frame[:0], cmd, DefaultMaxFrame); err != nil {
			b.Fatal(err)
		}
	}
}
