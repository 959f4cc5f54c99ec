// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"strings"
	"testing"
)

// Y07: a topic of 127 characters is fine, one of 128 is refused at once.
func TestNamesThatTheBrokerTakesAndRefuses(t *testing.T) {
	for _, c := range []struct {
		check func(string) error
		name  string
		want  string // part of the error; empty: none
	}{
		{CheckTopic, "agent-bus", ""},
		{CheckTopic, "%RETRY%a_b|c", ""},
		{CheckTopic, strings.Repeat("a", 127), ""},
		{CheckTopic, strings.Repeat("a", 128), "has 128 characters"},
		{CheckTopic, strings.Repeat("a", 1<<20), "has 1048576 characters"},
		{CheckTopic, "", "topic is empty"},
		{CheckTopic, "a b", "contains ' '"},
		{CheckTopic, "主题", "contains '主'"},
		{CheckGroup, strings.Repeat("g", 120), ""},
		{CheckGroup, strings.Repeat("g", 121), "has 121 characters"},
		{CheckGroup, "g.h", "contains '.'"},
		{CheckNamespace, "", ""},
		{CheckNamespace, "MQ_INST_1_a", ""},
		{CheckNamespace, "a\nb", `contains '\n'`},
		{CheckLiteTopic, "session-7_x", ""},
		{CheckLiteTopic, strings.Repeat("l", 65), "has 65 characters"},
		{CheckLiteTopic, "a%b", "contains '%'"},
		{CheckLiteTopic, "", "lite topic is empty"},
	} {
		err := c.check(c.name)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want an error with %q", c.name, err, c.want)
		}
		if err != nil && len(err.Error()) > 150 {
			t.Errorf("an error of %d bytes: %v", len(err.Error()), err)
		}
	}
}
