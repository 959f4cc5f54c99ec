// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	. "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// One cluster serves all that needs a broker of its own: one that checks
// signatures, holds transactions (after the first, a thread of the 5.5.0 broker
// spins until it is restarted) and is restarted.
func TestRealBrokerWithSignatures(t *testing.T) {
	const user, password = "beamuser", "beampassword"
	inner := fmt.Sprintf(`{"accessKey":%q,"secretKey":%q}`, user, password)
	mq := realmqtest.Start(t,
		realmq.BrokerProperty("authenticationEnabled", "true"),
		realmq.BrokerProperty("authenticationProvider", "org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider"),
		realmq.BrokerProperty("authenticationMetadataProvider", "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider"),
		realmq.BrokerProperty("initAuthenticationUser", fmt.Sprintf(`{"username":%q,"password":%q}`, user, password)),
		realmq.BrokerProperty("innerClientAuthenticationCredentials", inner),
		realmq.ProxySetting("innerClientAuthenticationCredentials", inner),
		realmq.ProxySetting("enableAclRpcHookForClusterMode", true),
	)
	keys := func(k auth.Keys) func(context.Context) (auth.Keys, error) {
		return func(context.Context) (auth.Keys, error) { return k, nil }
	}
	ctx := background(t)
	checks := make(chan *Check, 100)
	var c *Client
	c = newClient(t, Config{NameServers: mq.NameServer(), Credentials: keys(auth.Keys{AccessKey: user, SecretKey: password}),
		Handler: func(_ context.Context, from string, cmd *Command) *Command {
			if check, ok, err := c.ParseCheck(from, cmd); ok && err == nil {
				checks <- check
			} else if err != nil {
				t.Error(err)
			}
			return nil
		}})
	topic := TopicConfig{Name: "signed", ReadQueues: 1, WriteQueues: 1, Attributes: map[string]string{"message.type": "TRANSACTION"}}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the name server knows the topic", func() bool { _, err := c.Route(ctx, "signed"); return err == nil })
	q := must[*Route](t)(c.Route(ctx, "signed")).Readable()[0]

	for name, k := range map[string]auth.Keys{
		"no signature":    {},
		"wrong secret":    {AccessKey: user, SecretKey: "wrongpassword"},
		"an unknown user": {AccessKey: "nobodyknown", SecretKey: password, SecurityToken: "sometoken"},
	} {
		t.Run(name+" is refused for good, and the error holds no key", func(t *testing.T) {
			other := newClient(t, Config{NameServers: mq.NameServer(), Credentials: keys(k)})
			_, err := other.MaxOffset(ctx, q)
			wantClass(t, err, Permanent)
			t.Log(err)
			for _, secret := range []string{k.AccessKey, k.SecretKey, k.SecurityToken} {
				if secret != "" && strings.Contains(err.Error(), secret) {
					t.Errorf("%q is in %q", secret, err)
				}
			}
		})
	}
	t.Run("a signed body is accepted", func(t *testing.T) {
		if err := c.CreateGroup(ctx, GroupConfig{Name: "readers"}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a half message", func(t *testing.T) { testTransactions(t, c, q, checks) })
	t.Run("a broker that restarts on the same port", func(t *testing.T) { testRestart(t, c, q, mq) })
}

func testTransactions(t *testing.T, c *Client, q Queue, checks chan *Check) {
	ctx := background(t)
	end := func() int64 { return must[int64](t)(c.MaxOffset(ctx, q)) }
	if err := c.Heartbeat(ctx, Heartbeat{Topic: q.Topic, Producers: []string{"txn"},
		Consumers: []ConsumerGroup{{Group: "readers", Topic: q.Topic, Expression: TagFilter("a||b")}}}); err != nil {
		t.Fatal(err)
	}
	half := func(body string) Half {
		r := must[*SendResult](t)(c.SendV2(ctx, q, "txn", &OutMessage{Body: []byte(body), Half: true}))
		return must[Half](t)(r.Half("txn"))
	}
	find := func(h Half) int {
		return len(must[[]Message](t)(c.QueryMessages(ctx, Query{Topic: q.Topic, Key: h.UniqueKey, Unique: true})))
	}
	h := half("committed")
	if n := find(h); n != 0 || end() != 0 {
		t.Errorf("before the commit %d messages are found, the queue ends at %d", n, end())
	}
	wrong := h
	wrong.Group = "others"
	wantClass(t, c.EndTransaction(ctx, wrong, Commit), Permanent)
	wrong = h
	wrong.PhysicalOffset = 1 << 40
	t.Logf("an offset that does not exist: %v", wantClass(t, c.EndTransaction(ctx, wrong, Commit), NotFound))
	if err := c.EndTransaction(ctx, h, Commit); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the committed message is found", func() bool { return find(h) == 1 })
	rolledBack := half("rolled back")
	if err := c.EndTransaction(ctx, rolledBack, Rollback); err != nil {
		t.Error(err)
	}
	open := half("asked about")
	if err := c.EndTransaction(ctx, open, Unknown); err != nil {
		t.Error(err)
	}
	check := awaitCheck(t, c, checks, open, h, rolledBack)
	if check.Half.Group != "txn" || check.Half.Topic != q.Topic || string(check.Message.Body) != "asked about" {
		t.Errorf("got %+v, want a check of %+v", check, open)
	}
	if err := c.AnswerCheck(ctx, check, Commit); err != nil {
		t.Error(err)
	}
	eventually(t, "the checked message is found", func() bool { return find(open) == 1 })
	if got := end(); got != 2 {
		t.Errorf("the queue ends at %d, want 2", got)
	}
	if err := c.Unregister(ctx, q.Topic, "txn", "readers"); err != nil {
		t.Error(err)
	}
}

// awaitCheck waits for the check of open. A broker writes down that it ended a
// transaction up to three seconds after it said so (transactionOpBatchInterval),
// and until then asks about the ended ones too: those are answered ROLLBACK, for
// COMMIT would store a message a second time.
func awaitCheck(t *testing.T, c *Client, checks <-chan *Check, open Half, ended ...Half) *Check {
	t.Helper()
	timeout := time.After(40 * time.Second)
	for {
		select {
		case check := <-checks:
			if check.Half.UniqueKey == open.UniqueKey {
				return check
			}
			if !slices.ContainsFunc(ended, func(h Half) bool { return h.UniqueKey == check.Half.UniqueKey }) {
				t.Fatalf("a check of %+v, which was never sent", check.Half)
			}
			t.Logf("asked about %s, which has ended", check.Message.Body)
			if err := c.AnswerCheck(background(t), check, Rollback); err != nil {
				t.Error(err)
			}
		case <-timeout:
			t.Fatal("no check came")
		}
	}
}

func testRestart(t *testing.T, c *Client, q Queue, mq *realmq.Cluster) {
	before := must[int64](t)(c.MaxOffset(background(t), q))
	if err := mq.KillBroker(); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	ctx, cancel := context.WithTimeout(background(t), 2*time.Second)
	defer cancel()
	_, err := c.MaxOffset(ctx, q)
	wantClass(t, err, Transient)
	if took := time.Since(at); took > 3*time.Second {
		t.Errorf("the error came after %v (N04)", took)
	}
	t.Log(err)
	if err := mq.StartBroker(context.Background()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the broker answers again", func() bool {
		got, err := c.MaxOffset(background(t), q)
		if err != nil && errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		return err == nil && got == before
	})
}
