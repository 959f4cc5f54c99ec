// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Settings of brokers that the cases of transactions run against.
const (
	// TransactionCheckInterval is how often half messages are looked at.
	TransactionCheckInterval = time.Second
	// TransactionTimeout is how old one must be to be checked, if it names no
	// time of its own.
	TransactionTimeout = 2 * time.Second
	// TransactionCheckMax is after how many looks one is put away.
	TransactionCheckMax = 4
)

func transactionCases() []remotingCase {
	return []remotingCase{
		{
			// W12: what a producer can know beforehand.
			name: "a broker tells its settings, a line each, and with them how long a half message may wait",
			run: func(s *remotingScene) {
				a := s.dial().want(0, "", reqConfig, nil, nil)
				if a.Fields["version"] == "" {
					s.Errorf("got fields %v, want a version", a.Fields)
				}
				got := map[string]string{}
				for line := range strings.Lines(string(a.Body)) {
					name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
					got[name] = value
				}
				for name, want := range map[string]string{
					"transactionCheckInterval": strconv.FormatInt(TransactionCheckInterval.Milliseconds(), 10),
					"transactionTimeOut":       strconv.FormatInt(TransactionTimeout.Milliseconds(), 10),
					"transactionCheckMax":      strconv.Itoa(TransactionCheckMax),
					"rejectTransactionMessage": "false", "messageIndexEnable": "true", "fileReservedTime": "72",
					"waitTimeMillsInTransactionQueue": "3000", "brokerName": "broker-a",
				} {
					if got[name] != want {
						s.Errorf("%s: got %q, want %q", name, got[name], want)
					}
				}
			},
		},
		{
			name: "a half message is seen by nobody, once committed by all, and never if rolled back",
			run: func(s *remotingScene) {
				c := s.dial()
				a, b := c.half(1, "a", "TAGS", "t", "KEYS", "k", "mine", "v"), c.half(1, "b")
				c.wantOffsets(1, 0, 0)
				c.endHalf(a, commit, 0, "")
				c.endHalf(b, rollBack, 0, "")
				s.eventually("it is there", func() bool { return len(c.all(1)) == 1 })
				m := c.one(1, 0)
				for name, want := range map[string]string{"TAGS": "t", "KEYS": "k", "mine": "v", "UNIQ_KEY": a.key, "PGROUP": a.group,
					"__transactionId__": a.key, "TRAN_MSG": "true", "REAL_TOPIC": "", "REAL_QID": ""} {
					if got := m.Properties.Get(name); got != want {
						s.Errorf("property %s: got %q, want %q", name, got, want)
					}
				}
				if m.SysFlag != 8 || m.PreparedOffset != a.physical || string(m.Body) != "a" {
					s.Errorf("got flags %d, half at %d, body %q, want 8, %d, a", m.SysFlag, m.PreparedOffset, m.Body, a.physical)
				}
			},
		},
		{
			// X22a: each of these is answered with success.
			name: "a commit that is repeated stores the message again, and so does one after a rollback",
			run: func(s *remotingScene) {
				c := s.dial()
				a, b := c.half(0, "a"), c.half(0, "b")
				c.endHalf(a, commit, 0, "")
				c.endHalf(a, commit, 0, "")
				c.endHalf(b, rollBack, 0, "")
				c.endHalf(b, commit, 0, "")
				s.eventually("three are there", func() bool { return len(c.all(0)) == 3 })
				if got := fmt.Sprint(c.all(0)); got != "[a a b]" {
					s.Errorf("got %s, want [a a b]", got)
				}
				s.eventually("both are found", func() bool { return len(c.found(s.uniqueFields(a.key))) == 2 })
			},
		},
		{
			name: "a message is found by its unique key once it is committed, and only then",
			run: func(s *remotingScene) {
				c := s.dial()
				a, b := c.half(0, "a"), c.half(0, "b")
				c.endHalf(b, commit, 0, "")
				s.eventually("the other is found", func() bool { return len(c.found(s.uniqueFields(b.key))) == 1 })
				c.want(22, "", reqQuery, s.uniqueFields(a.key), nil)
				c.endHalf(a, rollBack, 0, "")
				c.want(22, "", reqQuery, s.uniqueFields(a.key), nil)
				c.endHalf(a, commit, 0, "")
				s.eventually("it is found", func() bool { return len(c.found(s.uniqueFields(a.key))) == 1 })
			},
		},
		{
			name: "what names no half message is refused with a text",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.half(0, "a")
				wrong := a
				wrong.group += "x"
				c.endHalf(wrong, commit, 1, "The producer group wrong")
				wrong = a
				wrong.offset++
				c.endHalf(wrong, commit, 1, "The transaction state table offset wrong")
				wrong = a
				wrong.physical = 1 << 50
				c.endHalf(wrong, commit, 1, "Find prepared transaction message failed")
				c.wantOffsets(0, 0, 0)
			},
		},
		{
			// Y11: the copies that checks make are halves of their own.
			name: "each check is about a new copy; a commit of the first stores once, and the copies are checked on",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				a := c.half(0, "a", "KEYS", "k")
				first := p.await()
				second := p.await()
				for _, k := range []check{first, second} {
					if k.key != a.key || k.group != a.group || k.topic != s.topic || k.body != "a" {
						s.Errorf("got check %+v of %+v", k, a)
					}
				}
				if first.offset <= a.offset || second.offset <= first.offset || first.physical == a.physical {
					s.Errorf("checks of %d at %d and %d: want new places", a.offset, first.offset, second.offset)
				}
				c.endHalf(a, commit, 0, "")
				s.eventually("it is there", func() bool { return len(c.all(0)) == 1 })
				c.answer(p.await(), rollBack)
				s.pass(TransactionCheckInterval)
				c.wantOffsets(0, 0, 1)
			},
		},
		{
			name: "a check that is answered with commit stores the message at the place it was meant for",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				c.half(1, "a")
				c.answer(p.await(), commit)
				s.eventually("it is there", func() bool { return len(c.all(1)) == 1 })
			},
		},
		{
			// T01: checks go to who has sent a heartbeat, whether or not it sent
			// messages.
			name: "checks go to any producer of the group that is connected, and to nobody without one",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				other := s.producer("Q-" + s.unique)
				c.half(0, "a")
				p.await()
				p.c.nc.Close()
				next := s.producer("P-" + s.unique)
				next.await()
				select {
				case k := <-other.checks:
					s.Errorf("a producer of another group was asked about %+v", k)
				default:
				}
			},
		},
		{
			name: "a time of its own puts off the first check, and is a fence for whoever comes later",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				a := c.half(0, "a", "CHECK_IMMUNITY_TIME_IN_SECONDS", "3")
				b := c.half(0, "b", "CHECK_IMMUNITY_TIME_IN_SECONDS", "3")
				c.endHalf(a, commit, 0, "")
				p.await()
				if age := s.broker.Now().Sub(b.born); age < 3*time.Second {
					s.Errorf("checked after %v, want 3s at least", age)
				}
				c.endHalf(a, commit, remoting.CodeIllegalOperation, "")
				c.endHalf(b, commit, remoting.CodeIllegalOperation, "")
				c.endHalf(b, rollBack, remoting.CodeIllegalOperation, "")
				c.wantOffsets(0, 0, 1)
			},
		},
		{
			name: "the fence does not hold for answers to checks, and is never nearer than the broker's own time",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				a := c.half(0, "a", "CHECK_IMMUNITY_TIME_IN_SECONDS", "1")
				k := p.await()
				c.answer(k, commit)
				s.eventually("it is there", func() bool { return len(c.all(0)) == 1 })
				s.pass(TransactionTimeout)
				c.endHalf(a, commit, remoting.CodeIllegalOperation, "")
				b := c.half(0, "b", "CHECK_IMMUNITY_TIME_IN_SECONDS", "1")
				s.pass(TransactionTimeout - 500*time.Millisecond)
				c.endHalf(b, commit, 0, "")
			},
		},
		{
			// T07
			name: "what was looked at too often is put away, where it can be read; its first handle still commits it",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.half(0, "a")
				s.await("it is put away", func() bool { return c.discarded(a.key) == 1 })
				c.endHalf(a, commit, 0, "")
				s.eventually("it is there", func() bool { return len(c.all(0)) == 1 })
			},
		},
		{
			// W12: with a long time of its own nobody is ever asked.
			name: "looks before the first check count, so that a long time ends in putting away unasked, and a commit still works",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				a := c.half(0, "a", "CHECK_IMMUNITY_TIME_IN_SECONDS", "60")
				s.await("it is put away", func() bool { return c.discarded(a.key) == 1 })
				p.quiet(2 * TransactionCheckInterval)
				c.endHalf(a, commit, 0, "")
				s.eventually("it is there", func() bool { return len(c.all(0)) == 1 })
			},
		},
		{
			name: "a copy made before the commit lives on: it is put away in the end, and the message is there once",
			run: func(s *remotingScene) {
				c := s.dial()
				a := c.half(0, "a", "CHECK_IMMUNITY_TIME_IN_SECONDS", "60")
				s.await("there is a copy", func() bool { return c.halves(a.key) == 2 })
				c.endHalf(a, commit, 0, "")
				s.await("it is put away", func() bool { return c.discarded(a.key) == 1 })
				c.wantOffsets(0, 0, 1)
			},
		},
		{
			// The broker collects for up to 3 s what was ended before it writes it down.
			// (T06, W13)
			name: "what was ended a moment ago may still be checked, and is over when that is answered",
			run: func(s *remotingScene) {
				c, p := s.dial(), s.producer("P-"+s.unique)
				a := c.half(0, "a", "CHECK_IMMUNITY_TIME_IN_SECONDS", "0")
				c.endHalf(a, commit, 0, "")
				s.await("the broker knows of it", func() bool {
					for len(p.checks) > 0 {
						c.answer(<-p.checks, rollBack)
					}
					return s.broker.Now().Sub(a.born) > 8*time.Second
				})
				p.quiet(2 * TransactionCheckInterval)
				if n := c.discarded(a.key); n != 0 {
					s.Errorf("put away %d times", n)
				}
				c.wantOffsets(0, 0, 1)
			},
		},
	}
}

// How a transaction ends, as END_TRANSACTION says it.
const (
	commit   = 8
	rollBack = 12
)

// half is a half message that a case has sent.
type half struct {
	key, group       string
	offset, physical int64
	born             time.Time
}

// half sends a half message with these properties.
func (c *remotingClient) half(queue int, body string, props ...string) half {
	c.s.Helper()
	s := c.s
	s.halves++
	h := half{key: fmt.Sprintf("H%d-%s", s.halves, s.unique), group: "P-" + s.unique, born: s.broker.Now()}
	props = append([]string{"TRAN_MSG", "true", "PGROUP", h.group, "UNIQ_KEY", h.key}, props...)
	f := with(s.sendFields(queue, properties(props...)), "sysFlag", "4", "bornTimestamp", strconv.FormatInt(h.born.UnixMilli(), 10))
	a := c.want(0, "", reqSend, f, []byte(body))
	if a.Fields["transactionId"] != h.key || a.Fields["queueId"] != strconv.Itoa(queue) {
		s.Errorf("got answer %v, want transaction %s and queue %d", a.Fields, h.key, queue)
	}
	h.offset = s.number(a, "queueOffset")
	var err error
	if _, h.physical, err = remoting.ParseOffsetID(a.Fields["msgId"]); err != nil {
		s.Fatal(err)
	}
	return h
}

func (c *remotingClient) endFields(h half, how int) fields {
	return fields{"topic": c.s.topic, "producerGroup": h.group, "tranStateTableOffset": fmt.Sprint(h.offset), "commitLogOffset": fmt.Sprint(h.physical),
		"commitOrRollback": strconv.Itoa(how), "fromTransactionCheck": "false", "msgId": h.key, "transactionId": h.key}
}

// endHalf ends a transaction, and wants this answer.
func (c *remotingClient) endHalf(h half, how, code int, text string) {
	c.s.Helper()
	c.want(code, text, reqEnd, c.endFields(h, how), nil)
}

// answer answers a check.
func (c *remotingClient) answer(k check, how int) {
	c.s.Helper()
	f := with(c.endFields(half{key: k.key, group: k.group, offset: k.offset, physical: k.physical}, how), "fromTransactionCheck", "true")
	c.want(0, "", reqEnd, f, nil)
}

// all returns the bodies in a queue.
func (c *remotingClient) all(queue int) []string {
	c.s.Helper()
	a := c.call(reqPull, c.s.pullFields(queue, 0), nil)
	if a.Code != 0 {
		return nil
	}
	return texts(c.s.decode(a))
}

// discarded and halves count what is found with a key in the broker's own topics.
func (c *remotingClient) discarded(key string) int {
	return c.ownFound("TRANS_CHECK_MAX_TIME_TOPIC", key)
}

func (c *remotingClient) halves(key string) int { return c.ownFound("RMQ_SYS_TRANS_HALF_TOPIC", key) }

func (c *remotingClient) ownFound(topic, key string) int {
	c.s.Helper()
	return len(c.found(with(c.s.uniqueFields(key), "topic", topic)))
}
