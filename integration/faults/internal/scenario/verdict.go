// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"strings"
	"time"
)

// Verdict is how a row ended.
type Verdict struct {
	Row    string `json:"row"`
	Target string `json:"target"`
	Seed   uint64 `json:"seed"`
	// Published is how many messages were published, Delivered how many reached
	// the work step of some worker, repetitions included; Distinct without them.
	Published  int `json:"published"`
	Delivered  int `json:"delivered"`
	Distinct   int `json:"distinct"`
	Duplicates int `json:"duplicates"`
	// AckedTold is how many messages some worker had an answer "acked" for. One
	// that was killed may have had more. Expired counts answers that a handle
	// was over.
	AckedTold int `json:"acked_told"`
	Expired   int `json:"expired"`
	Deferred  int `json:"deferred"`
	// Unacked, DeadLettered, BrokerDeliveries and StaleAcks are the broker's own
	// view; -1 where it cannot be asked.
	Unacked          int `json:"unacked"`
	DeadLettered     int `json:"dead_lettered"`
	BrokerDeliveries int `json:"broker_deliveries"`
	StaleAcks        int `json:"stale_acks"`
	// Lost is how many messages never reached a worker, were not acknowledged
	// in the end, or were given up by the broker.
	Lost int `json:"lost"`
	// Uncommitted is how many messages of a normal topic the group's offsets do
	// not cover in the end; Repeatable how many were handed on and not covered
	// when their worker was killed.
	Uncommitted int64 `json:"uncommitted,omitempty"`
	Repeatable  int64 `json:"repeatable,omitempty"`
	// Kills is how many workers were killed with messages in work, InWork with
	// how many in all. Restarts counts workers that ended by themselves.
	Kills    int     `json:"kills,omitempty"`
	InWork   int     `json:"in_work_when_killed,omitempty"`
	Restarts int     `json:"restarts"`
	Seconds  float64 `json:"seconds"`
	// Recovery is how long it took, from the end of the accident, until messages
	// came through again, the longest of several; -1 where a row does not measure
	// that.
	Recovery float64  `json:"recovery_seconds"`
	Faults   []string `json:"faults,omitempty"`
	// Error says why the row failed; empty if it passed.
	Error string `json:"error,omitempty"`
}

// OK says that nothing was lost and all was as it had to be.
func (v Verdict) OK() bool { return v.Lost == 0 && v.Error == "" }

// String is one line.
func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s: published %d, delivered %d, distinct %d, duplicates %d, acked (told) %d, unacked %d, dead letters %d, lost %d",
		v.Row, v.Target, v.Published, v.Delivered, v.Distinct, v.Duplicates, v.AckedTold, v.Unacked, v.DeadLettered, v.Lost)
	for _, x := range []struct {
		name string
		n    int
	}{{"expired", v.Expired}, {"deferred", v.Deferred}, {"stale acks", v.StaleAcks}, {"restarts", v.Restarts}, {"uncommitted", int(v.Uncommitted)}, {"handed on and uncommitted at kills", int(v.Repeatable)}} {
		if x.n > 0 {
			fmt.Fprintf(&b, ", %s %d", x.name, x.n)
		}
	}
	if v.Kills > 0 {
		fmt.Fprintf(&b, ", kills %d", v.Kills)
	}
	if v.InWork > 0 {
		fmt.Fprintf(&b, " with %d in work", v.InWork)
	}
	if v.Recovery >= 0 {
		fmt.Fprintf(&b, ", recovered in %.1f s", v.Recovery)
	}
	fmt.Fprintf(&b, "; %.1f s, seed %d", v.Seconds, v.Seed)
	if v.Error != "" {
		fmt.Fprintf(&b, "; FAILED: %s", v.Error)
	}
	return b.String()
}

// verdict adds up ledger and audit.
func (s *Stage) verdict(row Row, begin time.Time) Verdict {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	v := Verdict{
		Row: row.Name, Target: s.target, Seed: s.seed,
		Published: len(l.published), Distinct: len(l.delivered), AckedTold: len(l.acked),
		Expired: l.outcomes["expired"], Deferred: l.deferrals["deferred"],
		Unacked: len(s.account.Unacked), DeadLettered: len(s.account.DeadLettered),
		BrokerDeliveries: s.account.Deliveries, StaleAcks: s.account.StaleAcks,
		Kills: s.kills, InWork: s.inWork, Restarts: len(l.faults), Faults: l.faults,
		Seconds: time.Since(begin).Seconds(), Recovery: s.recovery.seconds(),
	}
	for _, n := range l.delivered {
		v.Delivered += n
	}
	v.Duplicates = v.Delivered - v.Distinct
	lost := map[string]bool{}
	for _, ids := range [][]string{l.missing(), s.account.Unacked, s.account.DeadLettered} {
		for _, id := range ids {
			lost[id] = true
		}
	}
	v.Lost = len(lost)
	return v
}
