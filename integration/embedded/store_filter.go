// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"strings"
)

// pullFilter is what a pull wants of a queue. Tags are compared by their hash
// codes only, as RocketMQ does: who asks for "Aa" gets "BB" as well, and has to
// look again.
type pullFilter struct {
	codes map[int32]bool               // nil: all
	match func(map[string]string) bool // by properties; nil: all
}

var (
	errFilterSyntax = errors.New("parse the consumer's subscription failed")
	errFilterOff    = errors.New("The broker does not support consumer to filter message by ")
)

// newPullFilter reads the expression of a pull.
func (c *config) newPullFilter(kind, expr string) (pullFilter, error) {
	if kind != "" && kind != "TAG" {
		return c.newPropertyFilter(kind, expr)
	}
	if expr == "" || expr == "*" {
		return pullFilter{}, nil
	}
	if strings.ReplaceAll(expr, "||", "") == "" {
		return pullFilter{}, errFilterSyntax
	}
	f := pullFilter{codes: map[int32]bool{}}
	for tag := range strings.SplitSeq(expr, "||") {
		if tag = strings.TrimSpace(tag); tag != "" {
			f.codes[javaHash(tag)] = true
		}
	}
	return f, nil
}

// newPropertyFilter is for SQL92. Which expressions there are, and what they
// mean, is told by WithSQLFilter. One that does not parse filters nothing: the
// pull brings everything, as from RocketMQ. Only who asks beforehand
// (CHECK_CLIENT_CONFIG) is told.
func (c *config) newPropertyFilter(kind, expr string) (pullFilter, error) {
	if expr == "" {
		return pullFilter{}, errFilterSyntax
	}
	if c.sql == nil {
		return pullFilter{}, errFilterOff
	}
	return pullFilter{match: c.sql[expr]}, nil
}

func (f pullFilter) matches(r *record) bool {
	switch {
	case f.codes != nil:
		return f.codes[tagCode(r.tag)]
	case f.match != nil: // nil for what did not parse
		return f.match(r.wireOf().properties.Map())
	}
	return true
}

func tagCode(tag string) int32 {
	if tag == "" {
		return 0
	}
	return javaHash(tag)
}
