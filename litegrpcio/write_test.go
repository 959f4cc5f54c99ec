// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func init() {
	register.Function1x1(keyOf)
	register.Function1x1(attemptsOf)
}

func keyOf(r WriteResult) string   { return strings.Join(r.Keys, ",") + "@" + r.LiteTopic }
func attemptsOf(r WriteResult) int { return r.Attempts }

func messagesToWrite(n int) (out []Message, keys []any) {
	for i := range n {
		m := Message{LiteTopic: fmt.Sprintf("s-%d", i%7), Body: []byte(fmt.Sprint(i)), Keys: []string{fmt.Sprintf("k%d", i)}, Tag: "t", Properties: map[string]string{"p": "🚀"}}
		out = append(out, m)
		keys = append(keys, fmt.Sprintf("k%d@%s", i, m.LiteTopic))
	}
	return out, keys
}

// Every message is stored once, as it was, in the order of its lite topic, and
// has a result; also when the input is windowed.
func TestWriteStoresEachMessageOnceInOrder(t *testing.T) {
	b := startBroker(t)
	messages, keys := messagesToWrite(1200)
	p, s := beam.NewPipelineWithRoot()
	windowed := beam.WindowInto(s, window.NewFixedWindows(time.Minute), beam.CreateList(s, messages))
	results := Write(s, b.Endpoints(), testTopic, windowed)
	passert.Equals(s, beam.WindowInto(s, window.NewGlobalWindows(), beam.ParDo(s, keyOf, results)), keys...)
	start(t, p).succeed(t)
	stored := b.Messages(testTopic)
	if len(stored) != len(messages) {
		t.Fatalf("%d messages stored, want %d", len(stored), len(messages))
	}
	slices.SortFunc(stored, func(x, y embedded.Message) int { return int(x.Offset - y.Offset) })
	last := map[string]int{}
	for _, m := range stored {
		var n int
		fmt.Sscan(string(m.Body), &n)
		if before, ok := last[m.LiteTopic]; ok && n <= before {
			t.Errorf("%s: %d after %d", m.LiteTopic, n, before)
		}
		last[m.LiteTopic] = n
		if m.Tag != "t" || m.Properties["p"] != "🚀" || len(m.Keys) != 1 {
			t.Errorf("stored as %+v", m) // S05, Y09
		}
	}
}

// X13: what may pass is sent again, as often as told; an answer that asks to
// slow down does not count (W01: and is never taken for a success).
func TestWriteTriesAgainWhatMayPass(t *testing.T) {
	for name, c := range map[string]struct {
		fault            func(*embedded.Broker)
		attempts, stored int
	}{
		"the broker is busy six times": {func(b *embedded.Broker) { b.Busy(embedded.SendMessage, 6) }, 7, 1},
		"an answer got lost": {func(b *embedded.Broker) {
			b.Control(embedded.SendMessage, func(context.Context, *embedded.Request) embedded.Reaction { return embedded.LoseReply() })
		}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t)
			c.fault(b)
			p, s := beam.NewPipelineWithRoot()
			results := Write(s, b.Endpoints(), testTopic, beam.Create(s, Message{Body: []byte("x")}), WriteLiteTopic("s"), WriteRequestTimeout(time.Second))
			passert.Equals(s, beam.ParDo(s, attemptsOf, results), c.attempts)
			start(t, p).succeed(t)
			if n := len(b.Messages(testTopic)); n != c.stored {
				t.Errorf("%d messages stored, want %d", n, c.stored)
			}
		})
	}
}

func TestAMessageThatCanNeverBeStoredFailsTheBundleByName(t *testing.T) {
	b := startBroker(t, embedded.WithMaxBodySize(1000), embedded.WithNormalTopic("normal"))
	for name, c := range map[string]struct {
		topic   string
		message Message
		want    []string
	}{
		"a body too large":      {testTopic, Message{LiteTopic: "s", Keys: []string{"the-key"}, Body: make([]byte, 2000)}, []string{"the-key", "1 attempts", "1 of the bundle's messages failed, 2 were stored"}},
		"a tag of bytes":        {testTopic, Message{LiteTopic: "s", Keys: []string{"the-key"}, Tag: "\xff"}, []string{"the-key", `"\xff"`, "not UTF-8"}},
		"no lite topic":         {testTopic, Message{Keys: []string{"the-key"}}, []string{"the-key", "lite topic is empty"}},
		"a topic of other type": {"normal", Message{LiteTopic: "s", Body: []byte("x")}, []string{`"normal"`, "message.type=LITE"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			good := Message{LiteTopic: "good", Body: []byte("x")}
			Write(s, b.Endpoints(), c.topic, beam.Create(s, good, c.message, good))
			err := start(t, p).wait(t)
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want an error with %q", err, part)
				}
			}
		})
	}
}

// A proxy that restarts in the middle, and an answer that gets lost with it,
// cost no message (X13).
func TestWriteOutlivesARestartOfTheProxy(t *testing.T) {
	b := startBroker(t)
	sends, reached := 0, make(chan struct{})
	b.Control(embedded.SendMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		if sends++; sends < 300 {
			return embedded.Pass()
		}
		close(reached)
		return embedded.LoseReply()
	})
	var restart sync.WaitGroup
	defer restart.Wait()
	restart.Go(func() {
		select {
		case <-reached:
			b.Restart()
		case <-t.Context().Done():
		}
	})
	messages, keys := messagesToWrite(1000)
	p, s := beam.NewPipelineWithRoot()
	results := Write(s, b.Endpoints(), testTopic, beam.CreateList(s, messages), WriteRequestTimeout(time.Second))
	passert.Equals(s, beam.ParDo(s, keyOf, results), keys...)
	start(t, p).succeed(t)
	if n := len(b.Messages(testTopic)); n < len(messages) {
		t.Errorf("%d messages stored, want %d", n, len(messages))
	}
}
