// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func insecureCreds() credentials.TransportCredentials { return insecure.NewCredentials() }

func TestStartPanicsWithAClearText(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // the subtests run after this function
	for name, tc := range map[string]struct {
		opts []embedded.Option
		want []string
	}{
		"a name that is not one":      {[]embedded.Option{embedded.WithLiteTopic("a b")}, []string{"WithLiteTopic", `"a b"`}},
		"a topic declared twice":      {[]embedded.Option{embedded.WithLiteTopic("a"), embedded.WithNormalTopic("a")}, []string{`"a"`, "LITE", "NORMAL"}},
		"a group declared twice":      {[]embedded.Option{embedded.WithNormalGroup("g"), embedded.WithNormalGroup("g")}, []string{`"g"`, "twice"}},
		"no proxies":                  {[]embedded.Option{embedded.WithProxies(0)}, []string{"WithProxies", "0"}},
		"an address that is not one":  {[]embedded.Option{embedded.WithListenAddress("nonsense")}, []string{"WithListenAddress", `"nonsense"`}},
		"a port for two proxies":      {[]embedded.Option{embedded.WithListenAddress("127.0.0.1:1"), embedded.WithProxies(2)}, []string{"WithListenAddress", "WithProxies"}},
		"a port that is taken":        {[]embedded.Option{embedded.WithListenAddress(taken.Addr().String())}, []string{"cannot listen", taken.Addr().String()}},
		"half a key pair":             {[]embedded.Option{embedded.WithCredentials("AK", "")}, []string{"WithCredentials"}},
		"polling bounds out of order": {[]embedded.Option{embedded.WithLongPolling(2, 1)}, []string{"WithLongPolling"}},
		"an unknown digest":           {[]embedded.Option{embedded.WithBodyDigest("MD4")}, []string{"WithBodyDigest", "MD4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				got := fmt.Sprint(recover())
				for _, w := range append(tc.want, "embedded.Start") {
					if !strings.Contains(got, w) {
						t.Errorf("panic %q does not name %q", got, w)
					}
				}
			}()
			embedded.Start(context.Background(), tc.opts...).Close()
		})
	}
}

func TestTheContextEndsTheBroker(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	b := embedded.Start(ctx, embedded.WithLiteTopic(bus))
	addr := b.Endpoints()
	cancel()
	if err := b.Wait(context.Background(), func(embedded.Snapshot) bool { return false }); err == nil {
		t.Error("Wait did not end with the broker")
	}
	b.Close() // waits for the end that the context began
	if conn, err := net.Dial("tcp", addr); err == nil {
		_ = conn.Close()
		t.Error("still listens")
	}
}

func TestAContextThatIsOverEndsTheBrokerAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := embedded.Start(ctx)
	if err := b.Wait(context.Background(), func(embedded.Snapshot) bool { return false }); err == nil {
		t.Error("Wait did not end with the broker")
	}
	b.Close()
}

func TestManyBrokersRunSideBySide(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b := embedded.Start(context.Background(), embedded.WithLiteTopic(bus), embedded.WithWildcardGroup(wild, bus))
			defer b.Close()
			body := fmt.Sprint(i)
			b.Publish(bus, "t1", []byte(body))
			c := consumer(t, b, "c1")
			c.ack(c.want(body)...)
		})
	}
	wg.Wait()
}

// 100 brokers with clients in mid-poll come and go, and leave no goroutine.
func TestStartAndCloseLeaveNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 100 {
		b := embedded.Start(context.Background(), embedded.WithLiteTopic(bus), embedded.WithWildcardGroup(wild, bus))
		c := dial(t, b, "c1")
		c.open()
		c.subscribe()
		b.Publish(bus, "t1", []byte("m"))
		c.want("m")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = c.receive(c.receiveRequest())
		}()
		wait(t, b, "the long poll", func(s embedded.Snapshot) bool { return s.LongPolls(wild) == 1 })
		b.Close()
		<-done
		_ = c.conn.Close()
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// A client that connects and says nothing must not hold Close up.
func TestCloseDoesNotWaitForASilentConnection(t *testing.T) {
	t.Parallel()
	b := embedded.Start(context.Background())
	conn, err := net.Dial("tcp", b.Endpoints())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	wait(t, b, "the connection", func(s embedded.Snapshot) bool { return s.Connections() == 1 })
	began := time.Now()
	b.Close()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Close took %v", took)
	}
}

// (C09) Every request of every type must be signed.
func TestUnsignedRequestsOfEveryTypeAreRefused(t *testing.T) {
	t.Parallel()
	const ak, sk = "AKTEST", "SKTEST"
	b := start(t, embedded.WithCredentials(ak, sk))
	b.Publish(bus, "t1", []byte("m"))
	right := dial(t, b, "c1")
	right.access, right.secret = ak, sk
	right.open()
	right.subscribe()
	msgs := right.want("m")
	for name, tc := range map[string]struct{ ak, sk, text string }{
		"no signature":    {"", "", "username cannot be null."},
		"a wrong secret":  {ak, "other", "check signature failed."},
		"an unknown user": {"other", sk, "User:other is not found."},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, b, "c1")
			c.access, c.secret = tc.ak, tc.sk
			for what, st := range everyRequest(c, msgs[0]) {
				wantCode(t, what, st, v2.Code_UNAUTHORIZED)
				if st.GetMessage() != tc.text {
					t.Errorf("%s: text %q, want %q", what, st.GetMessage(), tc.text)
				}
			}
		})
	}
	right.ack(msgs...)
}

// everyRequest sends one request of each type and returns the statuses.
func everyRequest(c *client, m *v2.Message) map[string]*v2.Status {
	c.t.Helper()
	out := map[string]*v2.Status{}
	put := func(what string, st *v2.Status, err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatalf("%s: %v", what, err)
		}
		out[what] = st
	}
	route, err := routeOf(c, patience)
	put("route", route.GetStatus(), err)
	hb, err := c.Heartbeat(c.ctx(patience), &v2.HeartbeatRequest{Group: res(wild)})
	put("heartbeat", hb.GetStatus(), err)
	put("sync", c.sync(v2.LiteSubscriptionAction_COMPLETE_ADD), nil)
	put("send", c.send(message(bus, "t1", "x", "x")).GetStatus(), nil)
	st, _, err := c.receive(c.receiveRequest())
	put("receive", st, err)
	put("ack", c.ackEntries(entry(m)).GetStatus(), nil)
	put("change", c.change(m, time.Minute, false).GetStatus(), nil)
	cmd, err := c.telemetry(c.settings())
	put("telemetry", cmd.GetStatus(), err)
	bye, err := c.NotifyClientTermination(c.ctx(patience), &v2.NotifyClientTerminationRequest{Group: res(wild)})
	put("termination", bye.GetStatus(), err)
	return out
}

// (L43, Y22, Y23) TLS on both sides, and plaintext against it.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, pool := selfSigned(t)
	b := start(t, embedded.WithTLS(&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}))
	good := dialAt(t, b, b.Endpoints(), "c1", credentials.NewClientTLSFromCert(pool, "localhost"))
	if _, err := routeOf(good, patience); err != nil {
		t.Errorf("over TLS: %v", err)
	}
	unknown := dialAt(t, b, b.Endpoints(), "c2", credentials.NewClientTLSFromCert(x509.NewCertPool(), "localhost"))
	if _, err := routeOf(unknown, patience); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "x509") {
		t.Errorf("unknown authority: %v", err)
	}
	if _, err := routeOf(dial(t, b, "c3"), patience); err == nil {
		t.Error("plaintext was answered by a TLS port")
	}
	b.Restart()
	if _, err := routeOf(dialAt(t, b, b.Endpoints(), "c4", credentials.NewClientTLSFromCert(pool, "localhost")), patience); err != nil {
		t.Errorf("over TLS after a restart: %v", err)
	}
}

func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// (N03) With a namespace only requests of that namespace find anything.
func TestANamespaceHidesItsTopicsFromOthers(t *testing.T) {
	t.Parallel()
	inNS := &v2.Resource{ResourceNamespace: "ns1", Name: bus}
	ask := func(b *embedded.Broker, r *v2.Resource) v2.Code {
		c := dial(t, b, "c1")
		got, err := c.QueryRoute(c.ctx(patience), &v2.QueryRouteRequest{Topic: r})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetStatus().GetCode()
	}
	with, without := start(t, embedded.WithNamespace("ns1")), start(t)
	if got := ask(with, inNS); got != v2.Code_OK {
		t.Errorf("in its namespace: %s", got)
	}
	if got := ask(with, res(bus)); got != v2.Code_TOPIC_NOT_FOUND {
		t.Errorf("in no namespace: %s", got)
	}
	if got := ask(without, inNS); got != v2.Code_OK {
		t.Errorf("where namespaces are ignored, as in 5.5.0: %s", got)
	}
}

func TestVerbsAreLogged(t *testing.T) {
	t.Parallel()
	var buf syncBuffer
	b := start(t, embedded.WithLogger(slog.New(slog.NewTextHandler(&buf, nil))))
	b.ExpireLeases()
	b.Busy(embedded.AckMessage, 3)
	for _, want := range []string{"leases expired", "busy for the next requests", "requests=3"} {
		if !strings.Contains(buf.String(), want) {
			t.Errorf("log %q lacks %q", buf.String(), want)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	s  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.s.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.s.String()
}
