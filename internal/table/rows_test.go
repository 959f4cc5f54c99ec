// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/internal/prismstays"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
	"github.com/rocketmq-beam/rocketmq-beam/rowtype"
)

func TestMain(m *testing.M) {
	portable.Init(io.Discard, false)
	code := m.Run()
	litegrpcio.Shutdown()
	rocketmqio.Shutdown()
	ackfn.Shutdown()
	if code == 0 {
		if err := goleak.Find(prismstays.Options()...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// order is a row of all kinds of columns.
type order struct {
	ID      int64              `beam:"id"`
	Small   *int32             `beam:"small"`
	Price   *rowtype.Decimal   `beam:"price"`
	Day     *rowtype.Date      `beam:"day"`
	At      *rowtype.DateTime  `beam:"at"`
	Seen    *rowtype.Instant   `beam:"seen"`
	Data    *[]byte            `beam:"data"`
	Tags    *[]*string         `beam:"tags"`
	Numbers *map[string]*int64 `beam:"numbers"`
	Fine    *bool              `beam:"fine"`
	Clock   *rowtype.Time      `beam:"clock"`
}

const orderColumns = "id BIGINT NOT NULL, small TINYINT, price DECIMAL(10, 2), day DATE, at TIMESTAMP(6), seen TIMESTAMP_LTZ(3), data BYTES, tags ARRAY<STRING>, numbers MAP<STRING, BIGINT>, fine BOOLEAN, clock TIME(3)"

var orderBodies = []string{
	`{"id":1,"small":-7,"price":12.5,"day":"2024-02-29","at":"2024-02-29 01:02:03.000004","seen":"2024-02-29 01:02:03.004Z","data":"AAH/","tags":["a",null,"ü"],"numbers":{"x":1},"fine":true,"clock":"23:59:59"}`,
	`{"id":2}`,
}

func init() {
	beam.RegisterType(reflect.TypeFor[order]())
	beam.RegisterFunction(collectOrder)
	beam.RegisterFunction(collectAny)
	beam.RegisterFunction(keepOrder)
	beam.RegisterFunction(firstKey)
}

// firstKey is a unique key of a row that is in no other: what its key column says.
func firstKey(m rocketmqio.OutgoingMessage) string { return m.Keys[0] }

var collected struct {
	sync.Mutex
	rows []string
}

func collect(row any) {
	collected.Lock()
	defer collected.Unlock()
	collected.rows = append(collected.rows, fmt.Sprintf("%+v", plain(reflect.ValueOf(row))))
}

// plain follows pointers, so that rows can be compared as text.
func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Pointer {
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	}
	if v.Kind() == reflect.Map {
		out := map[any]any{}
		for it := v.MapRange(); it.Next(); {
			out[it.Key().Interface()] = plain(it.Value())
		}
		return out
	}
	if v.Kind() == reflect.Struct && v.NumField() > 2 {
		out := make([]any, v.NumField())
		for i := range out {
			out[i] = plain(v.Field(i))
		}
		return out
	}
	return fmt.Sprint(v.Interface())
}

func collectOrder(o order) { collect(o) }

func collectAny(row beam.X) { collect(row) }

func keepOrder(o order, h coders.ReceiptHandle) (order, coders.ReceiptHandle) { return o, h }

func take(t *testing.T) []string {
	t.Helper()
	collected.Lock()
	defer collected.Unlock()
	out := slices.Sorted(slices.Values(collected.rows))
	collected.rows = nil
	return out
}

func create(name, options string) string {
	return "CREATE TABLE " + name + " (" + orderColumns + ") WITH (" + options + ", 'format' = 'json')"
}

func source(b *embedded.Broker, columns string) string {
	return "CREATE TABLE source (" + columns + ") WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '" + b.NameServer() +
		"', 'rocketmq.source.topic' = 'in', 'rocketmq.source.group' = 'g', 'rocketmq.source.startup.scan.mode' = 'earliest', 'format' = 'json')"
}

func sink(b *embedded.Broker, columns string) string {
	return "CREATE TABLE sink (" + columns + ") WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '" + b.NameServer() +
		"', 'rocketmq.sink.topic' = 'out', 'rocketmq.sink.key.columns' = 'id', 'format' = 'json')"
}

func broker(t *testing.T) *embedded.Broker {
	t.Helper()
	b := embedded.Start(t.Context(), embedded.WithNormalTopic("in", "out"), embedded.WithLiteTopic("bus"), embedded.WithWildcardGroup("g", "bus"))
	t.Cleanup(b.Close)
	return b
}

func run(t *testing.T, p *beam.Pipeline) {
	t.Helper()
	server, err := portable.Prism(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	if err := server.Run(ctx, strings.ReplaceAll(t.Name(), "/", "-"), p, portable.Options{}); err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
}

var toLatest = rocketmqio.ReadTo(rocketmqio.AtLatest())

// Bodies in a topic become rows of a registered struct and of one made of the
// columns; both cross a shuffle, that is, Beam's own encoding of rows.
func TestRowsOfTopics(t *testing.T) {
	b := broker(t)
	for _, body := range orderBodies {
		b.Publish("in", "", []byte(body))
	}
	var got [2][]string
	for i, row := range []reflect.Type{reflect.TypeFor[order](), nil} {
		p, s := beam.NewPipelineWithRoot()
		rows := beam.Reshuffle(s, rocketmqio.ReadRows(s, source(b, orderColumns), row, toLatest))
		if row != nil {
			beam.ParDo0(s, collectOrder, rows)
		} else {
			beam.ParDo0(s, collectAny, rows)
		}
		run(t, p)
		got[i] = take(t)
	}
	want := []string{
		"[1 -7 12.5 2024-02-29 2024-02-29 01:02:03.000004 2024-02-29 01:02:03.004 +0000 UTC [0 1 255] [a <nil> ü] map[x:1] true 23:59:59]",
		"[2 <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]",
	}
	for i := range got {
		if d := cmp.Diff(want, got[i]); d != "" {
			t.Errorf("rows (-want +got):\n%s", d)
		}
	}
}

// Rows written come back as they were, with keys, and are bodies as expected.
func TestRowsIntoTopics(t *testing.T) {
	b := broker(t)
	seven, price, tag, n := int32(-7), rowtype.Decimal{}, "a", int64(3)
	row := order{ID: 5, Small: &seven, Price: &price, Tags: &[]*string{&tag, nil}, Numbers: &map[string]*int64{"n": &n, "null": nil}, Data: &[]byte{1}}
	p, s := beam.NewPipelineWithRoot()
	rocketmqio.WriteRows(s, sink(b, orderColumns), beam.Create(s, row))
	run(t, p)
	ms := b.Messages("out")
	const want = `{"id":5,"small":-7,"price":0.00,"day":null,"at":null,"seen":null,"data":"AQ==","tags":["a",null],"numbers":{"n":3,"null":null},"fine":null,"clock":null}`
	if len(ms) != 1 || string(ms[0].Body) != want || !slices.Equal(ms[0].Keys, []string{"5"}) {
		t.Fatalf("got %+v, want %s with the key 5", ms, want)
	}
}

// Keys are what messages are found by, and rows may share them: each row is a
// message of its own, also in transactions. Where the key columns tell rows apart
// the pipeline says so, and a second run writes nothing.
func TestRowsInTransactions(t *testing.T) {
	b := broker(t)
	table := strings.Replace(sink(b, orderColumns), "'format'", "'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE', 'format'", 1)
	write := func(opts ...rocketmqio.WriteOption) int {
		p, s := beam.NewPipelineWithRoot()
		small := []int32{1, 2}
		rows := beam.Create(s, order{ID: 5, Small: &small[0]}, order{ID: 5, Small: &small[1]}, order{ID: 6})
		rocketmqio.WriteRows(s, table, rows, append(opts, rocketmqio.WriteCommitSettle(50*time.Millisecond))...)
		run(t, p)
		rocketmqio.Shutdown() // as another process would be
		return len(b.Messages("out"))
	}
	if n := write(); n != 3 {
		t.Fatalf("%d messages are there, want one for each row", n)
	}
	if n := write(rocketmqio.WriteExactlyOnce(firstKey)); n != 5 {
		t.Fatalf("%d messages are there, want one more for each id", n)
	}
	if n := write(rocketmqio.WriteExactlyOnce(firstKey)); n != 5 {
		t.Errorf("%d messages are there, want those of the run before", n)
	}
}

// What Beam's schema transforms and SQL see: the coder of the rows is that of
// Beam rows, with the names and logical types that other languages know.
func TestTheSchemaOfRows(t *testing.T) {
	b := broker(t)
	p, s := beam.NewPipelineWithRoot()
	rocketmqio.ReadRows(s, source(b, orderColumns), nil)
	rocketmqio.ReadRows(s, source(b, orderColumns), reflect.TypeFor[order]())
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	graph, err := graphx.Marshal(edges, &graphx.Options{Environment: &pipepb.Environment{}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"id:INT64", "small:INT32?", "price:beam:logical_type:decimal:v1?", "day:beam:logical_type:date:v1?", "at:beam:logical_type:datetime:v1?", "seen:beam:logical_type:millis_instant:v1?",
		"data:BYTES?", "tags:[STRING?]?", "numbers:{STRING:INT64?}?", "fine:BOOLEAN?", "clock:beam:logical_type:time:v1?",
	}
	found := 0
	for _, c := range graph.GetComponents().GetCoders() {
		if c.GetSpec().GetUrn() != "beam:coder:row:v1" {
			continue
		}
		var schema pipepb.Schema
		if err := proto.Unmarshal(c.GetSpec().GetPayload(), &schema); err != nil {
			t.Fatal(err)
		}
		found++
		var got []string
		for _, f := range schema.GetFields() {
			got = append(got, f.GetName()+":"+typeText(f.GetType()))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("schema (-want +got):\n%s", d)
		}
	}
	if found == 0 {
		t.Error("no collection has the coder of rows")
	}
}

func typeText(f *pipepb.FieldType) (text string) {
	defer func() {
		if f.GetNullable() {
			text += "?"
		}
	}()
	switch {
	case f.GetLogicalType() != nil:
		return f.GetLogicalType().GetUrn()
	case f.GetArrayType() != nil:
		return "[" + typeText(f.GetArrayType().GetElementType()) + "]"
	case f.GetMapType() != nil:
		return "{" + typeText(f.GetMapType().GetKeyType()) + ":" + typeText(f.GetMapType().GetValueType()) + "}"
	}
	return f.GetAtomicType().String()
}

// Rows of lite topics are acknowledged after the pipeline's last step, with their
// handles; without, they stay.
func TestRowsOfLiteTopicsAreAcknowledgedWithTheirHandles(t *testing.T) {
	b := broker(t)
	for i, body := range orderBodies {
		b.Publish("bus", fmt.Sprint("tenant-", i), []byte(body))
	}
	table := create("bus", "'connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = '"+b.Endpoints()+"', 'rocketmq.source.main-topic' = 'bus', 'rocketmq.source.consumer-group' = 'g'")
	p, s := beam.NewPipelineWithRoot()
	rows := litegrpcio.ReadRowsWithHandles(s, table, reflect.TypeFor[order](), litegrpcio.ReadMaxRecords(2))
	ackfn.Ack(s, beam.ParDo(s, keepOrder, rows))
	run(t, p)
	if n := b.PendingIn("bus", "g"); n != 0 {
		t.Errorf("%d messages are pending, want none", n)
	}
	b.Publish("bus", "tenant-3", []byte(orderBodies[0]))
	p, s = beam.NewPipelineWithRoot()
	beam.ParDo0(s, collectOrder, litegrpcio.ReadRows(s, table, reflect.TypeFor[order](), litegrpcio.ReadMaxRecords(1)))
	run(t, p)
	if got := take(t); len(got) != 1 || b.PendingIn("bus", "g") != 1 {
		t.Errorf("%d rows and %d messages pending, want one each", len(got), b.PendingIn("bus", "g"))
	}
}

func TestRowsIntoLiteTopics(t *testing.T) {
	b := broker(t)
	p, s := beam.NewPipelineWithRoot()
	litegrpcio.WriteRows(s, create("bus", "'connector' = 'rocketmq-grpc', 'rocketmq.client.endpoints' = '"+b.Endpoints()+"', 'rocketmq.sink.topic' = 'bus', 'rocketmq.sink.lite-topic' = 'tenant'"),
		beam.Create(s, order{ID: 6}))
	run(t, p)
	ms := b.Messages("bus")
	if len(ms) != 1 || ms[0].LiteTopic != "tenant" || !strings.HasPrefix(string(ms[0].Body), `{"id":6,"small":null`) {
		t.Errorf("got %+v, want the row in the lite topic tenant", ms)
	}
}

// A row that its column has no room for fails the bundle, and the error says where.
func TestRowsThatDoNotFit(t *testing.T) {
	b := broker(t)
	large := int32(200)
	p, s := beam.NewPipelineWithRoot()
	rocketmqio.WriteRows(s, sink(b, orderColumns), beam.Create(s, order{ID: 1, Small: &large}))
	_, err := direct.Execute(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "table `sink`: column `small`: 200") {
		t.Errorf("got %v, want an error that names table, column and value", err)
	}
}

func TestFaultsOfRowTypes(t *testing.T) {
	b := broker(t)
	type wrong struct {
		ID    *int64 `beam:"id"`
		Other string
	}
	for _, tt := range []struct {
		name, table string
		row         reflect.Type
		want        []string
	}{
		{"fields of another type, missing and needless ones", source(b, "id BIGINT NOT NULL, name STRING"), reflect.TypeFor[wrong](),
			[]string{"column `id`: field ID is of type *int64: BIGINT NOT NULL wants int64", "column `name` has no field in", "field Other of"}},
		{"no struct", source(b, "id BIGINT"), reflect.TypeFor[int64](), []string{"want a struct"}},
		{"a name that no field can have", source(b, "`id-1` BIGINT"), nil, []string{"column `id-1`: the names of fields"}},
		{"names that differ in the first letter", source(b, "id BIGINT, Id BIGINT"), nil, []string{"column `Id`: column `id` differs in its first letter only"}},
		{"instants with microseconds", source(b, "at TIMESTAMP_LTZ(6)"), nil, []string{"declare TIMESTAMP_LTZ(3)"}},
		{"a table of another connector", strings.Replace(source(b, "id BIGINT"), "'rocketmq'", "'rocketmq-grpc'", 1), nil, []string{"rocketmq-grpc"}},
		{"no table", "SELECT 1", nil, []string{"line 1, column 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				text := fmt.Sprint(recover())
				for _, want := range append(tt.want, "rocketmqio.ReadRows: ") {
					if !strings.Contains(text, want) {
						t.Errorf("got %q, want it to say %q", text, want)
					}
				}
			}()
			_, s := beam.NewPipelineWithRoot()
			rocketmqio.ReadRows(s, tt.table, tt.row)
		})
	}
}
