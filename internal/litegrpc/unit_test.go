// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func TestEndpointsAreReadAndWritten(t *testing.T) {
	for in, want := range map[string]string{
		"h:1":              "h:1",
		" h:1 ; i:2 ":      "h:1;i:2",
		"h:1,i:2;":         "h:1;i:2",
		"[::1]:8081":       "[::1]:8081",
		"rmq.example:8080": "rmq.example:8080",
	} {
		got, err := ParseEndpoints(in)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	scheme := func(s string) v2.AddressScheme {
		e, err := ParseEndpoints(s)
		if err != nil {
			t.Fatal(err)
		}
		return e.proto().GetScheme()
	}
	if scheme("127.0.0.1:1") != v2.AddressScheme_IPv4 || scheme("[::1]:1") != v2.AddressScheme_IPv6 || scheme("127.0.0.1:1;h:2") != v2.AddressScheme_DOMAIN_NAME {
		t.Error("wrong address schemes")
	}
}

// The signature as the proxy computes it; this one was made with openssl dgst
// -sha1 -hmac SK over 20261130T120000Z.
func TestRequestsAreSigned(t *testing.T) {
	at := time.Date(2026, 11, 30, 13, 0, 0, 0, time.FixedZone("east", 3600))
	md, _ := metadata.FromOutgoingContext(sign(t.Context(), "id", "ns", auth.Keys{AccessKey: "AK", SecretKey: "SK", SecurityToken: "T"}, at))
	want := map[string]string{
		"x-mq-language": "GO", "x-mq-client-id": "id", "x-mq-namespace": "ns", "x-mq-date-time": "20261130T120000Z", "x-mq-session-token": "T",
		"authorization": "MQv2-HMAC-SHA1 Credential=AK//Rocketmq, SignedHeaders=x-mq-date-time, Signature=a10d7132509b948a68f9ed0cc68617c4669099ac",
	}
	for k, v := range want {
		if got := strings.Join(md.Get(k), ","); got != v {
			t.Errorf("%s: got %q, want %q", k, got, v)
		}
	}
	md, _ = metadata.FromOutgoingContext(sign(t.Context(), "id", "", auth.Keys{}, at))
	if len(md.Get("authorization")) != 0 {
		t.Error("signed without keys")
	}
}

func compressed(t *testing.T, format string, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w interface {
		Write([]byte) (int, error)
		Close() error
	}
	switch format {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zlib":
		w = zlib.NewWriter(&out)
	case "lz4":
		w = lz4.NewWriter(&out)
	default:
		var err error
		if w, err = zstd.NewWriter(&out); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// L25, and each algorithm that producers of RocketMQ use.
func TestCompressedBodiesOfEachKindAreRead(t *testing.T) {
	body := bytes.Repeat([]byte("tenant "), 100_000)
	for _, format := range []string{"gzip", "zlib", "lz4", "zstd"} {
		packed := compressed(t, format, body)
		got, err := decompress(v2.Encoding_GZIP, packed)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: %d bytes, %v", format, len(got), err)
		}
		if _, err := decompress(v2.Encoding_GZIP, packed[:len(packed)/2]); err == nil {
			t.Errorf("%s: half a body was read", format)
		}
	}
	if _, err := decompress(v2.Encoding_GZIP, []byte("plain")); err == nil {
		t.Error("a body that is not compressed was decompressed")
	}
	if got, err := decompress(v2.Encoding_IDENTITY, []byte("plain")); err != nil || string(got) != "plain" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestABodyThatGrowsTooLargeIsRefused(t *testing.T) {
	bomb := compressed(t, "zstd", make([]byte, maxBody+1))
	if _, err := decompress(v2.Encoding_GZIP, bomb); err == nil {
		t.Error("it was read")
	}
}

func TestChecksums(t *testing.T) {
	for name, c := range map[string]struct {
		kind v2.DigestType
		sum  string
		ok   bool
	}{
		"CRC-32":                   {v2.DigestType_CRC32, "3610A686", true},
		"CRC-32 in small letters":  {v2.DigestType_CRC32, "3610a686", true},
		"CRC-32 with leading zero": {v2.DigestType_CRC32, "03610A686", true},
		"a wrong CRC-32":           {v2.DigestType_CRC32, "3610A687", false},
		"MD5":                      {v2.DigestType_MD5, "5D41402ABC4B2A76B9719D911017C592", true},
		"a wrong MD5":              {v2.DigestType_MD5, "5D41402ABC4B2A76B9719D911017C593", false},
		"SHA-1":                    {v2.DigestType_SHA1, "AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D", true},
		"an empty SHA-1":           {v2.DigestType_SHA1, "", false},
		"a kind of later versions": {v2.DigestType(99), "x", true},
		"none":                     {v2.DigestType_DIGEST_TYPE_UNSPECIFIED, "", true},
	} {
		if err := checkDigest(&v2.Digest{Type: c.kind, Checksum: c.sum}, []byte("hello")); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func queueAt(broker, host string, port int32, p v2.Permission) *v2.MessageQueue {
	return &v2.MessageQueue{Permission: p, Broker: &v2.Broker{Name: broker, Endpoints: &v2.Endpoints{Addresses: []*v2.Address{{Host: host, Port: port}}}}}
}

// A proxy behind a port forward answers with its own port; one in local mode
// with addresses of its own.
func TestTheRouteKeepsToTheEndpointsAsked(t *testing.T) {
	asked := Endpoints{{"127.0.0.1", 18081}, {"127.0.0.1", 18082}}
	r := newRoute([]*v2.MessageQueue{
		queueAt("a", "127.0.0.1", 8081, v2.Permission_READ_WRITE),
		queueAt("a", "127.0.0.1", 8081, v2.Permission_READ_WRITE),
		queueAt("b", "10.1.1.1", 8081, v2.Permission_READ),
		queueAt("c", "10.1.1.1", 8081, v2.Permission_WRITE),
		queueAt("d", "10.1.1.1", 8081, v2.Permission_NONE),
	}, asked)
	if diff := cmp.Diff([]Address{{"127.0.0.1", 18081}, {"127.0.0.1", 18082}, {"10.1.1.1", 8081}}, r.addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if len(r.readable) != 2 || len(r.writable) != 2 {
		t.Errorf("%d readable and %d writable brokers, want 2 and 2", len(r.readable), len(r.writable))
	}
}

func TestTextsThatMeanMoreThanTheirCode(t *testing.T) {
	for text, c := range map[string]struct {
		code v2.Code
		want Class
	}{
		"java.lang.NullPointerException: Cannot invoke": {v2.Code_INTERNAL_SERVER_ERROR, SessionLost},
		"The client [x] is disconnected.":               {v2.Code_BAD_REQUEST, SessionLost},
		"too many unacked messages":                     {v2.Code_FORBIDDEN, Throttled},
		"Parse failed":                                  {v2.Code_INTERNAL_SERVER_ERROR, HandleMalformed},
		"subscription bind topic not match":             {v2.Code_INTERNAL_SERVER_ERROR, Permanent},
		"whatever":                                      {v2.Code_INTERNAL_SERVER_ERROR, Transient},
		"something new":                                 {v2.Code(59999), Transient},
	} {
		if got := ClassOf(answered("op", &v2.Status{Code: c.code, Message: text})); got != c.want {
			t.Errorf("%q: %v, want %v", text, got, c.want)
		}
	}
	if err := answered("op", nil); ClassOf(err) != Transient || err == nil {
		t.Errorf("no status at all: %v", err)
	}
}

func TestErrorsOfTheTransport(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Class
		says string
	}{
		"cancelled by us":      {context.Canceled, Transient, ""},
		"too large an answer":  {status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)"), Permanent, "limit of message size"},
		"asked to slow down":   {status.Error(codes.ResourceExhausted, "quota"), Throttled, ""},
		"no such service":      {status.Error(codes.Unimplemented, "unknown service"), Permanent, "no RocketMQ 5.x proxy"},
		"keys refused":         {status.Error(codes.Unauthenticated, "x"), Permanent, "access key"},
		"a broken connection":  {status.Error(codes.Unavailable, "connection error"), Transient, ""},
		"the wrong kind group": {status.Error(codes.InvalidArgument, "regular group cannot use LITE mode: g"), Permanent, "lite.bind.topic"},
	} {
		err := failed("op", c.err)
		if ClassOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v %v", name, ClassOf(err), err)
		}
	}
	if err := failed("op", status.Error(codes.Canceled, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
}

func TestMessageIDsAreOfTheUsualFormAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		ids := newMessageIDs()
		for range 100 {
			id := ids.next(idEpoch.Add(time.Hour))
			if len(id) != 34 || !strings.HasPrefix(id, "01") || seen[id] {
				t.Fatalf("id %q", id)
			}
			seen[id] = true
		}
	}
}

func TestAnAnswerThatLeavesAnEntryOutAckedNothing(t *testing.T) {
	b := startBroker(t)
	c := startConsumer(t, consumerConfig(t, b.Endpoints()))
	b.Publish(testTopic, "s", []byte("x"))
	h := receive(t, c, 1)[0].Handle
	leaveOut(b)
	err := c.Ack(t.Context(), testTopic, []coders.ReceiptHandle{h})[0]
	if ClassOf(err) != Transient || err == nil {
		t.Errorf("got %v", err)
	}
}

// L20, X22g: with two brokers and two proxies each proxy asks each broker.
func TestEachProxyAsksEachBroker(t *testing.T) {
	c := &Consumer{}
	c.route.Store(&route{
		addresses: []Address{{"h", 1}, {"h", 2}},
		readable:  []*v2.MessageQueue{queueAt("a", "h", 1, v2.Permission_READ), queueAt("b", "h", 1, v2.Permission_READ)},
	})
	pairs := map[string]int{}
	for n := range 40 {
		pairs[[]string{"proxy 1 ", "proxy 2 "}[n%2]+c.nextQueue().GetBroker().GetName()]++
	}
	if len(pairs) != 4 {
		t.Errorf("asked were %v", pairs)
	}
}

// While its only broker restarts, the proxy of RocketMQ 5.5.0 answers a session
// of a group that was there that it is not.
func TestAGroupThatWasThereMayComeBack(t *testing.T) {
	err := failed("opening a session", status.Error(codes.InvalidArgument, "process client telemetryCommand failed. group not found: g"))
	if got := ClassOf(err); got != Permanent {
		t.Errorf("of a group that nobody has seen: %v, want permanent", got)
	}
	if got := ClassOf(ofKnownName(err)); got != Transient {
		t.Errorf("of a group that was there: %v, want transient", got)
	}
	if !strings.Contains(err.Error(), "consumer group's name") {
		t.Errorf("the error does not say what to check: %v", err)
	}
}
