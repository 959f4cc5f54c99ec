// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// document is a script of the connectors' documents, with endpoints and topics of
// a test.
func document(t *testing.T, c *cluster, file, in, out string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "script", "testdata", "scripts", file))
	if err != nil {
		t.Fatal(err)
	}
	return c.located(string(text), in, out)
}

var (
	endpointsOption = regexp.MustCompile(`('rocketmq\.client\.endpoints'\s*=\s*)'(http://)?[^']*'`)
	sourceOption    = regexp.MustCompile(`('rocketmq\.source\.topic'\s*=\s*)'[^']*'`)
	sinkOption      = regexp.MustCompile(`('rocketmq\.sink\.topic'\s*=\s*)'[^']*'`)
	createTable     = regexp.MustCompile(`(?s)CREATE TABLE.*?;`)
)

// located puts endpoints and topics of a test into a script. Lite topics keep
// theirs.
func (c *cluster) located(script, in, out string) string {
	return createTable.ReplaceAllStringFunc(script, func(table string) string {
		if strings.Contains(table, "'rocketmq-grpc'") {
			return endpointsOption.ReplaceAllString(table, "${1}'"+c.endpoints+"'")
		}
		table = endpointsOption.ReplaceAllString(table, "${1}'${2}"+c.nameServer+"'")
		table = sourceOption.ReplaceAllString(table, "${1}'"+in+"'")
		return sinkOption.ReplaceAllString(table, "${1}'"+out+"'")
	})
}

// with adds options to the tables of a script that are read.
func with(script, options string) string {
	return strings.ReplaceAll(script, "'rocketmq.source.group'", options+", 'rocketmq.source.group'")
}

// bounded are options for a run that ends by itself.
func bounded() Options {
	o := Defaults()
	o.Bounded = true
	return o
}

// runToEnd runs a script that ends, and returns its figures.
func runToEnd(t *testing.T, script string, o Options) figures {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 2*time.Minute)
	defer done()
	var out bytes.Buffer
	if err := Run(ctx, "test.sql", script, o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return lastLine(t, out.String())
}

func lastLine(t *testing.T, out string) (f figures) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &f); err != nil {
		t.Fatalf("the last line is no JSON: %v\n%s", err, out)
	}
	return f
}

const (
	users   = "1\x0110\x01buy|2\x0120\x01点击|3\x01\x01"
	signers = `, 'rocketmq.client.accessKey' = 'YourAccessKey', 'rocketmq.client.secretKey' = 'YourSecretKey'`
)

// The documents' tables as sources: bodies in a topic arrive as rows. A sink of
// JSON shows their types. The mode is earliest, as in one of them: the others
// begin at the latest message by default, see [TestAScriptWithoutEnd].
func TestDocumentsTablesAsSources(t *testing.T) {
	for _, tt := range []struct {
		file, bodies   string
		options        string
		columns, query string
		signed         bool
		want           []string
	}{
		{file: "source_and_sink.sql", options: earliest, bodies: "1\x01Ann\x01hello|2\x01Bob\x01你好 🙂", columns: "id BIGINT, name STRING, message STRING", query: "id, name, message",
			want: []string{`{"id":1,"name":"Ann","message":"hello"}`, `{"id":2,"name":"Bob","message":"你好 🙂"}`}},
		{file: "metadata.sql", options: earliest, bodies: "5|6", columns: "topic STRING, id BIGINT", query: "CASE WHEN topic LIKE '%-in' THEN 'in' END, id",
			want: []string{`{"topic":"in","id":5}`, `{"topic":"in","id":6}`}},
		{file: "rocketmq5_source.sql", bodies: users, columns: "user_id BIGINT, item_id BIGINT, behavior STRING", query: "*", signed: true,
			want: []string{`{"user_id":1,"item_id":10,"behavior":"buy"}`, `{"user_id":2,"item_id":20,"behavior":"点击"}`, `{"user_id":3,"item_id":null,"behavior":""}`}},
		{file: "rocketmq4_source.sql", options: earliest, bodies: users, columns: "user_id BIGINT, item_id BIGINT, behavior STRING", query: "*", signed: true,
			want: []string{`{"user_id":1,"item_id":10,"behavior":"buy"}`, `{"user_id":2,"item_id":20,"behavior":"点击"}`, `{"user_id":3,"item_id":null,"behavior":""}`}},
		{file: "binary.sql", options: earliest, bodies: "a\x01\x00\xff|\x80", columns: "body BYTES", query: "*", signed: true,
			want: []string{`{"body":"YQEA/w=="}`, `{"body":"gA=="}`}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			onEach(t, tt.signed, func(t *testing.T, c *cluster) {
				in, out := c.topic(t, "in"), c.topic(t, "out")
				c.send(t, in, bodies(strings.Split(tt.bodies, "|")...)...)
				script := document(t, c, tt.file, in, "unused") + c.located(jsonSink(tt.columns, tt.signed), in, out) +
					"INSERT INTO test_out SELECT " + tt.query + " FROM rocketmq_source;"
				if tt.options != "" {
					script = with(script, tt.options)
				}
				f := runToEnd(t, script, bounded())
				n := int64(len(tt.want))
				if f.MessagesRead != n || f.RowsRead != n || f.RowsWritten != n || f.RowsFiltered != 0 {
					t.Errorf("figures %+v, want %d rows", f, n)
				}
				checkBodies(t, c.await(t, out, len(tt.want)), tt.want)
			})
		})
	}
}

const earliest = `'rocketmq.source.startup.scan.mode' = 'earliest'`

func jsonSink(columns string, signed bool) string {
	return "CREATE TABLE test_out (" + columns + ") WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x', 'format' = 'json'" + keysIf(signed) + ");"
}

func keysIf(signed bool) string {
	if signed {
		return signers
	}
	return ""
}

func checkBodies(t *testing.T, got map[string]remoting.Message, want []string) {
	t.Helper()
	var all []string
	for body := range got {
		all = append(all, body)
	}
	slices.Sort(all)
	if d := cmp.Diff(slices.Sorted(slices.Values(want)), all); d != "" {
		t.Errorf("bodies (-want +got):\n%s", d)
	}
}

// The documents' tables as sinks: rows are written as the bodies that other
// programs expect.
func TestDocumentsTablesAsSinks(t *testing.T) {
	for _, tt := range []struct {
		file, columns string
		signed        bool
		rows, want    []string
	}{
		{"source_and_sink.sql", "id BIGINT, name STRING, message STRING", false, []string{`{"id":1,"name":"Ann","message":"a b"}`, `{"id":2,"message":"你好"}`}, []string{"1\x01Ann\x01a b", "2\x01\x01你好"}},
		{"rocketmq5_sink.sql", "user_id BIGINT, item_id BIGINT, behavior STRING", true, []string{`{"user_id":-1,"item_id":9223372036854775807,"behavior":"buy"}`}, []string{"-1\x019223372036854775807\x01buy"}},
		{"rocketmq4_sink.sql", "user_id BIGINT, item_id BIGINT, behavior STRING", true, []string{`{"user_id":1,"behavior":""}`}, []string{"1\x01\x01"}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			onEach(t, tt.signed, func(t *testing.T, c *cluster) {
				in, out := c.topic(t, "in"), c.topic(t, "out")
				c.send(t, in, bodies(tt.rows...)...)
				script := document(t, c, tt.file, "unused", out) + c.located(`CREATE TABLE test_in (`+tt.columns+`) WITH (
					'connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'test-in', 'format' = 'json', `+earliest+keysIf(tt.signed)+`);`, in, out) +
					"INSERT INTO rocketmq_sink SELECT * FROM test_in;"
				if f := runToEnd(t, script, bounded()); f.RowsWritten != int64(len(tt.want)) {
					t.Errorf("figures %+v, want %d rows", f, len(tt.want))
				}
				checkBodies(t, c.await(t, out, len(tt.want)), tt.want)
			})
		})
	}
}

// The whole script of the documents, from topic to topic.
func TestDocumentsScriptFromTopicToTopic(t *testing.T) {
	onEach(t, true, func(t *testing.T, c *cluster) {
		in, out := c.topic(t, "in"), c.topic(t, "out")
		texts := strings.Split(users, "|")
		c.send(t, in, bodies(texts...)...)
		if f := runToEnd(t, document(t, c, "rocketmq5_copy.sql", in, out), bounded()); f.RowsWritten != 3 {
			t.Errorf("figures %+v, want 3 rows", f)
		}
		checkBodies(t, c.await(t, out, 3), texts)
	})
}

// Lite topics both ways: a script fills one, the document's script copies it, and
// a third reads the copy. With last-step nothing is left to be delivered again.
func TestLiteTopicsBothWays(t *testing.T) {
	onEach(t, false, func(t *testing.T, c *cluster) {
		in, out := c.topic(t, "in"), c.topic(t, "out")
		c.send(t, in, bodies("s1\x01hello", "s2\x01你好", "s3\x01")...)
		grpc := document(t, c, "grpc.sql", "", "")
		acked := strings.ReplaceAll(grpc, "'rocketmq.source.consumer-group'", "'rocketmq.source.ack' = 'last-step', 'rocketmq.source.consumer-group'")
		tables := createTable.FindAllString(acked, -1)
		source, sink := tables[0], tables[1]
		const name = "SELECT * FROM"
		fill := c.located(`CREATE TABLE test_in (session STRING, text STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x',
			'rocketmq.source.group' = 'test-in', `+earliest+`);`, in, out) + sink + "INSERT INTO " + nameOf(t, sink) + " " + name + " test_in;"
		if f := runToEnd(t, fill, bounded()); f.RowsWritten != 3 {
			t.Fatalf("figures %+v, want 3 rows in a lite topic", f)
		}
		o := bounded()
		o.IdleTimeout = 15 * time.Second
		read := source + c.located(jsonSink("session STRING, text STRING", false), in, out) + "INSERT INTO test_out " + name + " " + nameOf(t, source) + ";"
		f := runToEnd(t, read, o)
		if f.MessagesRead != 3 || f.RowsWritten != 3 || f.MessagesAcked != 3 {
			t.Errorf("figures %+v, want 3 messages read, written and acknowledged", f)
		}
		checkBodies(t, c.await(t, out, 3), []string{`{"session":"s1","text":"hello"}`, `{"session":"s2","text":"你好"}`, `{"session":"s3","text":""}`})
	})
}

func nameOf(t *testing.T, createTable string) string {
	t.Helper()
	fields := strings.Fields(createTable)
	if len(fields) < 3 {
		t.Fatalf("no table: %s", createTable)
	}
	return strings.Trim(fields[2], "`(")
}

// Metadata, key columns, a dynamic tag, filters and expressions.
func TestMetadataKeysTagsAndExpressions(t *testing.T) {
	onEach(t, false, func(t *testing.T, c *cluster) {
		in, out := c.topic(t, "in"), c.topic(t, "out")
		c.send(t, in,
			&remoting.OutMessage{Body: []byte("1|12.5\n2|7"), Properties: remoting.PropertiesOf("TAGS", "paid", "KEYS", "k1 k2", "colour", "blue")},
			&remoting.OutMessage{Body: []byte("3|100|too many\n4"), Properties: remoting.PropertiesOf("TAGS", "open")},
		)
		script := c.located(`CREATE TABLE orders (id BIGINT, price DECIMAL(10, 2), k STRING METADATA FROM 'keys' VIRTUAL, t STRING METADATA FROM 'tags' VIRTUAL,
			p MAP<STRING, STRING> METADATA FROM 'properties' VIRTUAL, q INT METADATA FROM 'queue-id' VIRTUAL, o BIGINT METADATA FROM 'queue-offset' VIRTUAL,
			i STRING METADATA FROM 'msg-id' VIRTUAL, e TIMESTAMP_LTZ(3) METADATA FROM 'event-time' VIRTUAL
		) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'g',
			'rocketmq.client.message.field.delimiter' = '|', `+earliest+`);
		CREATE TABLE priced (id BIGINT, text STRING, colour STRING, kind STRING, fine BOOLEAN) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x',
			'rocketmq.sink.key.columns' = 'id', 'rocketmq.sink.tag.dynamic.enable' = 'true', 'rocketmq.sink.tag.dynamic.column' = 'kind', 'format' = 'json');
		INSERT INTO priced SELECT id, k || '/' || price, p['colour'], UPPER(t), q >= 0 AND o = 0 AND CHAR_LENGTH(i) = 32 AND e > TIMESTAMP '2020-01-01 00:00:00' FROM orders WHERE price > 10;`, in, out)
		f := runToEnd(t, script, bounded())
		want := figures{Seconds: f.Seconds, MessagesRead: 2, RowsRead: 3, RowsFiltered: 1, RowsSkipped: 1, RowsWritten: 2}
		if d := cmp.Diff(want, f); d != "" {
			t.Errorf("figures (-want +got):\n%s", d)
		}
		got := c.await(t, out, 2)
		first, second := `{"id":1,"text":"k1 k2/12.50","colour":"blue","kind":"PAID","fine":true}`, `{"id":3,"text":"/100.00","colour":null,"kind":"OPEN","fine":true}`
		checkBodies(t, got, []string{first, second})
		if m := got[first]; m.Properties.Get("KEYS") != "1" || m.Properties.Get("TAGS") != "PAID" {
			t.Errorf("properties %v, want the id as key and PAID as tag", m.Properties)
		}
	})
}

// Two statements share a table that is read: each sees all of it.
func TestTwoStatementsReadATableOnce(t *testing.T) {
	c := embeddedCluster(t, false)
	in, out := c.topic(t, "in"), c.topic(t, "out")
	c.send(t, in, bodies("1\x01a", "2\x01b")...)
	script := c.located(`CREATE TABLE a (id BIGINT, v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'g', `+earliest+`);
		CREATE TABLE b (id BIGINT, v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x', 'format' = 'json');
		INSERT INTO b SELECT id, v FROM a; INSERT INTO b SELECT id + 10, v FROM a;`, in, out)
	f := runToEnd(t, script, bounded())
	if f.MessagesRead != 4 || f.RowsWritten != 4 {
		t.Errorf("figures %+v, want 4 messages and rows", f)
	}
	checkBodies(t, c.await(t, out, 4), []string{`{"id":1,"v":"a"}`, `{"id":2,"v":"b"}`, `{"id":11,"v":"a"}`, `{"id":12,"v":"b"}`})
}

// What is wrong with a script is found before anything runs, with its place.
func TestFaultsOfScripts(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"nothing to run", `CREATE TABLE a (x INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1')`, []string{"no INSERT"}},
		{"faults of options have places", "CREATE TABLE a (x INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x',\n'rocketmq.source.grup' = 'g');\nCREATE TABLE b (x INT) WITH ('connector' = 'rocketmq5');\nINSERT INTO b SELECT * FROM a;",
			[]string{"line 1, column 56: table `a`: 'rocketmq.client.endpoints' = 'x'", "line 2, column 1: table `a`: 'rocketmq.source.grup'", "do you mean 'rocketmq.source.group'?", "line 1, column 1: table `a`: 'rocketmq.source.topic' is missing",
				"line 3, column 1: table `b`: 'rocketmq.client.endpoints' is missing", "'rocketmq.sink.topic' is missing"}},
		{"a join", "INSERT INTO b SELECT * FROM a JOIN c ON a.x = c.x", []string{"line 1, column 31"}},
		{"two statements that would acknowledge", `CREATE TABLE a (x INT) WITH ('connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.main-topic' = 't', 'rocketmq.source.consumer-group' = 'g', 'rocketmq.source.ack' = 'last-step');
			CREATE TABLE b (x INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 't');
			INSERT INTO b SELECT * FROM a; INSERT INTO b SELECT * FROM a`, []string{"line 1, column 1", "2 statements read it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Run(t.Context(), "test.sql", tt.script, Defaults(), &out)
			if _, ok := errors.AsType[*ScriptError](err); !ok {
				t.Fatalf("got %v, want a ScriptError", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got\n%v\nwant it to say %q", err, want)
				}
			}
		})
	}
}

// A run that is to end where it begins reads nothing, and says so.
func TestBoundedFromTheLatestMessageIsRefused(t *testing.T) {
	script := `CREATE TABLE a (x INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 't', 'rocketmq.source.group' = 'g');
		CREATE TABLE b (x INT) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'u'); INSERT INTO b SELECT * FROM a`
	var out bytes.Buffer
	err := Run(t.Context(), "test.sql", script, bounded(), &out)
	if _, ok := errors.AsType[*ScriptError](err); !ok || !strings.Contains(err.Error(), "line 1, column 1: table `a` begins at the latest message") {
		t.Errorf("got %v, want it refused with the table's place", err)
	}
}

// Explaining shows the steps and the options as they hold, and no secret.
func TestExplain(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "script", "testdata", "scripts", "rocketmq5_copy.sql"))
	if err != nil {
		t.Fatal(err)
	}
	o := Defaults()
	o.Explain = true
	var out bytes.Buffer
	if err := Run(t.Context(), "copy.sql", string(text), o, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"table `rocketmq_source`, read:", "`behavior` STRING", "'rocketmq.client.secretKey' = '******'", "'rocketmq.source.pull.batch.size' = '32'  (default)",
		"→ read topic YourTopic as group YourConsumerGroup from earliest, without end", "→ INSERT INTO rocketmq_sink SELECT * FROM rocketmq_source", "→ write topic YourTopic, AT_LEAST_ONCE"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "YourSecretKey") || strings.Contains(out.String(), "YourAccessKey") {
		t.Errorf("a secret shows:\n%s", &out)
	}
}

// Rows are new messages, also those that say where they come from.
func TestRowsThatNoConsumerCouldFindAreRefused(t *testing.T) {
	for _, guarantee := range []string{"AT_LEAST_ONCE", "EXACTLY_ONCE"} {
		for options, row := range map[string]string{
			"'rocketmq.sink.key.columns' = 'v'":                                                     "a b",
			"'rocketmq.sink.tag.dynamic.enable' = 'true', 'rocketmq.sink.tag.dynamic.column' = 'v'": "a|b",
		} {
			t.Run(guarantee+" "+row, func(t *testing.T) {
				c := embeddedCluster(t, false)
				in, out := c.topic(t, "in"), c.topic(t, "out")
				c.send(t, in, bodies(row)...)
				script := c.located(`CREATE TABLE a (v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'g', `+earliest+`);
CREATE TABLE b (w STRING, v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x', 'rocketmq.sink.delivery.guarantee' = '`+guarantee+`', `+options+`);
INSERT INTO b SELECT v, v FROM a;`, in, out)
				var report bytes.Buffer
				if err := Run(t.Context(), "test.sql", script, bounded(), &report); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", row)) {
					t.Errorf("got %v, want it to name %q\n%s", err, row, &report)
				}
			})
		}
	}
}

// What cannot be written is counted with the guarantee NONE. That nothing could be is
// a failure.
func TestAScriptThatWritesNothingFails(t *testing.T) {
	b := embedded.Start(t.Context(), embedded.WithNormalTopic("in", "out"), embedded.WithMaxBodySize(10))
	t.Cleanup(b.Close)
	c := &cluster{nameServer: b.NameServer()}
	script := c.located(`CREATE TABLE a (v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.source.topic' = 'x', 'rocketmq.source.group' = 'g', `+earliest+`);
CREATE TABLE b (v STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'x:1', 'rocketmq.sink.topic' = 'x', 'rocketmq.sink.delivery.guarantee' = 'NONE');
INSERT INTO b SELECT CONCAT('more than ten bytes', v) FROM a WHERE v <> 'short'; INSERT INTO b SELECT v FROM a WHERE v = 'short';`, "in", "out")
	b.Publish("in", "", []byte("long"))
	var report bytes.Buffer
	err := Run(t.Context(), "test.sql", script, bounded(), &report)
	if f := lastLine(t, report.String()); err == nil || !strings.Contains(err.Error(), "none of 1 rows could be written") || f.RowsFailed != 1 {
		t.Errorf("%+v, %v; want it to fail at its end", f, err)
	}
	b.Publish("in", "", []byte("short"))
	if f := runToEnd(t, script, bounded()); f.RowsFailed != 1 || f.RowsWritten != 1 {
		t.Errorf("%+v, want one row that is counted", f)
	}
}
