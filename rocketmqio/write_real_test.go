// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

// readAll reads a topic from its beginning to the last of the messages that were
// written: a real broker shows them a moment later.
func readAll(t *testing.T, nameServers, topic string, written []WriteResult) []coders.Message {
	t.Helper()
	ends := map[Queue]int64{}
	for _, r := range written {
		q := Queue{r.Topic, r.Broker, int(r.QueueID)}
		ends[q] = max(ends[q], r.QueueOffset+1)
	}
	c := newCollector(t)
	p, s := beam.NewPipelineWithRoot()
	msgs := ReadBounded(s, nameServers, "readers-of-"+topic, []string{topic}, ReadFrom(Earliest()), ReadTo(AtSpecific(ends)), ReadCommitInterval(0))
	beam.ParDo0(s, &collectFn{Test: t.Name()}, msgs)
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
	return c.all()
}

// S05, Y09, X06c: what is written is read back with all that belongs to it, and
// each message has the result that says where it is.
func TestRealMessagesAreReadBackAsTheyWereWritten(t *testing.T) {
	mq := realmqtest.Shared(t)
	topic, _, _ := realTopic(t, mq, 0)
	const n = 1000
	begin := time.Now()
	results, err := write(t, mq.NameServer(), n, func(i int) OutgoingMessage {
		return OutgoingMessage{
			Body: []byte(fmt.Sprint(i)), Tag: "even", Keys: []string{"k1", fmt.Sprint("number-", i)},
			Properties: map[string]string{"colour": "blau 蓝 🔵"},
		}
	}, WriteTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("written in %v", time.Since(begin))
	at := map[string]WriteResult{}
	for _, r := range results {
		if !r.OK() || r.Status != StatusSendOK || r.Repeated {
			t.Fatalf("got %+v, want it stored safely, once", r)
		}
		at[r.UniqueKey] = r
	}
	read := readAll(t, mq.NameServer(), topic, results)
	if len(read) != n || len(bodies(read)) != n || len(at) != n {
		t.Fatalf("%d messages with %d bodies and %d results, want %d each", len(read), len(bodies(read)), len(at), n)
	}
	for _, m := range read {
		if m.Tag != "even" || len(m.Keys) != 2 || m.Keys[0] != "k1" || m.Keys[1] != "number-"+string(m.Body) || m.Properties["colour"] != "blau 蓝 🔵" {
			t.Fatalf("got %+v, want tag, keys and property as written", m)
		}
		r, ok := at[m.UniqueKey]
		if !ok || r.Broker != m.Broker || r.QueueID != m.QueueID || r.QueueOffset != m.QueueOffset || r.MessageID != m.MessageID {
			t.Fatalf("the result says %+v, the message is at %v with id %s", r, m, m.MessageID)
		}
	}
}
