// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"errors"
	"strings"
)

// plain makes of a job's failure what a reader needs: runners hand on the text of
// the worker's error, which begins with the path through the execution plan and
// the transform's internal name.
func plain(text string) error {
	for _, before := range []string{"caused by:\n", "failed:\n"} {
		if i := strings.LastIndex(text, before); i >= 0 {
			text = text[i+len(before):]
		}
	}
	return errors.New(strings.TrimSpace(text))
}
