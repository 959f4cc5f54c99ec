// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names refuses names that RocketMQ would refuse, while a pipeline is
// built. The rules are those of the broker, which are stricter than those of
// some clients.
package names

import "fmt"

// The longest names that a broker takes. A group's is the shorter one, for the
// names of its retry and dead-letter topics are made of it.
const (
	maxTopic     = 127
	maxGroup     = 120
	maxLiteTopic = 64
)

// shown is how much of a name that is too long an error quotes.
const shown = 40

// CheckTopic says why name can be no topic, or nil.
func CheckTopic(name string) error { return check("topic", name, maxTopic, topicOrGroup) }

// CheckGroup says why name can be no consumer or producer group, or nil.
func CheckGroup(name string) error { return check("group", name, maxGroup, topicOrGroup) }

// CheckNamespace says why name can be no instance namespace, or nil; an empty one
// is none.
func CheckNamespace(name string) error {
	if name == "" {
		return nil
	}
	return check("namespace", name, maxTopic, topicOrGroup)
}

// CheckLiteTopic says why name can be no lite topic, or nil.
func CheckLiteTopic(name string) error { return check("lite topic", name, maxLiteTopic, lite) }

// alphabet is what a kind of name is made of.
type alphabet struct {
	extra string // beside letters and digits
	text  string // for people
}

var (
	topicOrGroup = alphabet{"%-_|", "letters, digits and % - _ |"}
	lite         = alphabet{"-_", "letters, digits, - and _"}
)

func check(kind, name string, longest int, a alphabet) error {
	if name == "" {
		return fmt.Errorf("%s is empty", kind)
	}
	if len(name) > longest {
		return fmt.Errorf("%s %q… has %d characters, more than the %d that RocketMQ takes", kind, name[:shown], len(name), longest)
	}
	for _, r := range name {
		if !a.has(r) {
			return fmt.Errorf("%s %q contains %q: RocketMQ takes only %s", kind, name, r, a.text)
		}
	}
	return nil
}

func (a alphabet) has(r rune) bool {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return true
	}
	for _, x := range a.extra {
		if r == x {
			return true
		}
	}
	return false
}
