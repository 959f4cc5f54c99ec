// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

// checkFindable refuses a row whose message no consumer could select or find. Sinks
// do so themselves, but not for messages that say where they come from: those they
// take for copies.
func checkFindable(m *table.Message) error {
	tag := m.Tag
	if strings.TrimSpace(tag) != tag || strings.Contains(tag, "|") || tag == "*" || strings.ContainsFunc(tag, unicode.IsControl) {
		return fmt.Errorf("tag %q: no consumer could select it: white space at its ends, |, a lone * and control characters mean something else in filters", tag)
	}
	for _, key := range m.Keys {
		if key == "" || strings.ContainsFunc(key, unicode.IsSpace) || strings.ContainsFunc(key, unicode.IsControl) {
			return fmt.Errorf("key %q: want text without white space, which separates keys, and without control characters", key)
		}
	}
	return nil
}
