// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// pattern is a LIKE pattern. Percent stands for any text, underscore for one
// character.
type pattern []mark

type mark struct {
	char rune
	// any is a percent, one an underscore; else char stands for itself.
	any, one bool
}

func patternOf(text string, escape rune) (pattern, error) {
	var p pattern
	escaped := false
	for _, r := range text {
		switch {
		case escaped && r != '%' && r != '_' && r != escape:
			return nil, fmt.Errorf("LIKE pattern %s: %q is behind the escape character and is no %%, _ or escape character", sqltype.QuoteText(sqltype.Shorten(text)), r)
		case escaped:
			p, escaped = append(p, mark{char: r}), false
		case escape != 0 && r == escape:
			escaped = true
		case r == '%':
			if len(p) == 0 || !p[len(p)-1].any {
				p = append(p, mark{any: true})
			}
		case r == '_':
			p = append(p, mark{one: true})
		default:
			p = append(p, mark{char: r})
		}
	}
	if escaped {
		return nil, fmt.Errorf("LIKE pattern %s ends with its escape character", sqltype.QuoteText(sqltype.Shorten(text)))
	}
	return p, nil
}

// matches walks through text and pattern. Where they differ it goes back to the
// last percent and lets that stand for one character more; earlier ones need
// not be tried again, so the work is at most the product of both lengths.
func (p pattern) matches(text string) bool {
	i, back, from := 0, -1, 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case i < len(p) && p[i].any:
			back, from = i, at
			i++
		case i < len(p) && (p[i].one || p[i].char == r):
			i++
			at += size
		case back >= 0:
			_, size := utf8.DecodeRuneInString(text[from:])
			from += size
			i, at = back+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i].any {
		i++
	}
	return i == len(p)
}

func (c *compiler) like(at Position, t term, l *likeTest) term {
	text := c.text(t, "LIKE")
	by := c.text(c.sum(l.Pattern), "LIKE")
	var escape rune
	if l.Escape != nil {
		var size int
		s := unquote(*l.Escape)
		if escape, size = utf8.DecodeRuneInString(s); size != len(s) || s == "" {
			return c.fail(at, "ESCAPE %s: want one character", sqltype.QuoteText(s))
		}
	}
	typ := conditionOf([]term{text, by})
	if fixed, ok := by.value.(string); ok && by.literal {
		p, err := patternOf(fixed, escape)
		if err != nil {
			return c.fail(by.at, "%v", err)
		}
		return c.call(at, "like", typ, strict(func(args []any) (any, error) { return p.matches(args[0].(string)), nil }), text)
	}
	return c.call(at, "like", typ, strict(func(args []any) (any, error) {
		p, err := patternOf(args[1].(string), escape)
		if err != nil {
			return nil, err
		}
		return p.matches(args[0].(string)), nil
	}), text, by)
}
