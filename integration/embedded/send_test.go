// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/md5" //nolint:gosec // the protocol's checksum
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestSendRefusesWhatTheProxyRefuses(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithMaxBodySize(100))
	c := dial(t, b, "p1")
	for name, tc := range map[string]struct {
		change func(*v2.Message)
		want   v2.Code
	}{
		"an empty body":                         {func(m *v2.Message) { m.Body = nil }, v2.Code_MESSAGE_BODY_EMPTY},
		"a body above the limit (Y08)":          {func(m *v2.Message) { m.Body = make([]byte, 101) }, v2.Code_MESSAGE_BODY_TOO_LARGE},
		"no message id":                         {func(m *v2.Message) { m.SystemProperties.MessageId = " " }, v2.Code_ILLEGAL_MESSAGE_ID},
		"a lite topic of 65 characters":         {func(m *v2.Message) { *m.SystemProperties.LiteTopic = strings.Repeat("x", 65) }, v2.Code_ILLEGAL_LITE_TOPIC},
		"a lite topic with a dot":               {func(m *v2.Message) { *m.SystemProperties.LiteTopic = "a.b" }, v2.Code_ILLEGAL_LITE_TOPIC},
		"a blank lite topic":                    {func(m *v2.Message) { *m.SystemProperties.LiteTopic = " " }, v2.Code_ILLEGAL_LITE_TOPIC},
		"a normal message to a lite topic":      {func(m *v2.Message) { m.SystemProperties.LiteTopic = nil }, v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE},
		"a FIFO message to a lite topic":        {func(m *v2.Message) { g := "g"; m.SystemProperties.MessageGroup = &g }, v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE},
		"a delayed message to a lite topic":     {func(m *v2.Message) { m.SystemProperties.DeliveryTimestamp = timestamppb.Now() }, v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE},
		"a lite message to a normal topic":      {func(m *v2.Message) { m.Topic = res("orders") }, v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE},
		"a missing topic":                       {func(m *v2.Message) { m.Topic = res("missing") }, v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE},
		"a topic of 128 characters (Y07)":       {func(m *v2.Message) { m.Topic = res(strings.Repeat("t", 128)) }, v2.Code_ILLEGAL_TOPIC},
		"a property of the system":              {func(m *v2.Message) { m.UserProperties = map[string]string{"UNIQ_KEY": "x"} }, v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY},
		"a control character in a property":     {func(m *v2.Message) { m.UserProperties = map[string]string{"k": "a\nb"} }, v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY},
		"properties above 16 KiB (Y08)":         {func(m *v2.Message) { m.UserProperties = map[string]string{"k": strings.Repeat("v", 16<<10)} }, v2.Code_MESSAGE_PROPERTIES_TOO_LARGE},
		"a tag with a bar":                      {func(m *v2.Message) { tag := "a|b"; m.SystemProperties.Tag = &tag }, v2.Code_ILLEGAL_MESSAGE_TAG},
		"a blank key":                           {func(m *v2.Message) { m.SystemProperties.Keys = []string{" "} }, v2.Code_ILLEGAL_MESSAGE_KEY},
		"transactions, which are not built yet": {func(m *v2.Message) { m.SystemProperties.MessageType = v2.MessageType_TRANSACTION }, v2.Code_NOT_IMPLEMENTED},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := message(bus, "t1", "id-"+name, "body")
			tc.change(m)
			if got := c.send(m).GetStatus(); got.GetCode() != tc.want {
				t.Errorf("got %s %q, want %s", got.GetCode(), got.GetMessage(), tc.want)
			}
		})
	}
	t.Run("no messages", func(t *testing.T) {
		t.Parallel()
		wantCode(t, "send", c.send().GetStatus(), v2.Code_MESSAGE_CORRUPTED)
	})
	t.Run("messages of two topics", func(t *testing.T) {
		t.Parallel()
		wantCode(t, "send", c.send(message(bus, "t1", "i1", "x"), message("orders", "", "i2", "y")).GetStatus(), v2.Code_MESSAGE_CORRUPTED)
	})
}

func TestAMessageArrivesWithAllThatItWasSentWith(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	m := message(bus, "t1", "id-1", "body")
	tag, trace, born := "red", "trace", epoch().Add(-time.Hour)
	m.UserProperties = map[string]string{"k": "v", "ü": "ñ"}
	m.SystemProperties.Tag, m.SystemProperties.TraceContext = &tag, &trace
	m.SystemProperties.Keys = []string{"k1", "k2 k3"}
	m.SystemProperties.BornTimestamp, m.SystemProperties.BornHost = timestamppb.New(born), "here"
	r := c.send(m)
	wantCode(t, "send", r.GetStatus(), v2.Code_OK)
	if e := r.GetEntries(); len(e) != 1 || e[0].GetMessageId() != "id-1" || e[0].GetOffset() != 0 {
		t.Errorf("entries %v", e)
	}
	got := c.want("body")[0]
	sp := got.GetSystemProperties()
	if sp.GetTag() != tag || sp.GetTraceContext() != trace || sp.GetBornHost() != "here" || !sp.GetBornTimestamp().AsTime().Equal(born) {
		t.Errorf("system properties %v", sp)
	}
	if fmt.Sprint(sp.GetKeys()) != "[k1 k2 k3]" || len(sp.GetKeys()) != 3 {
		t.Errorf("keys %q, want three, for a blank separates them on the way", sp.GetKeys())
	}
	if p := got.GetUserProperties(); p["k"] != "v" || p["ü"] != "ñ" {
		t.Errorf("user properties %v", p)
	}
	if want := fmt.Sprintf("%X", md5.Sum([]byte("body"))); sp.GetBodyDigest().GetChecksum() != want || sp.GetBodyDigest().GetType() != v2.DigestType_MD5 { //nolint:gosec // the protocol's checksum
		t.Errorf("digest %v, want MD5 %s", sp.GetBodyDigest(), want)
	}
}

// The real broker files a batch under the main topic only.
func TestABatchOfLiteMessagesReachesNoLiteTopic(t *testing.T) {
	t.Parallel()
	b := start(t)
	c := consumer(t, b, "c1")
	r := c.send(message(bus, "t1", "i1", "x"), message(bus, "t1", "i2", "y"))
	wantCode(t, "send", r.GetStatus(), v2.Code_OK)
	if e := r.GetEntries(); len(e) != 1 || e[0].GetMessageId() != "i1,i2" {
		t.Errorf("entries %v, want one with both ids", e)
	}
	b.Publish(bus, "t1", []byte("alone"))
	c.want("alone")
	if n := len(b.Messages(bus)); n != 3 {
		t.Errorf("%d messages stored, want 3", n)
	}
}

func TestTheLiteTopicQuotaStopsNewLiteTopics(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithLiteTopicQuota(1))
	c := dial(t, b, "p1")
	wantCode(t, "the first", c.send(message(bus, "a", "i1", "x")).GetStatus(), v2.Code_OK)
	wantCode(t, "one more", c.send(message(bus, "b", "i2", "x")).GetStatus(), v2.Code_LITE_TOPIC_QUOTA_EXCEEDED)
	wantCode(t, "again to the first", c.send(message(bus, "a", "i3", "x")).GetStatus(), v2.Code_OK)
	b.DeleteLiteTopic(bus, "a")
	wantCode(t, "after it was deleted", c.send(message(bus, "b", "i4", "x")).GetStatus(), v2.Code_OK)
}

func TestPublishedBodiesCanBeCompressedOrSpoilt(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithBodyDigest(embedded.DigestSHA1))
	body := bytes.Repeat([]byte("abc"), 100)
	b.Publish(bus, "gzip", body, embedded.PublishCompressed(embedded.Gzip))
	b.Publish(bus, "zlib", body, embedded.PublishCompressed(embedded.Zlib))
	b.Publish(bus, "lz4", body, embedded.PublishCompressed(embedded.LZ4))
	b.Publish(bus, "zstd", body, embedded.PublishCompressed(embedded.Zstd))
	b.Publish(bus, "broken", body, embedded.PublishBrokenCompression())
	b.Publish(bus, "wrong", body, embedded.PublishWrongDigest(embedded.DigestMD5))
	b.Publish(bus, "crc", body, embedded.PublishDigest(embedded.DigestCRC32), embedded.PublishAttempt(5))
	c := consumer(t, b, "c1")
	_, msgs, err := c.receive(c.receiveRequest())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*v2.Message{}
	for _, m := range msgs {
		by[m.GetSystemProperties().GetLiteTopic()] = m
	}
	for _, l := range []string{"gzip", "zlib", "lz4", "zstd", "broken"} {
		if got := by[l].GetSystemProperties().GetBodyEncoding(); got != v2.Encoding_GZIP {
			t.Errorf("%s is announced as %s, want GZIP", l, got)
		}
	}
	zr, err := gzip.NewReader(bytes.NewReader(by["gzip"].GetBody()))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(zr); !bytes.Equal(got, body) {
		t.Error("the gzip body does not unpack to what was published")
	}
	lr, err := zlib.NewReader(bytes.NewReader(by["zlib"].GetBody()))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(lr); !bytes.Equal(got, body) {
		t.Error("the zlib body does not unpack to what was published")
	}
	right := fmt.Sprintf("%X", md5.Sum(body)) //nolint:gosec // the protocol's checksum
	if d := by["wrong"].GetSystemProperties().GetBodyDigest(); d.GetType() != v2.DigestType_MD5 || d.GetChecksum() == right {
		t.Errorf("the wrong digest reads %v", d)
	}
	if d := by["gzip"].GetSystemProperties().GetBodyDigest(); d.GetType() != v2.DigestType_SHA1 || len(d.GetChecksum()) != 40 {
		t.Errorf("the default digest reads %v, want SHA1", d)
	}
	if m := by["crc"]; m.GetSystemProperties().GetBodyDigest().GetType() != v2.DigestType_CRC32 || attempt(m) != 5 {
		t.Errorf("digest %v, attempt %d, want CRC32 and 5", m.GetSystemProperties().GetBodyDigest(), attempt(m))
	}
}

func TestRoutesListTheQueues(t *testing.T) {
	t.Parallel()
	b := start(t, embedded.WithQueues(3), embedded.WithFIFOTopic("fifo"), embedded.WithFIFOGroup("in-order"))
	c := dial(t, b, "c1")
	for topic, kind := range map[string]v2.MessageType{bus: v2.MessageType_LITE, "orders": v2.MessageType_NORMAL, "fifo": v2.MessageType_FIFO} {
		r, err := c.QueryRoute(c.ctx(patience), &v2.QueryRouteRequest{Topic: res(topic), Endpoints: c.endpoints()})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, topic, r.GetStatus(), v2.Code_OK)
		if len(r.GetMessageQueues()) != 3 {
			t.Fatalf("%s has %d queues, want 3", topic, len(r.GetMessageQueues()))
		}
		q := r.GetMessageQueues()[2]
		if q.GetId() != 2 || q.GetPermission() != v2.Permission_READ_WRITE || q.GetAcceptMessageTypes()[0] != kind {
			t.Errorf("%s: queue %v", topic, q)
		}
		if a := q.GetBroker().GetEndpoints().GetAddresses(); len(a) != 1 || fmt.Sprintf("%s:%d", a[0].GetHost(), a[0].GetPort()) != b.Endpoints() {
			t.Errorf("%s: broker at %v, want %s", topic, a, b.Endpoints())
		}
	}
	r, err := c.QueryRoute(c.ctx(patience), &v2.QueryRouteRequest{Topic: res("missing")})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "missing", r.GetStatus(), v2.Code_TOPIC_NOT_FOUND)
	for group, want := range map[string]int{"workers": 1, "in-order": 3} {
		a, err := c.QueryAssignment(c.ctx(patience), &v2.QueryAssignmentRequest{Topic: res("fifo"), Group: res(group)})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.GetAssignments()) != want {
			t.Errorf("group %s has %d assignments, want %d", group, len(a.GetAssignments()), want)
		}
	}
}
