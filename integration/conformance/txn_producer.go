// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// RunTransactions runs the cases of transactions against the target, whose broker
// has the settings above.
func RunTransactions(t *testing.T, target RemotingTarget) {
	runRemotingCases(t, target, transactionCases())
}

// reqCheck is the request with which a broker checks a half message.
const reqCheck = 39

// producer is a connection that has told of a producer group, and takes checks.
type producer struct {
	s      *remotingScene
	c      *remotingClient
	checks chan check
}

// check is a broker's question about a half message.
type check struct {
	key, group, topic, body string
	offset, physical        int64
}

// producer connects and sends a heartbeat.
func (s *remotingScene) producer(group string) *producer {
	s.Helper()
	p := &producer{s: s, c: s.dial(), checks: make(chan check, 1000)}
	body, err := json.Marshal(map[string]any{"clientID": s.name("C" + strconv.Itoa(s.producers)), "consumerDataSet": []any{},
		"producerDataSet": []any{map[string]any{"groupName": group}}})
	if err != nil {
		s.Fatal(err)
	}
	s.producers++
	p.c.want(0, "", reqHeartbeat, nil, body)
	done := make(chan struct{})
	s.Cleanup(func() { p.c.nc.Close(); <-done })
	go func() {
		defer close(done)
		for {
			cmd, err := p.c.r.Next()
			if err != nil {
				return // the connection is closed
			}
			if k, ok := readCheck(cmd); ok {
				p.checks <- k
			}
		}
	}()
	return p
}

func readCheck(cmd *remoting.Command) (check, bool) {
	var d remoting.Decoder
	ms, err := d.Messages(cmd.Body)
	if cmd.Code != reqCheck || err != nil || len(ms) != 1 {
		return check{}, false
	}
	k := check{key: cmd.Fields["msgId"], topic: ms[0].Topic, group: ms[0].Properties.Get("PGROUP"), body: string(ms[0].Body)}
	k.offset, _ = strconv.ParseInt(cmd.Fields["tranStateTableOffset"], 10, 64)
	k.physical, _ = strconv.ParseInt(cmd.Fields["commitLogOffset"], 10, 64)
	return k, true
}

// await returns the next check, letting time pass until it comes.
func (p *producer) await() (k check) {
	p.s.Helper()
	p.s.await("a check", func() bool {
		select {
		case k = <-p.checks:
			return true
		default:
			return false
		}
	})
	return k
}

// quiet lets d pass and fails if a check comes.
func (p *producer) quiet(d time.Duration) {
	p.s.Helper()
	for range int(d / (100 * time.Millisecond)) {
		p.s.pass(100 * time.Millisecond)
		select {
		case k := <-p.checks:
			p.s.Errorf("got check %+v, want none", k)
			return
		case <-time.After(2 * time.Millisecond): // what is on its way
		}
	}
}

// await lets time pass at the broker until f is true.
func (s *remotingScene) await(what string, f func() bool) {
	s.Helper()
	s.eventually(what, func() bool {
		if f() {
			return true
		}
		s.pass(100 * time.Millisecond)
		return false
	})
}
