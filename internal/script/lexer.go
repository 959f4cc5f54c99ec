// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// keywords are reserved: as names of tables and columns they need back quotes.
// Words that have a meaning in some places only, such as METADATA, are not.
var keywords = []string{
	"ALL", "ALTER", "AND", "AS", "BEGIN", "BETWEEN", "BOTH", "BY", "CASE", "CAST", "CONSTRAINT", "CREATE", "CROSS", "DELETE",
	"DESCRIBE", "DISTINCT", "DROP", "ELSE", "END", "ESCAPE", "EXCEPT", "EXECUTE", "EXISTS", "EXPLAIN", "FALSE", "FETCH", "FOR", "FROM",
	"FULL", "GROUP", "HAVING", "IN", "INNER", "INSERT", "INTERSECT", "INTERVAL", "INTO", "IS", "JOIN", "LATERAL", "LEADING",
	"LEFT", "LIKE", "LIMIT", "MATCH_RECOGNIZE", "MERGE", "MINUS", "NATURAL", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER",
	"OVER", "OVERWRITE", "PARTITION", "PARTITIONED", "PRIMARY", "RESET", "RIGHT", "SELECT", "SET", "SHOW", "SIMILAR", "SYMMETRIC",
	"TABLE", "TABLESAMPLE", "THEN", "TRAILING", "TRUE", "UNION", "UNIQUE", "UNNEST", "UPDATE", "USE", "USING", "VALUES", "WATERMARK", "WHEN",
	"WHERE", "WINDOW", "WITH",
}

const wordPattern = `[\p{L}_][\p{L}\p{N}_\$]*`

// The kinds of tokens. Broken is a literal that nothing closes, or a character that
// SQL does not know, Unclosed a comment that is not closed, with all that follows.
var rules = []lexer.SimpleRule{
	{Name: "Comment", Pattern: `--[^\n]*|/\*(?s:.*?)\*/`},
	{Name: "Unclosed", Pattern: `/\*(?s:.*)`},
	{Name: "Space", Pattern: `[\s\x{feff}\x{3000}]+`},
	{Name: "Keyword", Pattern: `(?i:` + strings.Join(keywords, "|") + `)\b`},
	{Name: "Ident", Pattern: `[\p{L}_][\p{L}\p{N}_$]*`},
	{Name: "Quoted", Pattern: "`(?:[^`]|``)+`"},
	{Name: "String", Pattern: `'(?:[^']|'')*'`},
	{Name: "Number", Pattern: `(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`},
	{Name: "Operator", Pattern: `<>|!=|<=|>=|\|\||[-+*/%=<>(),.;\[\]]`},
	{Name: "Broken", Pattern: `(?s:.)`},
}

var sqlLexer = lexer.MustSimple(rules)

// Position is a place in a script.
type Position struct {
	// Line and Column count from 1, the column in characters.
	Line, Column int
}

func positionOf(p lexer.Position) Position { return Position{p.Line, p.Column} }

// The bounds of scripts: nobody writes larger ones by hand, and each level of
// nesting costs stack.
const (
	maxScript = 1 << 20
	maxTokens = 10_000 // of a statement
	maxNested = 64
)

// sentence is the tokens of one statement and where they end.
type sentence struct {
	tokens []lexer.Token
	end    lexer.Token
}

// split cuts a script into statements at the semicolons. Statements that can be
// no SQL come back as faults, and the others all the same.
func split(name, text string) ([]sentence, []error) {
	if len(text) > maxScript {
		return nil, []error{fault(Position{1, 1}, "the script has %d bytes, more than the %d that are read", len(text), maxScript)}
	}
	lex, err := sqlLexer.LexString(name, text)
	if err != nil {
		return nil, []error{err}
	}
	symbols := sqlLexer.Symbols()
	var all []sentence
	var faults []error
	var current sentence
	finish := func(end lexer.Token) {
		current.end = end
		if err := current.check(symbols); err != nil {
			faults = append(faults, err)
		} else if len(current.tokens) > 0 {
			all = append(all, current)
		}
		current = sentence{}
	}
	for {
		t, err := lex.Next()
		switch {
		case err != nil:
			return all, append(faults, err)
		case t.EOF():
			finish(t)
			return all, faults
		case t.Type == symbols["Comment"], t.Type == symbols["Space"]:
		case t.Type == symbols["Operator"] && t.Value == ";":
			finish(lexer.EOFToken(t.Pos))
		case t.Type == symbols["Ident"] && slices.Contains(keywords, strings.ToUpper(t.Value)):
			t.Type = symbols["Keyword"]
			fallthrough
		default:
			current.tokens = append(current.tokens, t)
		}
	}
}

// check refuses statements that are broken or too large to be read.
func (s sentence) check(symbols map[string]lexer.TokenType) error {
	var open nesting
	previous := ""
	for i, t := range s.tokens {
		at := positionOf(t.Pos)
		if t.Type == symbols["Unclosed"] {
			return fault(at, "a comment that begins with /* is not closed")
		}
		if t.Type == symbols["Broken"] {
			return brokenToken(at, t.Value)
		}
		word := strings.ToUpper(t.Value)
		if open.add(previous, word) > maxNested {
			return fault(at, "nested more than %d deep", maxNested)
		}
		if i >= maxTokens {
			return fault(at, "the statement has more than %d words and signs", maxTokens)
		}
		previous = word
	}
	return nil
}

// nesting counts what is open, each kind by itself so that too many closing
// signs of one kind do not make room for another.
type nesting struct{ brackets, types, cases int }

func (n *nesting) add(previous, word string) int {
	switch word {
	case "(", "[":
		n.brackets++
	case ")", "]":
		n.brackets = max(0, n.brackets-1)
	case "CASE":
		n.cases++
	case "END":
		n.cases = max(0, n.cases-1)
	case "<": // also "less than"
		if slices.Contains([]string{"ARRAY", "MAP", "ROW", "MULTISET"}, previous) {
			n.types++
		}
	case ">":
		n.types = max(0, n.types-1)
	}
	return n.brackets + n.types + n.cases
}

func brokenToken(at Position, text string) error {
	switch text {
	case "'":
		return fault(at, "a text in single quotes is not closed")
	case "`":
		return fault(at, "a name in back quotes is not closed, or empty")
	case `"`:
		return fault(at, "double quotes have no meaning: use single quotes for texts, back quotes for names")
	}
	return fault(at, "unexpected character %q", text)
}

// sentenceLexer gives the tokens of a statement to the parser.
type sentenceLexer struct {
	sentence
	next int
}

// Next implements lexer.Lexer.
func (l *sentenceLexer) Next() (lexer.Token, error) {
	if l.next >= len(l.tokens) {
		return l.end, nil
	}
	l.next++
	return l.tokens[l.next-1], nil
}
