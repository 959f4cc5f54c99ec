// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

func program(t testing.TB, statement string) *Program {
	t.Helper()
	s, err := Parse("", ddl+statement)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Inserts[0].Program(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRowsOfInserts(t *testing.T) {
	row := []any{int32(1), int64(2), "text", true, number("1.00"), map[any]any{"k": "v"}, nil, "topic"}
	for _, c := range []struct {
		what, statement string
		want            []any // nil: left out
	}{
		{"columns in their order, the virtual one being NULL", "INSERT INTO z SELECT i, s, l + 1 FROM a", []any{int32(1), "text", nil, int64(3)}},
		{"columns by name, the others being NULL", "INSERT INTO z (n, i) SELECT 5, i FROM a", []any{int32(1), nil, nil, int64(5)}},
		{"a star is all columns, also virtual ones", "INSERT INTO a SELECT i, l, s, b, d, m, ts FROM a", []any{int32(1), int64(2), "text", true, number("1"), map[any]any{"k": "v"}, nil, nil}},
		{"a star beside others", "INSERT INTO z (i, s, n) SELECT t.i, s || '' AS x, 1 FROM a AS t", []any{int32(1), "text", nil, int64(1)}},
		{"numbers go to wider columns", "INSERT INTO z SELECT CAST(1 AS TINYINT), NULL, i FROM a", []any{int32(1), nil, nil, int64(1)}},
		{"WHERE holds", "INSERT INTO z SELECT i, s, 1 FROM a WHERE i = 1", []any{int32(1), "text", nil, int64(1)}},
		{"WHERE does not hold", "INSERT INTO z SELECT i, s, 1 FROM a WHERE i = 2", nil},
		{"WHERE is NULL", "INSERT INTO z SELECT i, s, 1 FROM a WHERE ts IS NULL AND ts > '2024-01-01'", nil},
		{"what WHERE leaves out is not evaluated", "INSERT INTO z SELECT 1 / (i - 1), s, 1 FROM a WHERE i > 1", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, keep, err := program(t, c.statement).Eval(row)
			if err != nil || keep != (c.want != nil) {
				t.Fatalf("keep %v, %v", keep, err)
			}
			if d := cmp.Diff(c.want, got, equalDecimals); d != "" {
				t.Errorf("row (-want +got):\n%s", d)
			}
		})
	}
}

func TestStarTakesMetadataAlong(t *testing.T) {
	s, err := Parse("", "CREATE TABLE a (x STRING, v STRING METADATA FROM 'topic' VIRTUAL) WITH ('k' = 'v'); CREATE TABLE b (x STRING, origin STRING) WITH ('k' = 'v');"+
		"INSERT INTO b SELECT * FROM a; INSERT INTO b SELECT a.* FROM a")
	if err != nil {
		t.Fatal(err)
	}
	for _, insert := range s.Inserts {
		p, err := insert.Program(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := p.Eval([]any{"x", "topic"})
		if d := cmp.Diff([]any{"x", "topic"}, got); d != "" || err != nil {
			t.Errorf("%v, (-want +got):\n%s", err, d)
		}
	}
}

func TestValuesThatTheColumnCannotHold(t *testing.T) {
	p := program(t, "INSERT INTO z SELECT i, s, l FROM a")
	for _, c := range []struct {
		what string
		s, l any
		want string
	}{
		{"NULL in a column that is NOT NULL", "x", nil, "column `n`: out of range: NULL in a column that is NOT NULL"},
		{"text that is too long", "é🚀éé🚀!", int64(1), "column `s`: out of range of VARCHAR(5): 6 characters"},
	} {
		_, _, err := p.Eval([]any{nil, c.l, c.s, nil, nil, nil, nil, nil})
		var store *StoreError
		if !errors.As(err, &store) || !errors.Is(err, sqltype.ErrRange) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.what, err, c.want)
		}
	}
	if _, _, err := p.Eval([]any{nil, int64(1), "é🚀éé🚀", nil, nil, nil, nil, nil}); err != nil {
		t.Errorf("what fits: %v", err)
	}
}

// A program goes on after a row with an error, as if that row had not been.
func TestProgramsSurviveErrors(t *testing.T) {
	p := program(t, "INSERT INTO z SELECT i + 1, s, 1 FROM a WHERE i <> 0 OR s = 'x'")
	row := func(i any) []any { return []any{i, nil, "s", nil, nil, nil, nil, nil} }
	for range 3 {
		if _, _, err := p.Eval(row(int32(math.MaxInt32))); !errors.Is(err, ErrOverflow) {
			t.Fatalf("got %v, want overflow", err)
		}
		if got, keep, err := p.Eval(row(int32(1))); err != nil || !keep || got[0] != int32(2) {
			t.Fatalf("got %v, %v, %v", got, keep, err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	row := []any{int32(1), int64(2), "text", true, number("1.00"), nil, nil, "topic"}
	for what, statement := range map[string]string{
		"columns":     "INSERT INTO z (i, n) SELECT i, 1 FROM a",
		"expressions": "INSERT INTO z SELECT i * 2, UPPER(s), l + 1 FROM a WHERE i BETWEEN 1 AND 10 AND s LIKE 't%'",
	} {
		b.Run(what, func(b *testing.B) {
			p := program(b, statement)
			b.ReportAllocs()
			for b.Loop() {
				if _, keep, err := p.Eval(row); err != nil || !keep {
					b.Fatal(keep, err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("", ddl+"INSERT INTO z SELECT i * 2, UPPER(s), l + 1 FROM a WHERE i BETWEEN 1 AND 10 AND s LIKE 't%'"); err != nil {
			b.Fatal(err)
		}
	}
}
