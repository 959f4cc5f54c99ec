// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package halves

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(realmqtest.Wrap(m)) }

func client(t *testing.T, nameServers string) *remoting.Client {
	t.Helper()
	c, err := remoting.NewClient(remoting.Config{NameServers: nameServers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// sendHalf sends a half message with a timeout, and returns its handle.
func sendHalf(t *testing.T, c *remoting.Client, topic, group, key string, timeout int) remoting.Half {
	t.Helper()
	m := &remoting.OutMessage{Body: []byte("x"), Half: true, UniqueKey: key,
		Properties: remoting.PropertiesOf(remoting.PropertyCheckImmunity, fmt.Sprint(timeout), remoting.PropertyKeys, "a b")}
	r, err := c.SendV2(t.Context(), remoting.Queue{Topic: topic, Broker: "broker-a"}, group, m)
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.Half(group)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// list returns states by key.
func list(t *testing.T, c *remoting.Client, group string) map[string]State {
	t.Helper()
	out := map[string]State{}
	err := List(t.Context(), c, group, func(h Half) error {
		out[h.UniqueKey] = h.State
		if h.Group != group && group != "" || h.Topic == "" || h.Born.IsZero() || h.BodySize != 1 || len(h.Keys) != 2 || h.Deadline.IsZero() {
			t.Errorf("got %+v", h)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantStates(t *testing.T, got map[string]State, want map[string]State) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// (W15) What nobody has ended is found, and where it went.
func TestWhatWasLeftBehindIsFound(t *testing.T) {
	clock := embedded.NewClock(time.Now())
	mq := embedded.Start(t.Context(), embedded.WithNormalTopic("t"), embedded.WithClock(clock), embedded.WithTransactionChecks(time.Second, time.Second, 3))
	t.Cleanup(mq.Close)
	c := client(t, mq.NameServer())
	wantStates(t, list(t, c, "g"), map[string]State{})
	sendHalf(t, c, "t", "g", "left", 60)
	sendHalf(t, c, "t", "other", "theirs", 60)
	done := sendHalf(t, c, "t", "g", "done", 60)
	again := sendHalf(t, c, "t", "g", "again", 60)
	sendHalf(t, c, "t", "g", "again", 60)
	for _, h := range []remoting.Half{done, again} {
		if err := c.EndTransaction(t.Context(), h, remoting.Commit); err != nil {
			t.Fatal(err)
		}
	}
	wantStates(t, list(t, c, "g"), map[string]State{"left": Pending, "done": Visible, "again": Visible})
	mq.CheckTransactions() // the broker writes down what was ended, and everything else anew
	wantStates(t, list(t, c, "g"), map[string]State{"left": Pending, "again": Visible})
	wantStates(t, list(t, c, ""), map[string]State{"left": Pending, "again": Visible, "theirs": Pending})
	clock.Advance(10 * time.Second)
	wantStates(t, list(t, c, "g"), map[string]State{"left": Dropped, "again": Dropped})
}

func TestOnARealBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t, realmq.BrokerProperty("transactionCheckInterval", "1000"), realmq.BrokerProperty("transactionCheckMax", "4"))
	c := client(t, mq.NameServer())
	if err := mq.CreateTopic(t.Context(), "t", realmq.Normal); err != nil {
		t.Fatal(err)
	}
	wantStates(t, list(t, c, "g"), map[string]State{})
	sendHalf(t, c, "t", "g", "left", 60)
	h := sendHalf(t, c, "t", "g", "done", 60)
	if err := c.EndTransaction(t.Context(), h, remoting.Rollback); err != nil {
		t.Fatal(err)
	}
	if got := list(t, c, "g"); got["left"] != Pending && got["left"] != Dropped {
		t.Errorf("got %v", got)
	}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(time.Minute); ; {
		got := list(t, c, "g")
		if got["left"] == Dropped {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("got %v after a minute, want it dropped", got)
		}
	}
}
