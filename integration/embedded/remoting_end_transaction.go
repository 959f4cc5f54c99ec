// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// How END_TRANSACTION says what to do, which are the bits of a message's system
// flag.
const (
	sysCommitted  = 2 << 2
	sysRolledBack = 3 << 2
	sysEnded      = 3 << 2 // both bits
)

// endTransaction answers END_TRANSACTION (37). It acts on the message at the place
// that is named, whatever was done to it before: a second commit stores it a second
// time, and what was rolled back can be committed.
func (c *remotingCall) endTransaction() *remoting.Command {
	if a := c.missing("producerGroup", "tranStateTableOffset", "commitLogOffset"); a != nil {
		return a
	}
	if c.at.slave != 0 {
		return c.refuse(remoting.CodeSlaveNotAvailable, "")
	}
	outcome := c.number("commitOrRollback", 0)
	if outcome != sysCommitted && outcome != sysRolledBack {
		return nil // RocketMQ does not answer either
	}
	r := c.at.b.core.byCommitLog(c.number("commitLogOffset", -1))
	if r == nil || r.home == nil || r.home.broker != c.at.broker {
		return c.refuse(remoting.CodeSystemError, "Find prepared transaction message failed")
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	defer core.notify()
	if a := c.checkHalf(core, r); a != nil {
		return a
	}
	if outcome == sysCommitted && core.commitHalf(r) == nil {
		return c.refuse(remoting.CodeSystemError, "UNKNOWN_ERROR")
	}
	if r.topic == halfTopic {
		core.end(c.at.broker, r)
	}
	core.ends.add(TransactionEnd{At: core.clock.Now(), Group: c.text("producerGroup"), UniqueKey: r.id, Commit: outcome == sysCommitted,
		FromCheck: c.flag("fromTransactionCheck", false), Offset: r.queueOffset})
	return c.ok(nil)
}

// checkHalf refuses what does not fit together, and what comes too late for a
// message that has a time of its own: a fence.
func (c *remotingCall) checkHalf(core *core, r *record) *remoting.Command {
	p := r.wireOf().properties
	if text := p.Get(propertyImmunity); text != "" && !c.flag("fromTransactionCheck", false) {
		seconds, _ := strconv.ParseInt(text, 10, 64)
		fence := max(time.Duration(seconds)*time.Second, core.cfg.transactions.timeout)
		if core.clock.Now().Sub(r.born) > fence {
			return c.refuse(remoting.CodeIllegalOperation, "")
		}
	}
	switch {
	case p.Get(propertyProducerGroup) != c.text("producerGroup"):
		return c.refuse(remoting.CodeSystemError, "The producer group wrong")
	case r.queueOffset != c.number("tranStateTableOffset", -1):
		return c.refuse(remoting.CodeSystemError, "The transaction state table offset wrong")
	}
	return nil
}
