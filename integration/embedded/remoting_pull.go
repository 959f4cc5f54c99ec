// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Bits of a pull's sysFlag.
const (
	pullCommits    = 1 << 0 // commit commitOffset
	pullSuspends   = 1 << 1 // wait for a message
	pullSubscribes = 1 << 2 // the expression comes with the request
)

// pull answers PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361).
//
// A pull that finds nothing at the end of a queue waits, if it asks for that.
// What it is answered then says that it found nothing (19), or what has come.
func (c *remotingCall) pull() *remoting.Command {
	if a := c.missing("consumerGroup", "topic", "queueId", "queueOffset", "maxMsgNums", "sysFlag", "commitOffset", "suspendTimeoutMillis", "subVersion"); a != nil {
		return a
	}
	seen := c.seen()
	res, code, refusal := c.firstLook(seen)
	switch {
	case refusal != nil:
		return refusal
	case code == onHold:
		return nil
	}
	return c.pulled(code, res)
}

// onHold in place of a code says that the pull waits.
const onHold = -1

// firstLook checks the pull and looks into the queue, or puts it on hold.
func (c *remotingCall) firstLook(seen Pull) (pullResult, int, *remoting.Command) {
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	r, refusal := c.pullRequest()
	if refusal != nil {
		seen.Code = refusal.Code
		core.pulls.add(seen)
		return pullResult{}, refusal.Code, refusal
	}
	res := r.look()
	c.commitWithPull()
	code := c.codeOf(r, res)
	if code == remoting.CodePullNotFound && c.number("sysFlag", 0)&pullSuspends != 0 {
		wait := time.Duration(c.number("suspendTimeoutMillis", 0)) * time.Millisecond
		h := core.suspend(r, wait)
		c.conn.spawn(func() { c.answerHold(h, seen) })
		return res, onHold, nil
	}
	seen.Code, seen.Messages = code, len(res.records)
	core.pulls.add(seen)
	return res, code, nil
}

// answerHold waits for the hold and looks once more.
func (c *remotingCall) answerHold(h *hold, seen Pull) {
	core := c.at.b.core
	if !core.awaitHold(c.conn.ctx, h) {
		return
	}
	core.mu.Lock()
	res := h.look()
	code := c.codeOf(h.pullRequest, res)
	seen.Code, seen.Messages = code, len(res.records)
	core.pulls.add(seen)
	core.mu.Unlock()
	c.reply(c.pulled(code, res))
}

// pullRequest checks a pull in the order in which RocketMQ does.
func (c *remotingCall) pullRequest() (pullRequest, *remoting.Command) {
	core := c.at.b.core
	topic, group := c.text("topic"), c.text("consumerGroup")
	if core.findValidGroup(group) == nil {
		return pullRequest{}, c.refuse(remoting.CodeGroupNotExist, "subscription group [%s] does not exist, %s", group, faq)
	}
	t := core.topics[topic]
	if t == nil || !t.at(c.at.broker).exists() {
		return pullRequest{}, c.refuse(remoting.CodeTopicNotExist, "topic[%s] not exist, apply first please! %s", topic, faq)
	}
	s := t.at(c.at.broker)
	if s.perm&permRead == 0 {
		return pullRequest{}, c.refuse(remoting.CodeNoPermission, "the topic[%s] pulling message is forbidden", topic)
	}
	id := c.number("queueId", -1)
	q := t.find(c.at.broker, id)
	if id < 0 || id >= int64(s.reads) || q == nil {
		return pullRequest{}, c.refuse(remoting.CodeInvalidParameter, "queueId[%d] is illegal, topic:[%s] topicConfig.readQueueNums:[%d] consumer:[/%s]", id, topic, s.reads, c.conn.remote)
	}
	f, refusal := c.pullFilter(group, topic)
	return pullRequest{group: group, queue: q, offset: c.number("queueOffset", 0), max: int(c.number("maxMsgNums", 0)), filter: f}, refusal
}

// pullFilter takes the expression from the request, or else from the group's
// heartbeats.
func (c *remotingCall) pullFilter(group, topic string) (pullFilter, *remoting.Command) {
	kind, expr := c.text("expressionType"), c.text("subscription")
	if c.number("sysFlag", 0)&pullSubscribes == 0 {
		m := c.at.b.core.consumers[group]
		if m == nil {
			return pullFilter{}, c.refuse(remoting.CodeSubscriptionNotExist, "the consumer's group info not exist%s", faq)
		}
		sub, ok := m.subscriptions[topic]
		if !ok {
			return pullFilter{}, c.refuse(remoting.CodeSubscriptionNotExist, "the consumer's subscription not exist%s", faq)
		}
		if sub.Version < c.number("subVersion", 0) {
			return pullFilter{}, c.refuse(remoting.CodeSubscriptionNotLatest, "the consumer's subscription not latest")
		}
		kind, expr = sub.Kind, sub.Expression
	}
	f, err := c.at.b.cfg.newPullFilter(kind, expr)
	switch {
	case errors.Is(err, errFilterOff):
		return f, c.refuse(remoting.CodeSystemError, "%v%s", err, kind)
	case err != nil:
		return f, c.refuse(remoting.CodeSubscriptionParse, "%v", err)
	}
	return f, nil
}

// codeOf is the code for what was found. A slave never says that an offset is
// wrong, it sends the client to its master.
func (c *remotingCall) codeOf(r pullRequest, res pullResult) int {
	if c.at.slave != 0 && res.status != pullFound {
		return remoting.CodePullRetryImmediately
	}
	switch res.status {
	case pullFound:
		return remoting.CodeSuccess
	case pullNoneMatched:
		return remoting.CodePullRetryImmediately
	case pullQueueEmpty, pullQueueUnknown:
		if r.offset == 0 {
			return remoting.CodePullNotFound
		}
		return remoting.CodePullOffsetMoved
	case pullOverflowOne:
		return remoting.CodePullNotFound
	}
	return remoting.CodePullOffsetMoved
}

// pulled makes the answer.
func (c *remotingCall) pulled(code int, res pullResult) *remoting.Command {
	c.at.mu.Lock()
	suggest := c.at.suggest
	c.at.mu.Unlock()
	if c.at.slave != 0 && res.status != pullFound {
		res.next = c.number("queueOffset", 0) // a slave corrects nothing
	}
	a := &remoting.Command{Code: code, Remark: string(res.status), Fields: map[string]string{
		"nextBeginOffset": strconv.FormatInt(res.next, 10), "suggestWhichBrokerId": strconv.FormatInt(suggest, 10),
		"minOffset": strconv.FormatInt(res.min, 10), "maxOffset": strconv.FormatInt(res.max, 10),
		"topicSysFlag": "0", "groupSysFlag": "0",
	}}
	if len(res.records) > 0 {
		a.Body = encodeRecords(res.records, c.at)
	}
	return a
}

// commitWithPull commits the offset that a pull brings along. The lock is held.
func (c *remotingCall) commitWithPull() {
	if c.number("sysFlag", 0)&pullCommits != 0 {
		c.commitOffset(c.number("queueId", 0), c.number("commitOffset", 0))
	}
}

func (c *remotingCall) seen() Pull {
	return Pull{
		At: c.at.b.core.clock.Now(), Group: c.text("consumerGroup"), Connection: c.conn.remote, Slave: c.at.slave,
		Queue:  Queue{Topic: c.text("topic"), Broker: c.at.name, ID: int(c.number("queueId", -1))},
		Offset: c.number("queueOffset", -1), Max: int(c.number("maxMsgNums", 0)), Expression: c.text("subscription"),
	}
}
