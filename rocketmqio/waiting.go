// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"

// waiting holds what was pulled until a bundle takes it. It keeps pulls apart:
// the messages of a pull share memory, which is free again when the last of them
// was taken.
type waiting struct {
	pulls [][]remoting.Message // none of them empty
	count int                  // of messages
	bytes int                  // of bodies
}

// add puts the messages of a pull behind all others, and returns the bytes of
// their bodies.
func (w *waiting) add(messages []remoting.Message) (bytes int) {
	if len(messages) == 0 {
		return 0
	}
	bytes = bodyBytes(messages)
	w.pulls = append(w.pulls, messages)
	w.count += len(messages)
	w.bytes += bytes
	return bytes
}

// first is how many messages the next take returns at most: the rest of a pull.
func (w *waiting) first() int {
	if len(w.pulls) == 0 {
		return 0
	}
	return len(w.pulls[0])
}

// take removes n messages from the front, no more than first, and returns the
// bytes of their bodies beside them.
func (w *waiting) take(n int) (messages []remoting.Message, bytes int) {
	if n == 0 {
		return nil, 0
	}
	messages = w.pulls[0][:n:n]
	if w.pulls[0] = w.pulls[0][n:]; len(w.pulls[0]) == 0 {
		w.pulls[0] = nil // the memory that stays for later pulls must not hold it
		w.pulls = w.pulls[1:]
	}
	bytes = bodyBytes(messages)
	w.count -= n
	w.bytes -= bytes
	return messages, bytes
}

func bodyBytes(messages []remoting.Message) (n int) {
	for i := range messages {
		n += len(messages[i].Body)
	}
	return n
}
