// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever the text, it is read or refused with a place; what is read can be
// shipped, and rows of NULL go through it without a panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/scripts/*.sql")
	if err != nil || len(files) == 0 {
		f.Fatal(err, "no scripts")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, statement := range []string{
		"", ";;", "INSERT INTO z SELECT i, s, 1 FROM a WHERE i BETWEEN 1 AND 2 OR s LIKE '%a_' ESCAPE '!' AND NOT b IS UNKNOWN",
		"INSERT INTO z (i, n) SELECT CASE i WHEN 1 THEN -2 ELSE i / 0 END, COALESCE(l, 1) FROM a AS t WHERE t.i IN (1, NULL)",
		"INSERT INTO z SELECT CAST(d AS INT), TRIM(LEADING 'x' FROM s) || SUBSTRING(s FROM 1 FOR 2), ABS(l) FROM a WHERE m['k'] = 'v' AND ts > '2024-01-01'",
		"INSERT INTO z SELECT * FROM a JOIN b", "SELECT '", "CREATE TABLE (", "/* ", "INSERT INTO z SELECT ((((1", "-- x",
		"CREATE TABLE t (a ARRAY<MAP<INT, DECIMAL(38, 38)>> NOT NULL METADATA FROM 'x' VIRTUAL COMMENT 'y') WITH ('a' = 'b')",
	} {
		f.Add(ddl + statement)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("", text)
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Fatalf("script %v with error %q", s, err)
			}
			return
		}
		for _, insert := range s.Inserts {
			again, err := Parse("", insert.Portable())
			if err != nil {
				t.Fatalf("%v\nin %s", err, insert.Portable())
			}
			if d := cmp.Diff(insert.Source.Columns, again.Inserts[0].Source.Columns); d != "" {
				t.Fatalf("columns differ: %s", d)
			}
			p, err := again.Inserts[0].Program(nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _, _ = p.Eval(make([]any, len(insert.Source.Columns))) // an error is fine, a panic is none
		}
	})
}
