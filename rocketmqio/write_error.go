// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
)

// WriteError says which message failed a bundle, and what became of the others.
type WriteError struct {
	// Topic, UniqueKey, Keys and BodySize identify the message.
	Topic, UniqueKey string
	Keys             []string
	BodySize         int
	// Attempts is how many requests carried it; none if it was refused before.
	Attempts int
	// MaybeStored says that one of them may have been carried out all the same.
	MaybeStored bool
	// Of the other messages that the bundle had handed over, so many were Stored,
	// Failed by themselves, or were NotSent because of the failure.
	Stored, Failed, NotSent int
	// Err is what was wrong.
	Err error
}

func (e *WriteError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rocketmqio.Write: message %s", e.UniqueKey)
	if len(e.Keys) > 0 {
		fmt.Fprintf(&b, " with keys %q", e.Keys)
	}
	fmt.Fprintf(&b, " and %d bytes to topic %q: %v", e.BodySize, e.Topic, e.Err)
	if e.MaybeStored {
		b.WriteString("; it may be stored all the same")
	}
	fmt.Fprintf(&b, " (of the bundle's others %d were stored, %d failed, %d were not sent)", e.Stored, e.Failed, e.NotSent)
	return b.String()
}

func (e *WriteError) Unwrap() error { return e.Err }

// bundleTally collects what became of a bundle's messages.
type bundleTally struct {
	stored, failed, notSent int
	first                   *WriteError
}

func (t *bundleTally) add(o *messageResult) {
	switch {
	case o.Err == nil:
		t.stored++
		return
	case errors.Is(o.Err, asyncsink.ErrNotSent):
		t.notSent++
		return
	}
	t.failed++
	if t.first == nil {
		m := &o.In.message
		t.first = &WriteError{Topic: m.Topic, UniqueKey: m.UniqueKey, Keys: m.Keys, BodySize: len(m.Body),
			Attempts: o.Attempts, MaybeStored: o.Uncertain, Err: o.Err}
	}
}

// err is the bundle's error, nil if nothing failed.
func (t *bundleTally) err() error {
	if t.first == nil {
		return nil
	}
	e := *t.first
	e.Stored, e.Failed, e.NotSent = t.stored, t.failed-1, t.notSent
	return &e
}
