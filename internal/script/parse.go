// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// lookAhead is how many tokens decide between two ways to go on; "t.*" beside
// "t.x" needs three.
const lookAhead = 3

var parser = participle.MustBuild[statement](
	participle.Lexer(sqlLexer),
	participle.CaseInsensitive("Keyword", "Ident"),
	participle.UseLookahead(lookAhead),
)

func parseSentence(s sentence) (*statement, error) {
	peeking, err := lexer.Upgrade(&sentenceLexer{sentence: s})
	if err != nil {
		return nil, err
	}
	stmt, err := parser.ParseFromLexer(peeking)
	if err != nil {
		return nil, refusal(s, err)
	}
	return stmt, nil
}

// value is the name without back quotes.
func (n name) value() string {
	if strings.HasPrefix(n.Text, "`") {
		return strings.ReplaceAll(n.Text[1:len(n.Text)-1], "``", "`")
	}
	return n.Text
}

// unquote is a text without its quotes.
func unquote(s string) string { return strings.ReplaceAll(s[1:len(s)-1], "''", "'") }

func unquoted(s *string) string {
	if s == nil {
		return ""
	}
	return unquote(*s)
}

// text is the statement without comments; its tokens stand where they stood in
// the script, so that faults of its rows name the places of the script.
func (s sentence) text() string {
	var b strings.Builder
	at := lexer.Position{Line: 1, Column: 1}
	for _, t := range s.tokens {
		for at.Line < t.Pos.Line {
			b.WriteByte('\n')
			at.Advance("\n")
		}
		for at.Column < t.Pos.Column {
			b.WriteByte(' ')
			at.Advance(" ")
		}
		b.WriteString(t.Value)
		at.Advance(t.Value)
	}
	return b.String()
}
