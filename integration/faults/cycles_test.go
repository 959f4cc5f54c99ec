// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

const cycles = 100

// L17, C07, N05: a process that starts and stops the source again and again is
// left with nothing of it: no connection, no session, no goroutine.
func TestHundredCyclesLeaveNothingBehind(t *testing.T) {
	b := startBroker(t)
	before := settledCensus(t)
	tp := newTap(t, "L17")
	for i := range cycles {
		for k := range 3 {
			b.Publish(topic, fmt.Sprintf("s-%d", k), fmt.Appendf(nil, "%d/%d", i, k))
		}
		p, s := beam.NewPipelineWithRoot()
		branch(s, "L17", b.Endpoints(), topic, group, litegrpcio.ReadMaxRecords(3), litegrpcio.ReadMaxDuration(patience))
		if err := start(p).wait(); err != nil {
			t.Fatalf("cycle %d: %v", i, err)
		}
		if c, _ := takeCensus(t); i == 0 && (c.ours <= before.ours || c.transports <= before.transports) {
			t.Errorf("the census sees nothing of the session that is open now: %+v, before %+v", c, before)
		}
		shutdown()
		await(t, b, "the end of all connections", func(s embedded.Snapshot) bool { return s.Connections() == 0 && len(s.Sessions()) == 0 })
	}
	if all, distinct := tp.counts(); all != 3*cycles || distinct != 3*cycles || b.Pending(topic) != 0 {
		t.Errorf("%d messages came, %d of them different, %d not acked; want %d, %d and none", all, distinct, b.Pending(topic), 3*cycles, 3*cycles)
	}
	nothingLeft(t, before)
}

// Y49, C07: a hundred starts that fail, for the topic is missing, leave nothing
// either.
func TestHundredFailingStartsLeaveNothingBehind(t *testing.T) {
	b := startBroker(t)
	before := settledCensus(t)
	const atOnce = 10
	asked := make(chan string, 100*cycles)
	b.ControlAlways(embedded.QueryRoute, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		asked <- r.Topic()
		return embedded.Pass()
	})
	for round := range cycles / atOnce {
		var failing []*running
		for i := range atOnce {
			missing := fmt.Sprintf("missing-%d-%d", round, i)
			p, s := beam.NewPipelineWithRoot()
			branch(s, "Y49", b.Endpoints(), missing, group)
			failing = append(failing, start(p))
			// Prism has a data race of its own when two jobs are submitted at a
			// time. When the source asks for its topic, the submission is over.
			for got := ""; got != missing; {
				select {
				case got = <-asked:
				case <-time.After(patience):
					t.Fatalf("nobody asked for topic %s", missing)
				}
			}
		}
		for _, r := range failing {
			if err := r.wait(); err == nil || !strings.Contains(err.Error(), "TOPIC_NOT_FOUND") {
				t.Errorf("got %v, want an error about the topic", err)
			}
		}
		shutdown()
		await(t, b, "the end of all connections", func(s embedded.Snapshot) bool { return s.Connections() == 0 && len(s.Sessions()) == 0 })
	}
	nothingLeft(t, before)
}

// C06: a shutdown while messages are being delivered does not panic, and loses
// nothing: what was not acked comes again.
func TestHundredShutdownsWhileMessagesAreDelivered(t *testing.T) {
	warm(t)
	// The answer that a shutdown cuts off keeps its lite topic waiting for the end
	// of the lease, so these are ended by hand; that makes attempts, of which no
	// message may have too many.
	b := startBroker(t, embedded.WithMaxDeliveryAttempts(10*cycles))
	published := 0
	publish := func(n int) {
		for range n {
			b.Publish(topic, fmt.Sprintf("s-%d", published%40), fmt.Append(nil, published))
			published++
		}
	}
	newTap(t, "C06")
	for i := range cycles {
		publish(30)
		p, s := beam.NewPipelineWithRoot()
		branch(s, "C06", b.Endpoints(), topic, group, litegrpcio.ReadFetchConcurrency(4), litegrpcio.ReadMaxMessageNum(2),
			litegrpcio.ReadMaxRecords(int64(1+i%20)), litegrpcio.ReadMaxDuration(patience))
		start(p).succeed(t)
		// Four receivers are at work, and their queue is full.
		var both sync.WaitGroup
		both.Go(shutdown)
		publish(10)
		both.Wait()
		b.ExpireLeases()
	}
	tp := newTap(t, "C06 rest")
	p, s := beam.NewPipelineWithRoot()
	branch(s, "C06 rest", b.Endpoints(), topic, group, litegrpcio.ReadFetchConcurrency(4), untilIdle)
	r := start(p)
	await(t, b, "acks", func(s embedded.Snapshot) bool { return s.Pending(topic) == 0 })
	r.succeed(t)
	for _, m := range b.Messages(topic) {
		if !m.Acked() || m.DeadLettered() {
			t.Errorf("message %s: acked %v, dead letter %v", m.ID, m.Acked(), m.DeadLettered())
		}
	}
	all, _ := tp.counts()
	t.Logf("published %d, of which %d were left to the last run", published, all)
}

// census counts goroutines. Total counts of a process that runs pipelines say
// little: prism and the harness leave some a job. So it looks at those that have
// a function of this project on their stack, other than the embedded broker and
// the tests, and at those that serve a gRPC connection that a client opened, for
// these have only gRPC's own functions on their stacks.
type census struct{ ours, transports int }

var (
	counted   = regexp.MustCompile(`^(\d+) @`)
	ours      = regexp.MustCompile(`rocketmq-beam/rocketmq-beam/(litegrpcio|ackfn|throttlefn|internal)`)
	transport = regexp.MustCompile(`transport\.\(\*http2Client\)|grpcsync\.\(\*CallbackSerializer\)`)
)

func takeCensus(t *testing.T) (c census, text string) {
	t.Helper()
	var buf bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&buf, 1); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, stack := range strings.Split(buf.String(), "\n\n") {
		m := counted.FindStringSubmatch(stack)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1]) // digits, as matched
		switch {
		case ours.MatchString(stack):
			c.ours += n
		case transport.MatchString(stack):
			c.transports += n
		default:
			continue
		}
		found = append(found, stack)
	}
	return c, strings.Join(found, "\n\n")
}

// settledCensus runs some empty pipelines and waits until prism has cleared up
// what it clears up.
func settledCensus(t *testing.T) census {
	t.Helper()
	shutdown()
	warm(t)
	c, _ := takeCensus(t)
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for same := 0; same < 10; {
		<-again.C
		now, _ := takeCensus(t)
		if now == c {
			same++
		} else {
			c, same = now, 0
		}
	}
	return c
}

// nothingLeft waits until the goroutines are those of before.
func nothingLeft(t *testing.T, before census) {
	t.Helper()
	timeout := time.After(patience)
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		now, text := takeCensus(t)
		if now.ours <= before.ours && now.transports <= before.transports {
			t.Logf("goroutines of this project %d → %d, of client connections %d → %d", before.ours, now.ours, before.transports, now.transports)
			return
		}
		select {
		case <-again.C:
		case <-timeout:
			t.Fatalf("goroutines of this project %d → %d, of client connections %d → %d:\n%s", before.ours, now.ours, before.transports, now.transports, text)
		}
	}
}
