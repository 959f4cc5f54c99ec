// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"go.uber.org/goleak"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(realmqtest.Wrap(m)) }

func TestAClusterStartsServesRestartsAndLeavesNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t, realmq.BrokerProperty("liteSubscriptionCheckInterval", "60000"))
	ctx := t.Context()
	if err := mq.CreateTopic(ctx, "agent-bus", realmq.Lite, realmq.Queues(2)); err != nil {
		t.Fatal(err)
	}
	if err := mq.CreateGroup(ctx, "agents", realmq.LiteBind("agent-bus"), realmq.Wildcard(), realmq.RetryMaxTimes(3)); err != nil {
		t.Fatal(err)
	}
	c := dial(t, mq)
	c.session("agents", "agent-bus")
	c.send("agent-bus", "lt-1", "first")
	c.receiveAndAck("agents", "agent-bus", "first")

	if err := mq.RestartProxy(ctx); err != nil {
		t.Fatal(err)
	}
	c = dial(t, mq)
	c.session("agents", "agent-bus")
	c.send("agent-bus", "lt-1", "second")
	c.receiveAndAck("agents", "agent-bus", "second")

	if err := mq.RestartBroker(ctx); err != nil {
		t.Fatal(err)
	}
	// A broker does not remember lite subscriptions.
	c.subscribe("agents", "agent-bus")
	c.send("agent-bus", "lt-2", "third")
	c.receiveAndAck("agents", "agent-bus", "third")

	logs := mq.Logs()
	if err := mq.Close(); err != nil {
		t.Fatal(err)
	}
	if left := processesUsing(t, filepath.Dir(logs)); len(left) > 0 {
		t.Errorf("got processes %q after Close, want none", left)
	}
	if _, err := os.Stat(logs); !os.IsNotExist(err) {
		t.Errorf("got %v for the folder of logs after Close, want that it does not exist", err)
	}
	if err := mq.RestartProxy(ctx); err == nil {
		t.Error("got no error from RestartProxy after Close")
	}
}

func TestWhatCannotBeCreatedIsAnErrorThatNamesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Shared(t)
	err := mq.CreateTopic(t.Context(), "no spaces allowed", realmq.Lite)
	if err == nil || !strings.Contains(err.Error(), `"no spaces allowed"`) {
		t.Errorf("got %v, want an error that names the topic", err)
	}
	err = mq.CreateGroup(t.Context(), "g", realmq.GroupAttribute("no.such.attribute", "1"))
	if err == nil || !strings.Contains(err.Error(), `"g"`) {
		t.Errorf("got %v, want an error that names the group", err)
	}
}

func TestAServerThatDoesNotComeUpIsAnErrorWithItsLastWords(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts JVMs")
	}
	realmqtest.Shared(t) // skips where Java is missing
	_, err := realmq.Start(t.Context(), realmq.Heap("128m", "nonsense", "512m"))
	if err == nil || !strings.Contains(err.Error(), "broker") || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("got %v, want an error that names the broker and quotes the JVM", err)
	}
}

func TestAStartEndsWithItsContext(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts JVMs")
	}
	realmqtest.Shared(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := realmq.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// The broker's port is given, so no other one is tried.
func TestAFixedPortThatIsTakenIsAnErrorThatSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts JVMs")
	}
	realmqtest.Shared(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = realmq.Start(t.Context(), realmq.BrokerPort(port))
	if err == nil || !strings.Contains(err.Error(), "broker") || !strings.Contains(err.Error(), "BindException") {
		t.Errorf("got %v, want an error that names the broker and the taken port", err)
	}
}

// A client that uses TLS by mistake, or plaintext by mistake, is served.
func TestTheProxyTakesTLSAndPlaintextOnOnePort(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Shared(t)
	if err := mq.CreateTopic(t.Context(), "tls", realmq.Normal); err != nil {
		t.Fatal(err)
	}
	for name, creds := range map[string]credentials.TransportCredentials{
		"plaintext": insecure.NewCredentials(),
		"TLS with a certificate that the proxy made for itself": credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}),
	} {
		t.Run(name, func(t *testing.T) {
			c := dialWith(t, mq, creds)
			answer, err := c.stub.QueryRoute(c.ctx, &v2.QueryRouteRequest{Topic: resource("tls"), Endpoints: &v2.Endpoints{
				Scheme: v2.AddressScheme_IPv4, Addresses: []*v2.Address{{Host: "127.0.0.1", Port: 1}}}})
			if err != nil || answer.GetStatus().GetCode() != v2.Code_OK {
				t.Errorf("got %v, %v, want OK", answer.GetStatus(), err)
			}
		})
	}
}

func TestOptionsRefuseWhatCannotBe(t *testing.T) {
	for name, opt := range map[string]realmq.Option{
		"an empty broker key":        realmq.BrokerProperty("", "x"),
		"a line break in a property": realmq.BrokerProperty("a", "b\nc=d"),
		"an empty proxy key":         realmq.ProxySetting("", 1),
		"a privileged port":          realmq.BrokerPort(80),
		"a port that does not exist": realmq.BrokerPort(70000),
		"an empty size of the heap":  realmq.Heap("", "1g", "1g"),
	} {
		t.Run(name, func(t *testing.T) {
			if mq, err := realmq.Start(t.Context(), opt); err == nil {
				mq.Close()
				t.Error("got no error")
			}
		})
	}
}
