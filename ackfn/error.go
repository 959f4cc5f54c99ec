// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"fmt"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// Error is why a request for a handle was given up.
type Error struct {
	// Handle is the handle that the request was for, one of them if there were
	// several.
	Handle coders.ReceiptHandle
	// Others is how many further handles met the same fate.
	Others int
	// Permanent says that the same request can never succeed: a setting, a name
	// or a permission is wrong. Otherwise the attempts or the time given to flow
	// control were used up.
	Permanent bool
	// Attempts is how often the request was sent.
	Attempts int
	// Err is the last answer; its text says what to check.
	Err error
}

// Error names message, topic and group, and what to check.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ackfn: ")
	if !e.Permanent {
		fmt.Fprintf(&b, "given up after %d attempts: ", e.Attempts)
	}
	b.WriteString(e.Handle.String())
	if e.Others > 0 {
		fmt.Fprintf(&b, " and %d more", e.Others)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the last answer.
func (e *Error) Unwrap() error { return e.Err }

// checkHandle refuses a handle that lacks what every request needs. The usual
// cause is a transform that copied a record and left fields out.
func checkHandle(h *coders.ReceiptHandle) error {
	missing := ""
	switch {
	case h.Handle == "":
		missing = "Handle"
	case h.LiteTopic == "":
		missing = "LiteTopic"
	case h.Topic == "":
		missing = "Topic"
	case h.ConsumerGroup == "":
		missing = "ConsumerGroup"
	case h.Endpoints == "":
		missing = "Endpoints"
	default:
		return nil
	}
	return &Error{Handle: *h, Permanent: true,
		Err: fmt.Errorf("the handle has no %s: a transform on the way dropped it; pass the ReceiptHandle on unchanged", missing)}
}
