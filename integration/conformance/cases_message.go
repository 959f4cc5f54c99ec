// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"compress/zlib"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// messageCases are about what of a message comes out again.
func messageCases() []testCase {
	return []testCase{
		{
			name: "id, keys, tag, properties, born time and host of a message come out as they went in (S05, Y09)",
			run: func(s *scene) {
				c := s.consumer()
				m := c.message("lt", "a")
				p := m.SystemProperties
				tag, born := "tag", time.UnixMilli(1700000000123)
				p.Tag, p.Keys, p.BornTimestamp = &tag, []string{"k1", "k2"}, timestamppb.New(born)
				m.UserProperties = map[string]string{"u": "hi", "empty-ish": " ", "unicode": "héllo 世界 🚀"}
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_OK, "OK")
				got := c.mustReceive()[0]
				g := got.GetSystemProperties()
				if diff := cmp.Diff([]string{"k1", "k2"}, g.GetKeys()); diff != "" {
					s.Errorf("keys (-want +got):\n%s", diff)
				}
				if g.GetTag() != "tag" || g.GetMessageId() != p.GetMessageId() || g.GetBornHost() != "case-host" {
					s.Errorf("got tag %q, id %q, born host %q, want tag, %q, case-host", g.GetTag(), g.GetMessageId(), g.GetBornHost(), p.GetMessageId())
				}
				if !g.GetBornTimestamp().AsTime().Equal(born) {
					s.Errorf("got born time %v, want %v", g.GetBornTimestamp().AsTime(), born)
				}
				if g.GetMessageType() != v2.MessageType_LITE || g.GetLiteTopic() != "lt" {
					s.Errorf("got type %v and lite topic %q, want LITE and lt", g.GetMessageType(), g.GetLiteTopic())
				}
				for k, want := range m.GetUserProperties() {
					if got.GetUserProperties()[k] != want {
						s.Errorf("property %q: got %q, want %q", k, got.GetUserProperties()[k], want)
					}
				}
			},
		},
		{
			// The proxy hides the properties that it knows as the system's, and
			// does not know this one.
			name: "a received lite message has the user's properties and one of the broker's own",
			run: func(s *scene) {
				c := s.consumer()
				m := c.message("lt", "a")
				m.UserProperties = map[string]string{"u": "hi"}
				c.send(m)
				want := map[string]string{"u": "hi", "INNER_MULTI_DISPATCH": "%LMQ%$" + s.topic + "$lt"}
				if diff := cmp.Diff(want, c.mustReceive()[0].GetUserProperties()); diff != "" {
					s.Errorf("user properties (-want +got):\n%s", diff)
				}
			},
		},
		{
			name: "a key with a blank comes out as two keys (Y09)",
			run: func(s *scene) {
				c := s.consumer()
				m := c.message("lt", "a")
				m.SystemProperties.Keys = []string{"k1 k2", "k3"}
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_OK, "OK")
				if diff := cmp.Diff([]string{"k1", "k2", "k3"}, c.mustReceive()[0].GetSystemProperties().GetKeys()); diff != "" {
					s.Errorf("keys (-want +got):\n%s", diff)
				}
			},
		},
		{
			name: "a message tells its store time, store host, offset and attempt, and not its invisible duration",
			run: func(s *scene) {
				c := s.consumer()
				before := s.broker.Now().Add(-time.Second)
				got := c.mustBatch("lt", "a")[0].GetSystemProperties()
				if at := got.GetStoreTimestamp().AsTime(); at.Before(before) || at.After(s.broker.Now().Add(time.Second)) {
					s.Errorf("got store time %v, want now, %v", at, s.broker.Now())
				}
				if got.GetStoreHost() == "" || got.DeliveryAttempt == nil || got.QueueOffset == nil {
					s.Errorf("got store host %q, attempt %v, offset %v, want all", got.GetStoreHost(), got.DeliveryAttempt, got.QueueOffset)
				}
				// What the receive asked for does not come back in the message.
				if got.InvisibleDuration != nil {
					s.Errorf("got invisible duration %v, want none", got.GetInvisibleDuration().AsDuration())
				}
			},
		},
		{
			// So the two cannot be compared, and neither tells how many
			// messages a lite topic has before this one is received.
			name: "a received message's offset counts within its lite topic, that of a send's answer within a queue of the main topic",
			run: func(s *scene) {
				c := s.consumer()
				last := int64(0)
				for i := range 20 { // more than the topic has queues
					answer := c.send(c.message(fmt.Sprintf("lt-%d", i), "a"))
					last = max(last, answer.GetEntries()[0].GetOffset())
				}
				if last == 0 {
					s.Error("got offset 0 from every send, want more where two lite topics share a queue")
				}
				for _, m := range c.mustReceiveAll(20) {
					if n := m.GetSystemProperties().GetQueueOffset(); n != 0 {
						s.Errorf("got offset %d for the first message of a lite topic, want 0", n)
					}
				}
			},
		},
		{
			name: "a handle's own times are the pop and the invisible duration in milliseconds",
			run: func(s *scene) {
				c := s.consumer()
				before := s.broker.Now()
				got := c.mustBatch("lt", "a")
				s.wantWithin("the deadline in the handle", deadline(s, got[0]).Sub(before), invisible-time.Second, invisible+slack)
			},
		},
		{
			// Whatever the sender put there: the proxy makes its own.
			name: "a received message has an MD5 digest of its body in upper-case hexadecimal digits, whatever digest was sent",
			run: func(s *scene) {
				c := s.consumer()
				m := c.message("lt", "a")
				m.SystemProperties.BodyDigest = &v2.Digest{Type: v2.DigestType_CRC32, Checksum: "00000000"}
				c.send(m)
				sum := md5.Sum([]byte("a"))
				want := strings.ToUpper(hex.EncodeToString(sum[:]))
				d := c.mustReceive()[0].GetSystemProperties().GetBodyDigest()
				if d.GetType() != v2.DigestType_MD5 || d.GetChecksum() != want {
					s.Errorf("got digest %v %q, want MD5 %q", d.GetType(), d.GetChecksum(), want)
				}
			},
		},
		{
			name: "a body that was sent as GZIP comes out as it was sent",
			run: func(s *scene) {
				c := s.consumer()
				var packed bytes.Buffer
				z := zlib.NewWriter(&packed)
				plain := strings.Repeat("hello ", 1000)
				_, _ = z.Write([]byte(plain))
				_ = z.Close()
				m := c.message("lt", packed.String())
				m.SystemProperties.BodyEncoding = v2.Encoding_GZIP
				s.wantStatus("send", c.send(m).GetStatus(), v2.Code_OK, "OK")
				got := c.mustReceive()[0]
				if got.GetSystemProperties().GetBodyEncoding() != v2.Encoding_GZIP || !bytes.Equal(got.GetBody(), packed.Bytes()) {
					s.Errorf("got encoding %v and %d bytes, want GZIP and the %d bytes sent", got.GetSystemProperties().GetBodyEncoding(), len(got.GetBody()), packed.Len())
				}
			},
		},
		{
			name: "a big plain body comes out plain (L25)",
			run: func(s *scene) {
				c := s.consumer()
				plain := strings.Repeat("hello ", 100000)
				c.mustSend("lt", plain)
				got := c.mustReceive()[0]
				if got.GetSystemProperties().GetBodyEncoding() != v2.Encoding_IDENTITY || string(got.GetBody()) != plain {
					s.Errorf("got encoding %v and %d bytes, want IDENTITY and %d", got.GetSystemProperties().GetBodyEncoding(), len(got.GetBody()), len(plain))
				}
			},
		},
	}
}
