// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The names of lite topics and keys in the scripts of the documents.
const (
	mainTopic, liteGroup = "LiteMainTopic", "GID-lite"
	accessKey, secretKey = "YourAccessKey", "YourSecretKey"
)

// cluster is a broker for a test, with a client of its own.
type cluster struct {
	nameServer, endpoints string
	client                *remoting.Client
	createTopic           func(t *testing.T, topic string)
}

// clusters are the brokers on which a test is to run.
var clusters = map[string]func(t *testing.T, signed bool) *cluster{"embedded": embeddedCluster, "real": realCluster}

// onEach runs a test on the embedded and on the real broker. signed says that the
// test's requests are, with the keys of the documents.
func onEach(t *testing.T, signed bool, test func(t *testing.T, c *cluster)) {
	for name, start := range clusters {
		t.Run(name, func(t *testing.T) { test(t, start(t, signed)) })
	}
}

func embeddedCluster(t *testing.T, signed bool) *cluster {
	t.Helper()
	opts := []embedded.Option{embedded.WithLiteTopic(mainTopic), embedded.WithWildcardGroup(liteGroup, mainTopic)}
	var keys func(context.Context) (auth.Keys, error)
	if signed {
		opts = append(opts, embedded.WithCredentials(accessKey, secretKey))
		keys = func(context.Context) (auth.Keys, error) {
			return auth.Keys{AccessKey: accessKey, SecretKey: secretKey}, nil
		}
	}
	b := embedded.Start(t.Context(), opts...)
	t.Cleanup(b.Close)
	c := &cluster{nameServer: b.NameServer(), endpoints: b.Endpoints(), createTopic: func(_ *testing.T, topic string) { b.CreateTopic(topic, 4) }}
	c.connect(t, remoting.Config{NameServers: c.nameServer, Credentials: keys})
	return c
}

func realCluster(t *testing.T, _ bool) *cluster {
	t.Helper()
	mq := realmqtest.Shared(t)
	c := &cluster{nameServer: mq.NameServer(), endpoints: mq.Endpoints(), createTopic: func(t *testing.T, topic string) {
		t.Helper()
		if err := mq.CreateTopic(t.Context(), topic, realmq.Normal, realmq.Queues(4)); err != nil {
			t.Fatal(err)
		}
	}}
	if err := mq.CreateTopic(t.Context(), mainTopic, realmq.Lite); err != nil {
		t.Fatal(err)
	}
	if err := mq.CreateGroup(t.Context(), liteGroup, realmq.LiteBind(mainTopic), realmq.Wildcard()); err != nil {
		t.Fatal(err)
	}
	c.connect(t, remoting.Config{NameServers: c.nameServer})
	return c
}

func (c *cluster) connect(t *testing.T, config remoting.Config) {
	t.Helper()
	client, err := remoting.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	c.client = client
}

// topic makes a topic for one test.
func (c *cluster) topic(t *testing.T, name string) string {
	t.Helper()
	name = strings.NewReplacer("/", "-", "_", "-", ".", "-", " ", "-").Replace(t.Name()) + "-" + name
	c.createTopic(t, name)
	return name
}

// send sends bodies to a topic, to one queue after the other.
func (c *cluster) send(t *testing.T, topic string, messages ...*remoting.OutMessage) {
	t.Helper()
	route, err := c.client.Route(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	queues := route.Writable()
	for i, m := range messages {
		if _, err := c.client.Send(t.Context(), queues[i%len(queues)], "producers", m); err != nil {
			t.Fatal(err)
		}
	}
}

func bodies(texts ...string) []*remoting.OutMessage {
	out := make([]*remoting.OutMessage, len(texts))
	for i, text := range texts {
		out[i] = &remoting.OutMessage{Body: []byte(text)}
	}
	return out
}

// pull returns what a topic holds, when n messages are there or ctx ends.
func (c *cluster) pull(ctx context.Context, t *testing.T, topic string, n int) (all []remoting.Message) {
	t.Helper()
	route, err := c.client.Route(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	next := map[remoting.Queue]int64{}
	for pause := time.Duration(0); len(all) < n && ctx.Err() == nil; pause = 100 * time.Millisecond {
		for _, q := range route.Readable() {
			r, err := c.client.Pull(ctx, remoting.PullRequest{Queue: q, Group: "test", Offset: next[q], Max: 32, Suspend: pause})
			if err != nil && r == nil {
				if ctx.Err() == nil {
					t.Fatal(err)
				}
				break
			}
			all, next[q] = append(all, r.Messages...), max(r.Next, next[q])
			pause = 0 // once a round: a real broker looks for new messages every 5 s only
		}
	}
	return all
}

// await is pull with a bound, and a failure if the messages do not come.
func (c *cluster) await(t *testing.T, topic string, n int) map[string]remoting.Message {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	out := map[string]remoting.Message{}
	for _, m := range c.pull(ctx, t, topic, n) {
		out[string(m.Body)] = m
	}
	if len(out) < n {
		t.Fatalf("topic %s holds %d bodies, want %d: %v", topic, len(out), n, out)
	}
	return out
}
