// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race || plainbeam

package security

import (
	"context"
	"crypto/tls"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/testcert"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

// soon is within how long a wrong key or certificate must be told, and slack what
// prism takes on a busy machine until the transform is set up.
const (
	soon  = 10 * time.Second
	slack = 10 * time.Second
)

// fault is a way to be wrong.
type fault struct {
	what string
	// make makes it of a place where all is right.
	make func(place) place
	// say is what errors must hold one of.
	say []string
	// only are the transforms that it is about, all if empty.
	only []string
}

func keys(which string) func(place) place {
	return func(p place) place { p.keys = which; return p }
}

var wrongKeys = []fault{
	{what: "a wrong secret key", make: keys("wrong-secret"), say: []string{"secret key", "credentials"}},
	{what: "an unknown access key", make: keys("stranger"), say: []string{"access key", "credentials"}},
	{what: "no keys", make: keys("none"), say: []string{"credentials", "access key"}},
}

// TestEmbedded runs everything on embedded brokers. (C09, Y22, Y24)
func TestEmbedded(t *testing.T) {
	dir := t.TempDir()
	ours, ca := authority(t, dir)
	_, strangerCA := authority(t, t.TempDir())
	hour := time.Now().Add(time.Hour)
	good := startEmbedded(t, issue(t, ours, hour, "127.0.0.1"))
	good.tls = auth.TLS{Enabled: true, CAFile: ca}
	expired := startEmbedded(t, issue(t, ours, time.Now().Add(-time.Hour), "127.0.0.1"))
	other := startEmbedded(t, issue(t, ours, hour, "broker.example"))
	at := func(b place) func(place) place {
		return func(p place) place { p.endpoints, p.nameServers = b.endpoints, b.nameServers; return p }
	}
	certificate := []fault{
		{what: "a certificate of an unknown authority", say: []string{"certificate"},
			make: func(p place) place { p.tls.CAFile = strangerCA; return p }},
		{what: "a certificate that has expired", say: []string{"expired"}, make: at(expired)},
		{what: "a certificate for another host", say: []string{"broker.example", "127.0.0.1"}, make: at(other)},
		{what: "plain text where TLS is spoken", say: []string{"switch TLS on", "the server speaks TLS", "TLS on there and off here", "TLS may be on at one side only"},
			make: func(p place) place { p.tls = auth.TLS{}; return p }},
	}
	good.keys = "right"
	t.Run("right", func(t *testing.T) { right(t, good) })
	wrongs(t, good, append(certificate, wrongKeys...))
}

// TestReal runs what can be done on a RocketMQ with access control, whose proxy
// has a certificate of ours. Its broker makes its own one. (Y22, Y24)
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	dir := t.TempDir()
	ours, ca := authority(t, dir)
	_, strangerCA := authority(t, t.TempDir())
	certFile, keyFile, err := issue(t, ours, time.Now().Add(time.Hour), "127.0.0.1").Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	mq := realmqtest.Start(t, realmq.Authentication(user, secret), realmq.Certificate(certFile, keyFile))
	setUp(t, mq)
	plain := place{endpoints: mq.Endpoints(), nameServers: mq.NameServer(), keys: "right"}
	overTLS := plain
	overTLS.tls = auth.TLS{Enabled: true, CAFile: ca}
	lite := []string{"litegrpcio.Read", "litegrpcio.Write", "ackfn.Ack", "throttlefn.Throttle"}
	t.Run("right", func(t *testing.T) { right(t, plain) })
	t.Run("right over TLS", func(t *testing.T) { rightLite(t, overTLS) })
	wrongs(t, plain, wrongKeys)
	wrongs(t, overTLS, []fault{
		{what: "a certificate of an unknown authority", say: []string{"certificate"},
			make: func(p place) place { p.tls.CAFile = strangerCA; return p }},
		{what: "a certificate for another host", say: []string{"proxy.example"}, only: lite,
			make: func(p place) place { p.tls.ServerName = "proxy.example"; return p }},
	})
}

func setUp(t *testing.T, mq *realmq.Cluster) {
	t.Helper()
	for _, do := range []func(context.Context) error{
		func(ctx context.Context) error { return mq.CreateTopic(ctx, liteTopic, realmq.Lite) },
		func(ctx context.Context) error { return mq.CreateTopic(ctx, normalTopic, realmq.Normal) },
		func(ctx context.Context) error {
			return mq.CreateGroup(ctx, liteGroup, realmq.LiteBind(liteTopic), realmq.Wildcard())
		},
		func(ctx context.Context) error { return mq.CreateGroup(ctx, normalGroup) },
	} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// right wants all transforms to work: written is read, throttled and acknowledged.
func right(t *testing.T, p place) {
	rightLite(t, p)
	for _, name := range []string{"rocketmqio.Write", "rocketmqio.Read"} {
		if _, err := run(t, func(s beam.Scope) { transforms[name](s, p) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func rightLite(t *testing.T, p place) {
	if _, err := run(t, func(s beam.Scope) { transforms["litegrpcio.Write"](s, p) }); err != nil {
		t.Fatalf("writing: %v", err)
	}
	if _, err := run(t, func(s beam.Scope) { ack(s, p, throttle(s, p, readLite(s, p))) }); err != nil {
		t.Errorf("reading, throttling and acknowledging: %v", err)
	}
}

// wrongs wants each transform to fail soon with an error that says what to check.
func wrongs(t *testing.T, good place, faults []fault) {
	for _, f := range faults {
		t.Run(f.what, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(transforms)) {
				if len(f.only) > 0 && !slices.Contains(f.only, name) {
					continue
				}
				t.Run(name, func(t *testing.T) { // one at a time: prism races with itself over two jobs of a process
					fails(t, f, func(s beam.Scope) { transforms[name](s, f.make(good)) })
				})
			}
		})
	}
}

func fails(t *testing.T, f fault, build func(beam.Scope)) {
	took, err := run(t, build)
	if err == nil {
		t.Fatal("the pipeline ended without error")
	}
	t.Logf("%v: %v", took.Round(time.Millisecond), err)
	if took > soon+slack {
		t.Errorf("it took %v, want %v", took, soon)
	}
	if !slices.ContainsFunc(f.say, func(s string) bool { return strings.Contains(err.Error(), s) }) {
		t.Errorf("the error says none of %q: %v", f.say, err)
	}
	if err := holdsNone([]byte(err.Error()), nil); err != nil {
		t.Error("the error holds a secret")
	}
}

func startEmbedded(t *testing.T, c *testcert.Certificate) place {
	t.Helper()
	b := embedded.Start(context.Background(), embedded.WithLiteTopic(liteTopic), embedded.WithWildcardGroup(liteGroup, liteTopic),
		embedded.WithNormalTopic(normalTopic), embedded.WithCredentials(user, secret),
		embedded.WithTLS(&tls.Config{Certificates: []tls.Certificate{c.TLS}, MinVersion: tls.VersionTLS12}))
	t.Cleanup(b.Close)
	return place{endpoints: b.Endpoints(), nameServers: b.NameServer()}
}

func authority(t *testing.T, dir string) (a *testcert.Authority, caFile string) {
	t.Helper()
	a, err := testcert.NewAuthority("an authority of the tests")
	if err != nil {
		t.Fatal(err)
	}
	if caFile, err = a.WriteCA(dir); err != nil {
		t.Fatal(err)
	}
	return a, caFile
}

func issue(t *testing.T, a *testcert.Authority, end time.Time, hosts ...string) *testcert.Certificate {
	t.Helper()
	c, err := a.Issue(end, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
