// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// These tests come last: from the first transaction on a thread of a real broker
// spins.

// transactional copies rows of two fields that are not negative, in transactions.
func transactional(c *cluster, start, in, out string) string {
	return c.located(`CREATE TABLE a (id BIGINT, v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'transactions', 'rocketmq.source.offset.commit.interval' = '100', 'rocketmq.source.startup.scan.mode' = '`+start+`');
CREATE TABLE b (id BIGINT, v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x', 'rocketmq.sink.key.columns' = 'id', 'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE');
INSERT INTO b SELECT id, UPPER(v) FROM a WHERE id >= 0;`, in, out)
}

// times counts how often each body is in a topic, when want of them are or ctx
// ends.
func (c *cluster) times(ctx context.Context, t *testing.T, topic string, want int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for _, m := range c.pull(ctx, t, topic, want) {
		got[string(m.Body)]++
	}
	return got
}

// Each row is there once, also when the script reads its input again, and the
// positions of what is there are committed: the next run goes on behind them.
func TestRowsInTransactionsAreThereOnce(t *testing.T) {
	onEach(t, false, func(t *testing.T, c *cluster) {
		in, out := c.topic(t, "in"), c.topic(t, "out")
		c.send(t, in, bodies("1\x01a\n2\x01b\n-1\x01x", "3\x01c", "-1\x01none", "4\x01d\n5\x01e")...)
		want := map[string]int{"1\x01A": 1, "2\x01B": 1, "3\x01C": 1, "4\x01D": 1, "5\x01E": 1}
		const rows = 5
		for range 2 {
			f := runToEnd(t, transactional(c, "earliest", in, out), bounded())
			if f.MessagesRead != 4 || f.RowsFiltered != 2 || f.RowsWritten != rows || f.RowsFailed != 0 {
				t.Errorf("figures %+v, want %d rows of 4 messages", f, rows)
			}
		}
		c.send(t, in, bodies("6\x01f")...)
		want["6\x01F"] = 1
		if f := runToEnd(t, transactional(c, "group", in, out), bounded()); f.MessagesRead != 1 || f.RowsWritten != 1 {
			t.Errorf("figures %+v of the run that goes on, want one row", f)
		}
		ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
		defer done()
		if got := c.times(ctx, t, out, len(want)); !maps.Equal(got, want) {
			t.Errorf("there are %v, want %v", got, want)
		}
		// Nothing more comes: what is undecided stays invisible.
		again, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if got := c.times(again, t, out, len(want)+1); !maps.Equal(got, want) {
			t.Errorf("a moment later there are %v, want %v", got, want)
		}
	})
}

// A table that two statements read, one of them in transactions, is committed when
// both have written.
func TestStatementsWithAndWithoutTransactionsShareATable(t *testing.T) {
	c := embeddedCluster(t, false)
	in, out := c.topic(t, "in"), c.topic(t, "out")
	c.send(t, in, bodies("1\x01a\n2\x01b", "3\x01c")...)
	script := transactional(c, "earliest", in, out) + c.located(`CREATE TABLE plain (id BIGINT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x', 'format' = 'json');
INSERT INTO plain SELECT id FROM a WHERE id > 1;`, in, out)
	if f := runToEnd(t, script, bounded()); f.MessagesRead != 4 || f.RowsWritten != 5 {
		t.Errorf("figures %+v, want 2 messages read by each statement and 5 rows", f)
	}
	checkBodies(t, c.await(t, out, 5), []string{"1\x01A", "2\x01B", "3\x01C", `{"id":2}`, `{"id":3}`})
	route, err := c.client.Route(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, q := range route.Readable() {
		at, _, err := c.client.QueryCommitted(t.Context(), q, "transactions")
		if err != nil {
			t.Fatal(err)
		}
		sum += at
	}
	if sum != 2 {
		t.Errorf("%d messages lie before what is committed, want 2", sum)
	}
}

func TestWhatTransactionsCannotPromiseIsRefused(t *testing.T) {
	const lite = `
CREATE TABLE l (id BIGINT) WITH ('connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.main-topic' = 't', 'rocketmq.source.consumer-group' = 'g', 'rocketmq.source.ack' = 'last-step');
CREATE TABLE w (id BIGINT) WITH ('connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 't', 'rocketmq.sink.lite-topic' = 'l');
`
	for _, tt := range []struct{ name, insert, want string }{
		{"deliveries that are acknowledged", "INSERT INTO b (id) SELECT id FROM l;", "line 6, column 1: a statement from table `l`"},
		{"lite topics beside them", "INSERT INTO w SELECT id FROM a;", "line 6, column 1: table `a` is read for a table with EXACTLY_ONCE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script := transactional(&cluster{nameServer: "x:1", endpoints: "x:1"}, "earliest", "in", "out")
			err := Run(t.Context(), "test.sql", script+lite+tt.insert, bounded(), &bytes.Buffer{})
			if _, ok := errors.AsType[*ScriptError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// The tally lets a message go when all statements have read it and all its rows
// are there, in whatever order that becomes known.
func TestTally(t *testing.T) {
	for _, tt := range []struct {
		name       string
		statements int
		notes      []count
		settled    int // after so many notes
	}{
		{"no row of it", 1, []count{{1, 0}}, 1},
		{"two rows", 1, []count{{1, 2}, {0, -1}, {0, -1}}, 3},
		{"rows before the note", 1, []count{{0, -1}, {0, -1}, {1, 2}}, 3},
		{"two statements", 2, []count{{1, 1}, {0, -1}, {1, 0}}, 3},
		{"a row is missing", 1, []count{{1, 2}, {0, -1}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tally queueTally
			at := 0
			for i, c := range tt.notes {
				tally.add(7, c)
				bytes, err := encodeTally(tally)
				if err != nil {
					t.Fatal(err)
				}
				if tally, err = decodeTally(bytes); err != nil {
					t.Fatal(err)
				}
				if got := tally.settled(tt.statements); len(got) == 1 && got[0] == 7 {
					at = i + 1
				}
			}
			if at != tt.settled || (at > 0) != (len(tally.Open) == 0) {
				t.Errorf("settled after %d notes, %v is open; want %d", at, tally.Open, tt.settled)
			}
		})
	}
}

// numbered are messages of two rows each.
func numbered(from, to int) (out []*remoting.OutMessage) {
	for i := from; i < to; i++ {
		out = append(out, bodies(fmt.Sprintf("%d\x01a\n%d\x01b", i, i))...)
	}
	return out
}

// Brokers ask any producer of a group what became of its transactions, those of
// other programs, too: the group that all tables have by default is not for them.
func TestTransactionsHaveAGroupOfTheirOwn(t *testing.T) {
	for group, shared := range map[string]bool{"": false, ", 'rocketmq.sink.group' = 'given'": true} {
		b := embedded.Start(t.Context(), embedded.WithNormalTopic("in", "out"))
		t.Cleanup(b.Close)
		b.Publish("in", "", []byte("1\x01a"))
		script := strings.Replace(transactional(&cluster{nameServer: b.NameServer()}, "earliest", "in", "out"), ", 'rocketmq.sink.delivery", group+", 'rocketmq.sink.delivery", 1)
		runToEnd(t, script, bounded())
		if all, common, given := len(b.Halves("")), len(b.Halves(connector.DefaultProducerGroup)), len(b.Halves("given")); all != 1 || common != 0 || (given == 1) != shared {
			t.Errorf("of %d transactions %d are of the group of all tables, %d of the one given: want none, and %v", all, common, given, shared)
		}
	}
}
