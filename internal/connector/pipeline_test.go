// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
)

const copyScript = `
CREATE TABLE orders (
  id BIGINT NOT NULL, customer STRING, price DECIMAL(10, 2), message_id STRING METADATA FROM 'msg-id' VIRTUAL, made TIMESTAMP_LTZ(3) METADATA FROM 'event-time' VIRTUAL
) WITH (
  'connector' = 'rocketmq5', 'rocketmq.client.endpoints' = 'proxy:8080', 'rocketmq.source.topic' = 'orders', 'rocketmq.source.group' = 'g',
  'rocketmq.client.message.field.delimiter' = '|', 'rocketmq.client.timeZone' = 'Asia/Shanghai'
);
CREATE TABLE large (
  id BIGINT, note STRING, tags STRING METADATA
) WITH (
  'connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'ns:9876', 'rocketmq.sink.topic' = 'large', 'rocketmq.sink.key.columns' = 'id', 'format' = 'json'
);
INSERT INTO large
SELECT id, UPPER(customer) || ' ' || price || ' ' || made, CASE WHEN price > 100 THEN 'huge' ELSE 'big' END
FROM orders WHERE price >= 10 AND customer IS NOT NULL;
`

// rows is what happens to messages between a source and a sink.
type rows struct {
	in, out                  format.Format
	sourceLayout, sinkLayout *Layout
	program                  *script.Program
}

// newRows makes it of what can travel to workers.
func newRows(t testing.TB, text string) rows {
	t.Helper()
	s, err := script.Parse("copy.sql", text)
	if err != nil {
		t.Fatal(err)
	}
	portable, err := script.Parse("", s.Inserts[0].Portable())
	if err != nil {
		t.Fatal(err)
	}
	insert := portable.Inserts[0]
	var r rows
	side := func(table *script.Table, use Use) (format.Format, *Layout) {
		c, err := Parse(s.Tables[map[Use]int{Read: 0, Write: 1}[use]].With(), use, table.Columns)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := table.Columns.Body()
		f, err := format.New(c.Format, body)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLayout(c.LayoutConfig(), table.Columns)
		if err != nil {
			t.Fatal(err)
		}
		return f, l
	}
	r.in, r.sourceLayout = side(insert.Source, Read)
	r.out, r.sinkLayout = side(insert.Sink, Write)
	if r.program, err = insert.Program(r.sourceLayout.zone); err != nil {
		t.Fatal(err)
	}
	return r
}

// message is what is written for a message that was read.
type message struct {
	Body   string
	Header Header
}

func (r rows) process(t testing.TB, body []byte, e *Envelope) (out []message) {
	t.Helper()
	result := r.in.Decode(body)
	if len(result.Faults) > 0 {
		t.Fatal(result.Faults)
	}
	for _, values := range result.Rows {
		row, err := r.sourceLayout.Join(values, e)
		if err != nil {
			t.Fatal(err)
		}
		row, keep, err := r.program.Eval(row)
		if err != nil {
			t.Fatal(err)
		}
		if !keep {
			continue
		}
		values, header, err := r.sinkLayout.Split(row)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := r.out.Encode(values)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, message{string(encoded), header})
	}
	return out
}

func TestAScriptFromBodyToBody(t *testing.T) {
	r := newRows(t, copyScript)
	e := &Envelope{Topic: "orders", MessageID: "7F", Event: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)}
	got := r.process(t, []byte("1|Ann|9.99\n2|Bob|10\n3||50\n4|中|123.4\n5|too few"), e)
	want := []message{
		{`{"id":2,"note":"BOB 10.00 2024-01-02 11:04:05.000"}`, Header{Keys: []string{"2"}, Tag: "big"}},
		{`{"id":3,"note":" 50.00 2024-01-02 11:04:05.000"}`, Header{Keys: []string{"3"}, Tag: "big"}},
		{`{"id":4,"note":"中 123.40 2024-01-02 11:04:05.000"}`, Header{Keys: []string{"4"}, Tag: "huge"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
}

func BenchmarkRowsOfAScript(b *testing.B) {
	for what, text := range map[string]string{
		"expressions": copyScript,
		"copy": `CREATE TABLE a (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'ns:9876', 'rocketmq.source.topic' = 'a',
			'rocketmq.source.group' = 'g', 'rocketmq.client.message.field.delimiter' = '|');
			CREATE TABLE b (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'ns:9876', 'rocketmq.sink.topic' = 'b');
			INSERT INTO b SELECT * FROM a`,
	} {
		b.Run(what, func(b *testing.B) {
			r := newRows(b, text)
			e := &Envelope{Topic: "orders", MessageID: "7F", Event: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)}
			body := []byte("1234567|Ann|123.45")
			b.ReportAllocs()
			for b.Loop() {
				if got := r.process(b, body, e); len(got) != 1 {
					b.Fatal(got)
				}
			}
		})
	}
}
