// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "strings"

// tagFilter is a set of tags; nil lets everything pass.
type tagFilter map[string]bool

// parseTags reads a tag expression: "*" or nothing for all, else tags separated
// by "||".
func parseTags(expr string) (tagFilter, error) {
	expr = strings.TrimSpace(expr)
	if expr == "" || expr == "*" {
		return nil, nil
	}
	f := tagFilter{}
	for part := range strings.SplitSeq(expr, "||") {
		if tag := strings.TrimSpace(part); tag != "" {
			f[tag] = true
		}
	}
	if len(f) == 0 {
		return nil, refuse(reasonIllegalFilter, "subString split error")
	}
	return f, nil
}

func (f tagFilter) matches(tag string) bool { return f == nil || f[tag] }
