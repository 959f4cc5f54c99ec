// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// The settings of a broker on which exactly-once depends, by RocketMQ's names.
const (
	settingRejects    = "rejectTransactionMessage"
	settingIndex      = "messageIndexEnable"
	settingKept       = "fileReservedTime"         // hours
	settingTimeout    = "transactionTimeOut"       // milliseconds, like those below
	settingCheckEvery = "transactionCheckInterval" //
	settingCheckMax   = "transactionCheckMax"      // a number
	settingLate       = "waitTimeMillsInTransactionQueue"
)

// brokerFault is what the settings of a broker mean for a transaction.
type brokerFault struct {
	level slog.Level // error: it cannot be kept
	text  string
}

// judgeBroker holds the settings of a broker against those of the transaction. What
// a broker does not name, for it is older, is not judged.
func (t *transaction) judgeBroker(settings map[string]string) (faults []brokerFault) {
	add := func(level slog.Level, format string, args ...any) {
		faults = append(faults, brokerFault{level, fmt.Sprintf(format, args...)})
	}
	length := func(name string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseInt(settings[name], 10, 64)
		return time.Duration(n) * unit, err == nil
	}
	if settings[settingRejects] == "true" {
		add(slog.LevelError, "%s=true: it takes no transactions", settingRejects)
	}
	if settings[settingIndex] == "false" {
		add(slog.LevelError, "%s=false: nobody can find out whether a message is there already, and a commit that is repeated would store it twice", settingIndex)
	}
	if kept, ok := length(settingKept, time.Hour); ok && kept < t.Timeout {
		add(slog.LevelError, "%s=%d hours is less than the transaction timeout of %v: it would delete half messages that are still to be committed; lower WriteTransactionTimeout or raise %s",
			settingKept, kept/time.Hour, t.Timeout, settingKept)
	}
	if least, ok := length(settingTimeout, time.Millisecond); ok && least > t.Timeout {
		add(slog.LevelWarn, "%s=%v is more than the transaction timeout of %v, and counts: later commits are not refused until then", settingTimeout, least, t.Timeout)
	}
	if late, ok := length(settingLate, time.Millisecond); ok && late >= t.Settle {
		add(slog.LevelWarn, "%s=%v is not less than WriteCommitSettle, %v: a commit whose answer was lost may be carried out after the question whether it was, and the message be there twice",
			settingLate, late, t.Settle)
	}
	every, ok := length(settingCheckEvery, time.Millisecond)
	times, also := length(settingCheckMax, 1)
	// Looks count from the first on, also those before the timeout. What is put away
	// can be committed until the timeout all the same, so this is no fault.
	if looks := every * times; ok && also && looks < t.Timeout {
		add(slog.LevelInfo, "%s=%d × %s=%v is less than the transaction timeout of %v: a half message that waits longer than %v is put away and never asked about; it can still be committed",
			settingCheckMax, times, settingCheckEvery, every, t.Timeout, looks)
	}
	return faults
}

// askAgainAfter is how long the settings of brokers that did not answer are left
// alone.
const askAgainAfter = time.Minute

// brokerChecks remembers which brokers of which topics were asked for their
// settings.
type brokerChecks struct {
	mu     sync.Mutex
	known  map[string]bool      // brokers that have answered
	next   map[string]time.Time // when to ask those of a topic again, zero for never
	failed map[string]error     // by topic
}

func newBrokerChecks() *brokerChecks {
	return &brokerChecks{known: map[string]bool{}, next: map[string]time.Time{}, failed: map[string]error{}}
}

// checkBrokers asks the brokers of a topic once for their settings, says what is
// wrong with them, and returns an error if they cannot keep the promise. A broker
// that does not tell its settings is taken as it is.
func (s *txnSession) checkBrokers(ctx context.Context, topic string) error {
	c := s.brokers
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, asked := c.next[topic]; asked && (at.IsZero() || time.Now().Before(at)) {
		return c.failed[topic]
	}
	asking, cancel := context.WithTimeout(ctx, s.cfg.SendTimeout)
	defer cancel()
	all, faults := s.askBrokers(asking, topic)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.next[topic], c.failed[topic] = time.Time{}, errors.Join(faults...)
	if !all {
		c.next[topic] = time.Now().Add(askAgainAfter)
	}
	return c.failed[topic]
}

// askBrokers says whether all brokers of the topic are known now. The lock is held.
func (s *txnSession) askBrokers(ctx context.Context, topic string) (all bool, faults []error) {
	route, err := s.client.Route(ctx, topic)
	if err != nil {
		s.log.Info("the settings of brokers are not known yet", "topic", topic, "error", err)
		return false, nil
	}
	all = true
	for _, b := range route.Brokers {
		if s.brokers.known[b.Name] {
			continue
		}
		settings, err := s.client.BrokerConfig(ctx, topic, b.Name, settingRejects, settingIndex, settingKept, settingTimeout, settingCheckEvery, settingCheckMax, settingLate)
		if err != nil {
			s.log.Info("a broker does not tell its settings: see that they are as docs/exactly-once.md says", "broker", b.Name, "error", err)
			all = all && remoting.ClassOf(err) == remoting.Permanent
			continue
		}
		bad := s.report(b.Name, s.cfg.Transaction.judgeBroker(settings))
		s.brokers.known[b.Name] = len(bad) == 0
		faults = append(faults, bad...)
	}
	return all, faults
}

// report says what is wrong, and returns what forbids to go on.
func (s *txnSession) report(broker string, faults []brokerFault) (bad []error) {
	for _, f := range faults {
		if f.level == slog.LevelError {
			bad = append(bad, fmt.Errorf("rocketmqio.Write: broker %s cannot keep EXACTLY_ONCE: %s", broker, f.text))
			continue
		}
		s.log.Log(context.Background(), f.level, f.text, "broker", broker)
	}
	return bad
}
