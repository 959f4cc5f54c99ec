// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read parses the scripts of a file under testdata.
func read(t testing.TB, file string) *Script {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "scripts", file))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(file, string(text))
	if err != nil {
		t.Fatalf("%s:\n%v", file, err)
	}
	return s
}

// The scripts of the connectors' documents are read as they stand there.
func TestScriptsOfTheConnectorsForFlink(t *testing.T) {
	user := "(`user_id` BIGINT, `item_id` BIGINT, `behavior` STRING)"
	for file, want := range map[string]struct {
		connector string
		columns   []string
		options   int // of the last table
		inserts   int
	}{
		"source_and_sink.sql":  {"rocketmq", []string{"(`id` BIGINT, `name` STRING, `message` STRING)", "(`id` BIGINT, `name` STRING, `message` STRING)"}, 4, 0},
		"metadata.sql":         {"rocketmq", []string{"(`topic` STRING METADATA VIRTUAL, `id` BIGINT)"}, 4, 0},
		"rocketmq5_source.sql": {"rocketmq5", []string{user}, 7, 0},
		"rocketmq4_source.sql": {"rocketmq4", []string{user}, 6, 0},
		"rocketmq5_sink.sql":   {"rocketmq5", []string{user}, 5, 0},
		"rocketmq4_sink.sql":   {"rocketmq4", []string{user}, 6, 0},
		"rocketmq5_copy.sql":   {"rocketmq5", []string{user, user}, 5, 1},
		"binary.sql":           {"rocketmq5", []string{"(`msg_body` BYTES)"}, 6, 0},
		"grpc.sql":             {"rocketmq-grpc", []string{"(`session` STRING, `text` STRING)", "(`session` STRING, `text` STRING)"}, 4, 1},
	} {
		t.Run(file, func(t *testing.T) {
			s := read(t, file)
			var columns []string
			for _, table := range s.Tables {
				columns = append(columns, table.Columns.String())
				if got := table.With()["connector"]; got != want.connector {
					t.Errorf("connector %q, want %q", got, want.connector)
				}
			}
			if d := cmp.Diff(want.columns, columns); d != "" {
				t.Errorf("columns (-want +got):\n%s", d)
			}
			if got := len(s.Tables[len(s.Tables)-1].Options); got != want.options {
				t.Errorf("%d options, want %d", got, want.options)
			}
			if len(s.Inserts) != want.inserts {
				t.Errorf("%d inserts, want %d", len(s.Inserts), want.inserts)
			}
		})
	}
}

func TestOptionsKeepTheirTextAndPlace(t *testing.T) {
	s := read(t, "rocketmq5_copy.sql")
	want := []Option{
		{"connector", "rocketmq5", Position{3, 1}},
		{"rocketmq.client.endpoints", "rmq-xxx.rocketmq.gz.qcloud.tencenttdmq.com:8080", Position{4, 1}},
		{"rocketmq.source.topic", "YourTopic", Position{5, 1}},
		{"rocketmq.source.group", "YourConsumerGroup", Position{6, 1}},
		{"rocketmq.source.startup.scan.mode", "earliest", Position{7, 1}},
		{"rocketmq.client.accessKey", "YourAccessKey", Position{8, 1}},
		{"rocketmq.client.secretKey", "YourSecretKey", Position{9, 1}},
	}
	if d := cmp.Diff(want, s.Tables[0].Options); d != "" {
		t.Errorf("options (-want +got):\n%s", d)
	}
}

func TestWordsTypesAndQuotes(t *testing.T) {
	s, err := Parse("", `create temporary table if not exists 表 (
		"a" INT) WITH ('x' = 'y')`)
	if s != nil || err == nil || !strings.Contains(err.Error(), "line 2, column 3: double quotes have no meaning") {
		t.Fatalf("double quotes: %v", err)
	}
	s, err = Parse("", "create temporary table if not exists 表 ("+strings.Join([]string{
		"a boolean not null", "`from` tinyint null comment 'it''s one'", "`b``c` decimal(10, 2)", "d double precision", "e timestamp(3) without time zone",
		"f timestamp(3) with local time zone metadata from 'event-time' virtual", "g array<map<string, int not null>>", "keys string metadata",
		"h time(0)", "i char(3)", "metadata varbinary(7)", "virtual date",
	}, ", ")+") comment 'x' with ('k' = 'it''s -- no comment', 'connector' = ''); ;")
	if err != nil {
		t.Fatal(err)
	}
	want := "(`a` BOOLEAN NOT NULL, `from` TINYINT COMMENT 'it''s one', `b``c` DECIMAL(10, 2), `d` DOUBLE, `e` TIMESTAMP(3), " +
		"`f` TIMESTAMP_LTZ(3) METADATA FROM 'event-time' VIRTUAL, `g` ARRAY<MAP<STRING, INT NOT NULL>>, `keys` STRING METADATA, " +
		"`h` TIME(0), `i` CHAR(3), `metadata` VARBINARY(7), `virtual` DATE)"
	if d := cmp.Diff(want, s.Tables[0].Columns.String()); d != "" {
		t.Errorf("columns (-want +got):\n%s", d)
	}
	if s.Tables[0].Name != "表" || s.Tables[0].Comment != "x" || s.Tables[0].With()["k"] != "it's -- no comment" {
		t.Errorf("table %q, comment %q, options %v", s.Tables[0].Name, s.Tables[0].Comment, s.Tables[0].With())
	}
	again, err := ParseColumns(want)
	if err != nil || cmp.Diff(s.Tables[0].Columns, again) != "" {
		t.Errorf("columns are not read back as they were: %v", err)
	}
}

// ddl creates the tables for the statements of tests.
const ddl = `CREATE TABLE a (i INT, l BIGINT, s STRING, b BOOLEAN, d DECIMAL(10, 2), m MAP<STRING, STRING>, ts TIMESTAMP(3), v STRING METADATA FROM 'topic' VIRTUAL) WITH ('k' = 'v');
CREATE TABLE z (i INT, s VARCHAR(5), v STRING METADATA VIRTUAL, n BIGINT NOT NULL) WITH ('k' = 'v');
`

func TestWhatIsRefusedIsRefusedAtItsPlaceWithAdvice(t *testing.T) {
	for _, c := range []struct{ statement, want string }{
		// Not supported.
		{"SELECT 1 FROM a", "3:1: a SELECT alone sends its rows nowhere"},
		{"INSERT INTO z SELECT * FROM a\nJOIN b ON a.i = b.i", "4:1: joins are not supported: write a Beam pipeline with CoGroupByKey"},
		{"INSERT INTO z SELECT * FROM a x LEFT OUTER JOIN b ON a.i = b.i", "3:33: LEFT: joins are not supported"},
		{"INSERT INTO z SELECT * FROM a, b", "3:30: joins are not supported"},
		{"INSERT INTO z SELECT i FROM a GROUP BY i", "3:31: GROUP BY is not supported: write a Beam pipeline with a window and a combiner"},
		{"INSERT INTO z SELECT i FROM a WHERE i > 1 HAVING i > 2", "3:43: HAVING is not supported"},
		{"INSERT INTO z SELECT i FROM a ORDER BY i", "3:31: ORDER BY is not supported"},
		{"INSERT INTO z SELECT i FROM a LIMIT 5", "3:31: LIMIT is not supported"},
		{"INSERT INTO z SELECT DISTINCT i FROM a", "3:22: DISTINCT is not supported"},
		{"INSERT INTO z SELECT i FROM a UNION ALL SELECT i FROM a", "3:31: UNION is not supported: write one INSERT INTO"},
		{"INSERT INTO z SELECT i FROM (SELECT i FROM a)", "3:30: a SELECT stands only behind INSERT INTO: subqueries"},
		{"INSERT INTO z SELECT i FROM a WHERE i IN (SELECT i FROM z)", "3:43: a SELECT stands only behind INSERT INTO: subqueries"},
		{"INSERT INTO z SELECT (SELECT 1) FROM a", "3:23: a SELECT stands only behind INSERT INTO: subqueries"},
		{"INSERT INTO z SELECT i FROM a WHERE EXISTS (SELECT 1)", "3:37: EXISTS is not supported"},
		{"INSERT INTO z SELECT COUNT(*), 's', 1 FROM a", "3:22: COUNT needs many rows"},
		{"INSERT INTO z SELECT sum(i), 's', 1 FROM a", "3:22: SUM needs many rows"},
		{"INSERT INTO z SELECT LAG(i) OVER (ORDER BY i) FROM a", "3:29: windows over rows are not supported"},
		{"INSERT INTO z SELECT NOW(), 's', 1 FROM a", "3:22: NOW gives another value each time"},
		{"INSERT INTO z VALUES (1)", "3:15: INSERT … VALUES is not supported"},
		{"INSERT OVERWRITE z SELECT 1 FROM a", "3:8: INSERT OVERWRITE is not supported"},
		{"SET 'execution.runtime-mode' = 'batch'", "3:1: SET is not supported"},
		{"EXECUTE STATEMENT SET BEGIN", "3:1: statement sets are not supported"},
		{"WITH x AS (SELECT 1) INSERT INTO z SELECT 1 FROM x", "3:1: common table expressions are not supported"},
		{"DROP TABLE a", `3:1: unexpected "DROP": a script has CREATE TABLE and INSERT INTO statements`},
		{"CREATE VIEW x AS SELECT 1", "3:8: CREATE VIEW is not supported"},
		{"CREATE TABLE x (i INT, PRIMARY KEY (i) NOT ENFORCED) WITH ('k' = 'v')", "3:24: keys of tables are not supported"},
		{"CREATE TABLE x (i INT, WATERMARK FOR ts AS ts) WITH ('k' = 'v')", "3:24: WATERMARK is not supported"},
		{"CREATE TABLE x (i INT, j AS i + 1) WITH ('k' = 'v')", "3:26: columns that are computed"},
		{"CREATE TABLE x LIKE a", "3:16: CREATE TABLE … LIKE is not supported"},
		{"CREATE TABLE db.x (i INT) WITH ('k' = 'v')", "3:16: catalogs and databases are not supported"},
		{"CREATE TABLE x (r ROW<a INT>) WITH ('k' = 'v')", "3:"},
		{"CREATE TABLE x (t TIMESTAMP(3) WITH TIME ZONE) WITH ('k' = 'v')", "3:19: type TIMESTAMP WITH TIME ZONE is not supported: use TIMESTAMP_LTZ"},
		// Wrong.
		{"CREATE TABLE x (i INT) WITH ('k' = 'v'", "3:39: the statement ends too early, want )"},
		{"CREATE TABLE x (i INT)", "3:23: the statement ends too early, want WITH"},
		{"CREATE TABLE a (i INT) WITH ('k' = 'v')", "3:14: table `a` is created twice"},
		{"CREATE TABLE x (i INT, i INT) WITH ('k' = 'v')", "3:24: column `i` is there twice"},
		{"CREATE TABLE x (i INT) WITH ('k' = 'v', 'k' = 'w')", "3:41: option 'k' is there twice"},
		{"CREATE TABLE x (order INT) WITH ('k' = 'v')", "3:17: ORDER BY is not supported"},
		{"CREATE TABLE x (d DECIMAL(39)) WITH ('k' = 'v')", "3:19: DECIMAL(39, 0): want a precision of 1 to 38"},
		{"CREATE TABLE x (d TEXT) WITH ('k' = 'v')", "3:19: unknown type TEXT"},
		{"CREATE TABLE x (d ARRAY) WITH ('k' = 'v')", "3:19: type ARRAY: want ARRAY<type>"},
		{"CREATE TABLE x (s STRING) WITH ('k' = 'v)", "3:39: a text in single quotes is not closed"},
		{"/* CREATE TABLE; x", "3:1: a comment that begins with /* is not closed"},
		{"CREATE TABLE x (i INT) /* of 'numbers'; WITH */ WITH /*/ ('k' = 'v')", "3:54: a comment that begins with /* is not closed"},
		{"INSERT INTO q SELECT * FROM a", "3:13: there is no table `q`: the script creates `a`, `z`"},
		{"INSERT INTO z SELECT * FROM q", "3:29: there is no table `q`"},
		{"INSERT INTO z SELECT i FROM a", "3:15: SELECT gives 1 values, INSERT INTO `z` takes 3: i, s, n"},
		{"INSERT INTO z (i, q) SELECT i, i FROM a", "3:19: table `z` has no column `q`"},
		{"INSERT INTO z (i, i) SELECT i, i FROM a", "3:19: column `i` is named twice"},
		{"INSERT INTO z (i, v) SELECT i, s FROM a", "3:19: column `v` is VIRTUAL"},
		{"INSERT INTO z (i) SELECT i FROM a", "3:16: column `n` is NOT NULL and not among those"},
		{"INSERT INTO z SELECT l, s, 1 FROM a", "3:22: column `i` is BIGINT, want INT: write CAST(… AS INT)"},
		{"INSERT INTO z SELECT i, i, 1 FROM a", "3:25: column `s` is INT, want VARCHAR(5): write CAST"},
		{"INSERT INTO z SELECT ii, s, 1 FROM a", "3:22: table `a` has no column `ii`: do you mean `i`?"},
		{"INSERT INTO z SELECT b.i, s, 1 FROM a", "3:22: there is no table `b` in this statement"},
		{"INSERT INTO z SELECT a.i, s, 1 FROM a AS x", "3:22: there is no table `a` in this statement: it reads from `x`"},
		{"INSERT INTO z SELECT i + s, s, 1 FROM a", "3:24: INT + STRING: want numbers"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE i", "3:43: WHERE wants a condition, not a value of type INT"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE s = i", "3:45: comparison: STRING and INT do not go together, use CAST"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE m = m", "3:45: comparison: values of type MAP<STRING, STRING> have no order"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE ts > 'soon'", "3:48: 'soon' as TIMESTAMP(3)"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE s LIKE 'x!' ESCAPE '!'", "3:50: LIKE pattern 'x!' ends with its escape character"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE s LIKE 'x' ESCAPE '!!'", "3:45: ESCAPE '!!': want one character"},
		{"INSERT INTO z SELECT CASE WHEN b THEN 1 ELSE 'x' END, s, 1 FROM a", "3:22: results of CASE: INT and STRING do not go together"},
		{"INSERT INTO z SELECT CAST(b AS DATE), s, 1 FROM a", "3:22: there is no CAST from BOOLEAN to DATE"},
		{"INSERT INTO z SELECT CAST('x' AS INT), s, 99999999999999999999999999999999999999999 FROM a", "3:43: number 99999999999999999999999999999999999999999 has too many digits"},
		{"INSERT INTO z SELECT FROBNICATE(i), s, 1 FROM a", "3:22: there is no function FROBNICATE"},
		{"INSERT INTO z SELECT UPPER(s, s), s, 1 FROM a", "3:22: UPPER has 2 arguments: want 1"},
		{"INSERT INTO z SELECT UPPER(s FROM s), s, 1 FROM a", "3:22: UPPER is not written so"},
		{"INSERT INTO z SELECT s[1], s, 1 FROM a", "3:22: […] stands behind a value of type STRING"},
		{"INSERT INTO z SELECT i, s, 1 FROM a WHERE NOT i", "3:47: NOT wants a condition"},
		{"INSERT INTO z SELECT -s, s, 1 FROM a", "3:23: a sign stands before a value of type STRING"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			_, err := Parse("", ddl+c.statement)
			if err == nil {
				t.Fatal("it is taken")
			}
			got := strings.Replace(strings.TrimPrefix(err.Error(), "line "), ", column ", ":", 1)
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFaultsDoNotShowSecrets(t *testing.T) {
	for _, text := range []string{
		"CREATE TABLE x (i INT) WITH ('secretKey' 'SECRET')", "CREATE TABLE x (i INT) WITH ('secretKey' = 'SECRET' 'SECRET')",
		"CREATE TABLE x (i INT) WITH ('secretKey' = 'SECRET', 'secretKey' = 'SECRET')", "CREATE TABLE x (i INT) WITH ('secretKey' = 'SECRET')) 'SECRET'",
		"CREATE TABLE x (i INT) WITH ('secretKey' = 'SECRET",
	} {
		if _, err := Parse("", text); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAllFaultsComeAtOnceInTheOrderOfTheScript(t *testing.T) {
	_, err := Parse("", ddl+"INSERT INTO z SELECT q, s + 1, 1 FROM a WHERE r;\nCREATE TABLE x (i INTT) WITH ('k' = 'v');\nINSERT INTO z SELECT i, FROM a;\nINSERT INTO z SELECT i, s, 1 FROM nowhere")
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		place, _, _ := strings.Cut(line, ": ")
		got = append(got, place)
	}
	want := []string{"line 3, column 22", "line 3, column 27", "line 3, column 47", "line 4, column 19", "line 5, column 25"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("faults (-want +got):\n%s\n%v", d, err)
	}
}

func TestScriptsThatAreTooLargeAreRefused(t *testing.T) {
	deep := func(open, body, end string, n int) string {
		return ddl + "INSERT INTO z SELECT " + strings.Repeat(open, n) + body + strings.Repeat(end, n) + ", s, 1 FROM a"
	}
	for what, text := range map[string]string{
		"bytes":      strings.Repeat(" ", maxScript+1),
		"brackets":   deep("(", "i", ")", 70),
		"cases":      deep("CASE WHEN b THEN ", "i", " END", 70),
		"words":      ddl + "INSERT INTO z SELECT i" + strings.Repeat(" + 1", maxTokens/2) + ", s, 1 FROM a",
		"types":      "CREATE TABLE x (a " + strings.Repeat("ARRAY<", 70) + "INT" + strings.Repeat(">", 70) + ") WITH ('k' = 'v')",
		"bad closes": ddl + "INSERT INTO z SELECT " + strings.Repeat(")", 100) + strings.Repeat("(", 70) + "i, s, 1 FROM a",
	} {
		if _, err := Parse("", text); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for what, text := range map[string]string{
		"brackets": deep("(", "i", ")", 60),
		"cases":    deep("CASE i WHEN 1 THEN ", "i", " END", 60),
		"operands": deep("CASE ", "i", " WHEN 1 THEN 2 END", 60),
		"sums":     ddl + "INSERT INTO z SELECT i" + strings.Repeat(" + 1", 600) + ", s, 1 FROM a",
		"nots":     ddl + "INSERT INTO z SELECT i, s, 1 FROM a WHERE " + strings.Repeat("NOT ", 1001) + "b",
		"compares": ddl + "INSERT INTO z SELECT i, s, 1 FROM a WHERE i < 1" + strings.Repeat(" AND i < 1", 300),
	} {
		if _, err := Parse("", text); err != nil {
			t.Errorf("%s: %.200s", what, err)
		}
	}
}

// A statement travels to workers without the tables' options, and names the same
// places there.
func TestPortableInsertsHaveNoOptionsAndTheSamePlaces(t *testing.T) {
	text := "-- first\n" + ddl + "/* a\n b */ INSERT INTO z -- here\n  SELECT i, s, 10 /\n\n i FROM a -- end\n WHERE b;"
	s, err := Parse("", strings.ReplaceAll(text, "'v'", "'SECRET'"))
	if err != nil {
		t.Fatal(err)
	}
	portable := s.Inserts[0].Portable()
	if strings.Contains(portable, "SECRET") {
		t.Fatalf("options travel:\n%s", portable)
	}
	again, err := Parse("", portable)
	if err != nil {
		t.Fatalf("%v\n%s", err, portable)
	}
	var got []string
	for _, script := range []*Script{s, again} {
		p, err := script.Inserts[0].Program(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = p.Eval([]any{int32(0), nil, "s", true, nil, nil, nil, nil})
		got = append(got, err.Error())
	}
	want := "line 6, column 19: 10 / 0: division by zero"
	if d := cmp.Diff([]string{want, want}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := s.Inserts[0].Text(); !strings.HasPrefix(got, "INSERT INTO z") || strings.Contains(got, "here") || !strings.HasSuffix(got, "WHERE b") {
		t.Errorf("text %q", got)
	}
}

func TestKeywordsAreWords(t *testing.T) {
	if !slices.IsSorted(keywords) {
		t.Error("keywords are not in order")
	}
	for word := range maps.Keys(advice) {
		if !slices.Contains(keywords, word) {
			t.Errorf("%s has advice and is no keyword, so that it may be taken for a name", word)
		}
	}
}
