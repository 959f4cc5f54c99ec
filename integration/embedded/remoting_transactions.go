// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// TransactionCheck is a round's look at a half message that was old enough to ask
// its producer.
type TransactionCheck struct {
	At        time.Time
	Group     string
	UniqueKey string
	Offset    int64 // of the copy that was made for this check
	Asked     bool  // a producer of the group was there
}

// TransactionEnd is an END_TRANSACTION that was carried out.
type TransactionEnd struct {
	At        time.Time
	Group     string
	UniqueKey string
	Commit    bool // else it was rolled back
	FromCheck bool // in answer to a check
	Offset    int64
}

// WithTransactionChecks sets how often brokers look at half messages, how old one
// without a time of its own must be to be checked, and after how many looks it is
// put away (transactionCheckInterval, transactionTimeOut, transactionCheckMax).
// Defaults 30 s, 6 s and 15.
func WithTransactionChecks(interval, timeout time.Duration, checks int) Option {
	return func(c *config) error {
		if interval <= 0 || timeout <= 0 || checks <= 0 {
			return fmt.Errorf("WithTransactionChecks(%v, %v, %d): want more than zero", interval, timeout, checks)
		}
		c.transactions = transactionTimes{interval, timeout, checks}
		return nil
	}
}

// CheckTransactions has all brokers look at their half messages now.
func (b *Broker) CheckTransactions() {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.cfg.brokers {
		c.writeEnded(i)
		c.checkRound(i)
	}
	c.log.Info("half messages were checked")
}

// Checks returns the checks so far, in order; the latest 131072.
func (b *Broker) Checks() []TransactionCheck {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	return b.core.checks.all()
}

// Ends returns the transactions that were ended, in order; the latest 131072.
func (b *Broker) Ends() []TransactionEnd {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	return b.core.ends.all()
}

// Producers returns the client ids of a producer group that heartbeats have told
// of.
func (b *Broker) Producers(group string) []string {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	return slices.Sorted(maps.Keys(b.core.producers[group]))
}

// Halves returns the half messages of a producer group that were sent, without the
// copies that checks have made of them; an empty group means all. Whether they were
// ended is in Ends.
func (b *Broker) Halves(group string) []Message {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[halfTopic]
	if t == nil {
		return nil
	}
	var out []Message
	for _, r := range t.order {
		p := r.wireOf().properties
		if p.Get(propertyCheckTimes) == "" && (group == "" || p.Get(propertyProducerGroup) == group) {
			out = append(out, c.view(r))
		}
	}
	return out
}

// Checks is Broker.Checks.
func (s Snapshot) Checks() []TransactionCheck { return s.b.Checks() }

// Ends is Broker.Ends.
func (s Snapshot) Ends() []TransactionEnd { return s.b.Ends() }

// Producers is Broker.Producers.
func (s Snapshot) Producers(group string) []string { return s.b.Producers(group) }

// Halves is Broker.Halves.
func (s Snapshot) Halves(group string) []Message { return s.b.Halves(group) }
