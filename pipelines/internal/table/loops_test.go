// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// ends are two tables that are topics at the address ns:9876, with further options.
func ends(name, from, to, options string) string {
	return fmt.Sprintf(`CREATE TABLE %[1]s_in (id BIGINT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'http://ns:9876', 'rocketmq.source.topic' = '%[2]s',
  'rocketmq.source.group' = 'g', 'rocketmq.source.startup.scan.mode' = 'earliest'%[4]s);
CREATE TABLE %[1]s_out (id BIGINT) WITH ('connector' = 'rocketmq5', 'rocketmq.client.endpoints' = 'other:9876;NS:9876', 'rocketmq.sink.topic' = '%[3]s');
`, name, from, to, options)
}

const liteLoop = `CREATE TABLE a (id BIGINT) WITH ('connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = 'localhost:8081',
  'rocketmq.source.main-topic' = 'bus', 'rocketmq.source.consumer-group' = 'g', 'rocketmq.source.ack' = 'last-step');
CREATE TABLE b (id BIGINT) WITH ('connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = '127.0.0.1:8081',
  'rocketmq.sink.topic' = 'bus', 'rocketmq.sink.lite-topic' = 'l');
INSERT INTO b SELECT * FROM a;`

const stop = `, 'rocketmq.source.stop.offset.timestamp' = '%d'`

func TestScriptsThatReadWhatTheyWriteAreToldSo(t *testing.T) {
	now := time.Now()
	const once = "INSERT INTO a_out SELECT id FROM a_in;"
	for _, tt := range []struct {
		name, script string
		bounded      bool
		want         []string // nothing: it is no loop
	}{
		{"a topic onto itself", ends("a", "t", "t", "") + once, false, []string{"line 4, column 1", "`a_in`", "`a_out`", `topic "t"`, "ns:9876", "for ever", "--bounded"}},
		{"one of the topics that are read", ends("a", "s;t", "t", "") + once, false, []string{`topic "t"`}},
		{"another topic", ends("a", "s", "t", "") + once, false, nil},
		{"another namespace", ends("a", "t", "t", ", 'rocketmq.client.namespace' = 'i'") + once, false, nil},
		{"up to what is there at the start", ends("a", "t", "t", "") + once, true, nil},
		{"up to an instant before", ends("a", "t", "t", fmt.Sprintf(stop, now.Add(-time.Minute).UnixMilli())) + once, false, nil},
		{"up to an instant ahead", ends("a", "t", "t", fmt.Sprintf(stop, now.Add(time.Hour).UnixMilli())) + once, true, []string{`topic "t"`}},
		{"a table onto itself", strings.ReplaceAll(ends("a", "t", "u", ", 'rocketmq.sink.topic' = 't'"), "a_out", "unused") + "INSERT INTO a_in SELECT id FROM a_in;", false, []string{"table `a_in` is read and written", `topic "t"`}},
		{"there and back", ends("a", "s", "t", "") + ends("b", "t", "s", "") + once + "\nINSERT INTO b_out SELECT id FROM b_in;", false,
			[]string{"line 7, column 1", "`a_in` to `a_out` (line 7)", "`b_in` to `b_out` (line 8)", `topic "s"`}},
		{"there and further", ends("a", "s", "t", "") + ends("b", "t", "u", "") + once + "INSERT INTO b_out SELECT id FROM b_in;", false, nil},
		{"a tag that is not read", strings.Replace(ends("a", "t", "t", ", 'rocketmq.source.filter.tag' = 'new'"), "'rocketmq.sink.topic'", "'rocketmq.sink.tag' = 'done', 'rocketmq.sink.topic'", 1) + once, false, nil},
		{"a tag that is read", strings.Replace(ends("a", "t", "t", ", 'rocketmq.source.filter.tag' = 'new'"), "'rocketmq.sink.topic'", "'rocketmq.sink.tag' = 'new', 'rocketmq.sink.topic'", 1) + once, false, []string{`topic "t"`}},
		{"lite topics", liteLoop, false, []string{"`a`", "`b`", `topic "bus"`, "127.0.0.1:8081"}},
		{"lite topics, which do not end where they stood", liteLoop, true, []string{`topic "bus"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Defaults()
			o.Bounded = tt.bounded
			p, err := read("test.sql", tt.script)
			if err != nil {
				t.Fatal(err)
			}
			notes := p.loops(&o, now)
			if len(notes) != min(len(tt.want), 1) {
				t.Fatalf("got %q, want %d notes", notes, min(len(tt.want), 1))
			}
			for _, want := range tt.want {
				if !strings.Contains(notes[0], want) {
					t.Errorf("got %q, want it to name %q", notes[0], want)
				}
			}
		})
	}
}

func TestALoopIsToldWhenItIsExplained(t *testing.T) {
	o := Defaults()
	o.Explain = true
	var out bytes.Buffer
	err := Run(t.Context(), "test.sql", ends("a", "t", "t", "")+"INSERT INTO a_out SELECT id FROM a_in;", o, &out)
	if err != nil || !strings.Contains(out.String(), "note: line 4, column 1: tables `a_in` and `a_out` are both topic") {
		t.Errorf("got %v and %q, want a note of it", err, &out)
	}
}

// A bounded script ends at what was there, also where it writes what it reads.
func TestABoundedScriptMayWriteWhatItReads(t *testing.T) {
	c := embeddedCluster(t, false)
	both := c.topic(t, "both")
	const n = 2000
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprint(i))
	}
	c.send(t, both, bodies(rows...)...)
	script := c.located(strings.Replace(ends("a", "x", "x", ""), "other:9876;", "", 1)+"INSERT INTO a_out SELECT id FROM a_in;", both, both)
	if f := runToEnd(t, script, bounded()); f.MessagesRead != n || f.RowsWritten != n {
		t.Errorf("%+v, want %d messages read and written", f, n)
	}
}
