// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"strings"
)

// plain makes of a job's failure what a reader needs: prism hands on the text of
// the worker's error, wrapped in the path through the execution plan.
func plain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	const cause = "caused by:\n"
	if i := strings.LastIndex(text, cause); i >= 0 {
		text = text[i+len(cause):]
	}
	return errors.New(strings.TrimSpace(text))
}
