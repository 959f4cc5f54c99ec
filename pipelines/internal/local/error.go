// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"strings"
)

// plain makes of a job's failure what a reader needs: prism hands on the text of
// the worker's error, which begins with the path through the execution plan and
// the transform's internal name.
func plain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, before := range []string{"caused by:\n", "failed:\n"} {
		if i := strings.LastIndex(text, before); i >= 0 {
			text = text[i+len(before):]
		}
	}
	return errors.New(strings.TrimSpace(text))
}
