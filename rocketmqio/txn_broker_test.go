// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// settingsOf are those that a 5.5.0 broker has by default, with changes.
func settingsOf(changes map[string]string) map[string]string {
	m := map[string]string{settingRejects: "false", settingIndex: "true", settingKept: "72", settingTimeout: "6000",
		settingCheckEvery: "30000", settingCheckMax: "15", settingLate: "3000"}
	maps.Copy(m, changes)
	return m
}

// (W12)
func TestTheSettingsOfABrokerAreJudged(t *testing.T) {
	none := slog.Level(-100)
	for _, c := range []struct {
		name    string
		timeout time.Duration
		changes map[string]string
		level   slog.Level
		parts   []string
	}{
		{"a timeout within the looks", 7 * time.Minute, nil, none, nil},
		{"the defaults of both sides", DefaultTransactionTimeout, nil, slog.LevelInfo, []string{"15 ×", "30s", "15m0s", "7m30s", "still be committed"}},
		{"fewer looks", time.Minute, map[string]string{settingCheckMax: "1"}, slog.LevelInfo, []string{"1 ×", "1m0s", "30s"}},
		{"a time of the broker's that is longer", 5 * time.Second, nil, slog.LevelWarn, []string{"6s", "5s", settingTimeout}},
		{"late commits that are carried out", time.Minute, map[string]string{settingLate: "4000"}, slog.LevelWarn, []string{settingLate, "4s", "WriteCommitSettle"}},
		{"no index", time.Minute, map[string]string{settingIndex: "false"}, slog.LevelError, []string{settingIndex}},
		{"no transactions", time.Minute, map[string]string{settingRejects: "true"}, slog.LevelError, []string{settingRejects}},
		{"messages that are gone before the timeout", 13 * time.Hour, map[string]string{settingKept: "12", settingCheckEvery: "36000000"},
			slog.LevelError, []string{"12 hours", "13h0m0s", "WriteTransactionTimeout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := newTransaction()
			set.Timeout = c.timeout
			got := set.judgeBroker(settingsOf(c.changes))
			if c.level == none {
				if len(got) != 0 {
					t.Fatalf("got %v, want nothing", got)
				}
				return
			}
			if len(got) != 1 || got[0].level != c.level {
				t.Fatalf("got %v, want one at level %v", got, c.level)
			}
			for _, part := range c.parts {
				if !strings.Contains(got[0].text, part) {
					t.Errorf("it does not say %q: %s", part, got[0].text)
				}
			}
		})
	}
	if set := newTransaction(); len(set.judgeBroker(nil)) != 0 {
		t.Error("what a broker does not name was judged")
	}
}

// answerSettings has brokers answer with these settings, as long as there is no
// other control.
func answerSettings(mq *embedded.Broker, code int, lines string) {
	mq.ControlAlways(embedded.RemotingBrokerConfig, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.AnswerRemoting(code, "", nil, []byte(lines))
	})
}

func TestABrokerThatCannotKeepThePromiseIsRefused(t *testing.T) {
	mq := startTxn(t)
	answerSettings(mq, 0, "messageIndexEnable=false\nfileReservedTime=1\n")
	cfg := txnConfig(t, mq.NameServer(), WriteTransactionTimeout(2*time.Hour))
	for range 2 {
		_, err := prepareAll(t.Context(), cfg, many(3, keyed10))
		if err == nil || !strings.Contains(err.Error(), "messageIndexEnable=false") || !strings.Contains(err.Error(), "broker-a") || !strings.Contains(err.Error(), "fileReservedTime=1 hours") {
			t.Errorf("got %v", err)
		}
	}
	if n := mq.Requests(embedded.RemotingBrokerConfig); n != 1 {
		t.Errorf("the broker was asked %d times, want once", n)
	}
	if n := len(mq.Halves("")); n != 0 {
		t.Errorf("%d half messages were sent", n)
	}
}

// A broker with access control tells its settings to operators only; one that is
// busy may tell them another time.
func TestABrokerThatDoesNotTellItsSettingsIsTakenAsItIs(t *testing.T) {
	for _, code := range []int{remoting.CodeNoPermission, remoting.CodeSystemBusy, remoting.CodeRequestNotSupported} {
		mq := startTxn(t)
		answerSettings(mq, code, "")
		cfg := txnConfig(t, mq.NameServer())
		for i := range 2 {
			mustCommit(t, cfg, mustPrepare(t, cfg, keyed10(i))...)
		}
		wantVisible(t, mq, 2)
		if n := mq.Requests(embedded.RemotingBrokerConfig); n != 1 {
			t.Errorf("code %d: the broker was asked %d times, want once", code, n)
		}
	}
}

func TestABrokerThatHangsHoldsABundleUpOnce(t *testing.T) {
	mq := startTxn(t)
	mq.ControlAlways(embedded.RemotingBrokerConfig, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.Drop() })
	cfg := txnConfig(t, mq.NameServer(), WriteSendTimeout(100*time.Millisecond))
	mustPrepare(t, cfg, keyed10(0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prepareAll(ctx, cfg, many(1, keyed10)); err == nil {
		t.Error("a cancelled bundle ended well")
	}
	mustPrepare(t, cfg, keyed10(1))
	if n := mq.Requests(embedded.RemotingBrokerConfig); n != 1 {
		t.Errorf("the broker was asked %d times, want once", n)
	}
}
