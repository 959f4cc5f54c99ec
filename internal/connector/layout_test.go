// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func layout(t testing.TB, columns string, pairs ...string) *Layout {
	t.Helper()
	schema := table(t, columns)
	c, err := Parse(with(Remoting, pairs...), Read|Write, schema)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLayout(c.LayoutConfig(), schema)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRowsHaveBodyAndMetadataInTheOrderOfTheColumns(t *testing.T) {
	l := layout(t, "`topic` STRING METADATA VIRTUAL, id BIGINT, read_at TIMESTAMP_LTZ(3) METADATA FROM 'ingestion-time' VIRTUAL, "+
		"made TIMESTAMP(0) METADATA FROM 'event-time' VIRTUAL, `queue-id` BIGINT METADATA VIRTUAL, `queue-offset` BIGINT NOT NULL METADATA VIRTUAL, "+
		"`msg-id` STRING METADATA VIRTUAL, `keys` STRING METADATA, tags STRING METADATA, properties MAP<STRING, STRING> METADATA VIRTUAL, name STRING",
		"rocketmq.client.timeZone", "Asia/Shanghai")
	at := time.Date(2024, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	got, err := l.Join([]any{int64(1), "Ann"}, &Envelope{Topic: "in", Ingestion: at, Event: at, QueueID: 3, QueueOffset: 42, MessageID: "7F", Keys: "a b", Tag: "t",
		Properties: map[string]string{"k": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"in", int64(1), at.Truncate(time.Millisecond), time.Date(2024, 1, 2, 11, 4, 5, 0, time.UTC), int64(3), int64(42), "7F", "a b", "t", map[any]any{"k": "v"}, "Ann"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
	body, header, err := l.Split(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{int64(1), "Ann"}, body); d != "" {
		t.Errorf("body (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Header{Keys: []string{"a", "b"}, Tag: "t"}, header); d != "" {
		t.Errorf("header (-want +got):\n%s", d)
	}
}

func TestMetadataThatItsColumnCannotHold(t *testing.T) {
	l := layout(t, "`topic` VARCHAR(3) METADATA VIRTUAL, id BIGINT")
	if got, err := l.Join([]any{nil}, &Envelope{Topic: "in"}); err != nil || got[0] != "in" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := l.Join([]any{nil}, &Envelope{Topic: "longer"}); err == nil || !strings.Contains(err.Error(), "column `topic`: out of range of VARCHAR(3)") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestKeysAndTagsOfRows(t *testing.T) {
	const columns = "id BIGINT, name STRING, price DECIMAL(5, 2), made TIMESTAMP(3)"
	row := []any{int64(7), "Ann", nil, time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, c := range []struct {
		what    string
		columns string
		options []string
		row     []any
		want    Header
		err     string
	}{
		{"none", columns, nil, row, Header{}, ""},
		{"one tag for all", columns, []string{"rocketmq.sink.tag", "t"}, row, Header{Tag: "t"}, ""},
		{"keys of two columns, and none of NULL", columns, []string{"rocketmq.sink.key.columns", "name;price,id"}, row, Header{Keys: []string{"Ann", "7"}}, ""},
		{"a key with a blank", columns, []string{"rocketmq.sink.key.columns", "made"}, row, Header{}, "column `made`: key \"2024-01-02 03:04:05.000\" has a blank"},
		{"the tag of a column", columns, []string{"rocketmq.sink.tag.dynamic.enable", "true", "rocketmq.sink.tag.dynamic.column", "id"}, row, Header{Tag: "7"}, ""},
		{"the tag of a column that is NULL", columns, []string{"rocketmq.sink.tag.dynamic.enable", "true", "rocketmq.sink.tag.dynamic.column", "price"}, row, Header{}, ""},
		{"metadata that is NULL", "id BIGINT, `keys` STRING METADATA, tags STRING METADATA", nil, []any{int64(1), nil, nil}, Header{}, ""},
		{"metadata that is only read", "id BIGINT, `keys` STRING METADATA VIRTUAL, tags STRING METADATA VIRTUAL", nil, []any{int64(1), "k", "t"}, Header{}, ""},
		{"keys by metadata and a tag by option", "id BIGINT, `keys` STRING METADATA", []string{"rocketmq.sink.tag", "t"}, []any{int64(1), " a  b "}, Header{Keys: []string{"a", "b"}, Tag: "t"}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, got, err := layout(t, c.columns, c.options...).Split(c.row)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("%v, header (-want +got):\n%s", err, d)
			}
		})
	}
}
