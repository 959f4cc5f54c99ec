// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report is what a worker process tells the process that started it:
// lines of text on its standard output.
//
// Each line is written by one call before the worker goes on, and a pipe keeps
// what was written to it when the writer dies. So the reader knows of all that
// happened before a SIGKILL, but for the one step that was under way.
package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Kind is what a line tells.
type Kind string

// The kinds of lines.
const (
	// Delivered: a message reached the work step.
	Delivered Kind = "delivered"
	// Acked: the pipeline has a result of an acknowledgement; Detail is its
	// outcome.
	Acked Kind = "acked"
	// Deferred: the pipeline has a result of a deferral; Detail is its outcome.
	Deferred Kind = "deferred"
	// Handed: a bundle of a normal topic's messages was noted; ID is how many.
	Handed Kind = "handed"
	// Emitted: a message went to a sink; ID is its number.
	Emitted Kind = "emitted"
	// Written: the sink has a result of a message that it stored; ID is its
	// number, Detail the id that the broker knows it by.
	Written Kind = "written"
)

// Line is one fact.
type Line struct {
	Kind    Kind
	ID      string // of the message
	Attempt int    // of its delivery
	Detail  string // one word, "-" for none
}

// Write writes the line by one call of w.
func Write(w io.Writer, l Line) error {
	detail := l.Detail
	if detail == "" {
		detail = "-"
	}
	if _, err := io.WriteString(w, fmt.Sprintf("%s %s %d %s\n", l.Kind, l.ID, l.Attempt, detail)); err != nil {
		return fmt.Errorf("reporting %s of message %s: %w", l.Kind, l.ID, err)
	}
	return nil
}

// Read calls take for each line of r until its end. What is no such line goes
// to other; a line without an end, cut by the writer's death, is left out.
func Read(r io.Reader, take func(Line), other func(string)) {
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var l Line
		if _, err := fmt.Sscanf(text, "%s %s %d %s\n", &l.Kind, &l.ID, &l.Attempt, &l.Detail); err != nil || !l.Kind.known() {
			other(strings.TrimSpace(text))
			continue
		}
		take(l)
	}
}

func (k Kind) known() bool {
	return k == Delivered || k == Acked || k == Deferred || k == Handed || k == Emitted || k == Written
}
