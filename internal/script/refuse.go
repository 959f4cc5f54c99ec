// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// advice is what to do instead of what tables here cannot do, by the word at
// which the parser gives up.
var advice = map[string]string{
	"JOIN":      "joins are not supported: write a Beam pipeline with CoGroupByKey over the rows of both tables",
	"GROUP":     "GROUP BY is not supported: write a Beam pipeline with a window and a combiner over the rows",
	"HAVING":    "HAVING is not supported: write a Beam pipeline with a window and a combiner over the rows",
	"ORDER":     "ORDER BY is not supported: a stream has no end at which it could be sorted",
	"LIMIT":     "LIMIT is not supported: filter with WHERE, or stop the source with rocketmq.source.stop.offset.timestamp",
	"DISTINCT":  "DISTINCT is not supported: write a Beam pipeline with a window and filter.Distinct over the rows",
	"UNION":     "UNION is not supported: write one INSERT INTO the same table for each SELECT",
	"SELECT":    "a SELECT stands only behind INSERT INTO: subqueries are not supported, put a table between two INSERTs",
	"OVER":      "windows over rows are not supported: write a Beam pipeline with a window over the rows",
	"VALUES":    "INSERT … VALUES is not supported: send such messages with a producer",
	"EXISTS":    "EXISTS is not supported: subqueries are not, use a Beam pipeline with a side input",
	"WATERMARK": "WATERMARK is not supported: an event-time column has no effect on windows here, leave the line out",
	"PRIMARY":   "keys of tables are not supported: leave the line out; rocketmq.sink.key.columns sets the keys of messages",
	"SET":       "SET is not supported: settings of the runner are flags of the command",
	"EXECUTE":   "statement sets are not supported: write the INSERTs one after the other, all of them run in one pipeline",
	"INTERVAL":  "intervals are not supported: compare with a literal such as TIMESTAMP '2026-01-31 12:00:00'",
	"SIMILAR":   "SIMILAR TO is not supported: use LIKE",
	"OVERWRITE": "INSERT OVERWRITE is not supported: a topic only grows, use INSERT INTO",
}

// sameAdvice maps words to one that has advice.
var sameAdvice = map[string]string{
	"INNER": "JOIN", "LEFT": "JOIN", "RIGHT": "JOIN", "FULL": "JOIN", "CROSS": "JOIN", "NATURAL": "JOIN", "LATERAL": "JOIN", "UNNEST": "JOIN",
	"INTERSECT": "JOIN", "EXCEPT": "JOIN", "MINUS": "JOIN", "OFFSET": "LIMIT", "FETCH": "LIMIT", "WINDOW": "OVER", "PARTITION": "OVER",
	"MATCH_RECOGNIZE": "OVER", "UNIQUE": "PRIMARY", "CONSTRAINT": "PRIMARY", "PARTITIONED": "PRIMARY", "RESET": "SET", "BEGIN": "EXECUTE",
}

// firstWords are statements that are none here.
var firstWords = map[string]string{
	"SELECT": "a SELECT alone sends its rows nowhere: write INSERT INTO table SELECT …",
	"WITH":   "common table expressions are not supported: put a table between two INSERTs",
}

// refusal says why the parser gave up, in words that help.
func refusal(s sentence, err error) error {
	var perr participle.Error
	if !errors.As(err, &perr) {
		return err
	}
	at := positionOf(perr.Position())
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		return fault(at, "%s", perr.Message())
	}
	first := strings.ToUpper(s.tokens[0].Value)
	culprit := s.culprit(unexpected.Unexpected)
	word := strings.ToUpper(culprit.Value)
	at = positionOf(culprit.Pos)
	if unexpected.Unexpected.Pos == s.tokens[0].Pos {
		return fault(at, "%s", firstAdvice(word, culprit.Value))
	}
	if first == "INSERT" && word == "," && s.hasBefore("FROM", unexpected.Unexpected) {
		return fault(at, "%s", advice["JOIN"])
	}
	if first == "CREATE" {
		if text := createAdvice(s, word); text != "" {
			return fault(at, "%s", text)
		}
	}
	if same, ok := sameAdvice[word]; ok {
		return fault(at, "%s: %s", word, advice[same])
	}
	if text, ok := advice[word]; ok {
		return fault(at, "%s", text)
	}
	if culprit.EOF() {
		return fault(at, "the statement ends too early%s", expected(perr.Message()))
	}
	want := ""
	if culprit.Pos == unexpected.Unexpected.Pos {
		want = expected(perr.Message())
	}
	if strings.HasPrefix(word, "'") && first == "CREATE" {
		return fault(at, "unexpected text in quotes%s", want) // it may be a secret
	}
	return fault(at, "unexpected %q%s%s", culprit.Value, want, reservedHint(word))
}

func firstAdvice(word, text string) string {
	if same, ok := sameAdvice[word]; ok {
		word = same
	}
	if told, ok := firstWords[word]; ok {
		return told
	}
	if told, ok := advice[word]; ok && (word == "SET" || word == "EXECUTE") {
		return told
	}
	return fmt.Sprintf("unexpected %q: a script has CREATE TABLE and INSERT INTO statements, with a semicolon behind each", text)
}

func createAdvice(s sentence, word string) string {
	second := ""
	if len(s.tokens) > 1 {
		second = strings.ToUpper(s.tokens[1].Value)
	}
	switch {
	case second == "VIEW" || second == "FUNCTION" || second == "CATALOG" || second == "DATABASE":
		return fmt.Sprintf("CREATE %s is not supported: a script has CREATE TABLE and INSERT INTO", second)
	case word == "AS":
		return "columns that are computed and CREATE TABLE … AS are not supported: put the expression into the SELECT of an INSERT"
	case word == "LIKE":
		return "CREATE TABLE … LIKE is not supported: repeat the columns and options"
	case word == ".":
		return "catalogs and databases are not supported: name the table alone"
	}
	return ""
}

// culprit is the token at fault. The parser gives up a list at the comma or
// bracket when it cannot read what follows; then it is what follows.
func (s sentence) culprit(t lexer.Token) lexer.Token {
	i := slices.IndexFunc(s.tokens, func(other lexer.Token) bool { return other.Pos == t.Pos })
	if i < 0 || t.Value != "," && t.Value != "(" {
		return t
	}
	for _, next := range s.tokens[min(i+1, len(s.tokens)):min(i+3, len(s.tokens))] {
		if slices.Contains(keywords, strings.ToUpper(next.Value)) {
			return next
		}
	}
	return t
}

// hasBefore says that a word stands before another token.
func (s sentence) hasBefore(word string, t lexer.Token) bool {
	for _, other := range s.tokens {
		if other.Pos == t.Pos {
			return false
		}
		if strings.EqualFold(other.Value, word) {
			return true
		}
	}
	return false
}

// expectations are the first words of the parser's expectations, for people.
var expectations = map[string]string{
	"Name": "a name", "OrExpr": "an expression", "SumExpr": "an expression", "ProductExpr": "an expression", "SignedExpr": "an expression",
	"ColumnDef": "a column", "TypeSpec": "a type", "SelectFrom": "SELECT", "SelectItem": "an expression", "IndexExpr": "an expression",
	"NotExpr": "an expression", "AndExpr": "an expression", "Primary": "an expression", "<string>": "a text in single quotes",
	"<ident>": "a name", "<number>": "a number", "Option": "'key' = 'value'", "Statement": "a statement", "CaseArm": "WHEN",
}

// expected takes the first thing that the parser expected out of its message.
func expected(message string) string {
	_, want, ok := strings.Cut(message, "(expected ")
	if !ok {
		return ""
	}
	want, _, _ = strings.Cut(strings.TrimSuffix(want, ")"), " ")
	if quoted := strings.Trim(want, `"`); quoted != want && !strings.ContainsAny(quoted, `"`) {
		return ", want " + quoted
	}
	if text, ok := expectations[strings.TrimRight(want, "?*+)")]; ok {
		return ", want " + text
	}
	return ""
}

func reservedHint(word string) string {
	for _, k := range keywords {
		if k == word {
			return ": as a name the word needs back quotes"
		}
	}
	return ""
}
