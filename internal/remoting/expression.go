// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"slices"
	"strings"
)

// The kinds of filter expressions.
const (
	typeTag = "TAG"
	typeSQL = "SQL92"
)

const allTags = "*"

// Expression selects messages. The zero value selects all.
type Expression struct {
	kind string
	text string
	tags []string // of a tag expression; nil for all
}

// TagFilter selects messages with one of the tags in a text like "a || b"; "*"
// and "" select all. The broker compares hash codes only, so that [Client.Pull]
// compares again.
func TagFilter(text string) Expression {
	var tags []string
	for tag := range strings.SplitSeq(text, "||") {
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 || slices.Contains(tags, allTags) {
		return Expression{}
	}
	return Expression{kind: typeTag, text: strings.Join(tags, " || "), tags: tags}
}

// SQLFilter selects messages by their properties. The broker needs
// enablePropertyFilter=true. What it cannot compile, it lets every message pass:
// see [Client.CheckFilter].
func SQLFilter(text string) Expression { return Expression{kind: typeSQL, text: text} }

// Type is "TAG" or "SQL92".
func (e Expression) Type() string {
	if e.kind == "" {
		return typeTag
	}
	return e.kind
}

func (e Expression) String() string {
	if e.text == "" && e.Type() == typeTag {
		return allTags
	}
	return e.text
}

// match says whether a message that the broker let pass is wanted.
func (e Expression) match(m *Message) bool {
	return len(e.tags) == 0 || slices.Contains(e.tags, m.Tag())
}
