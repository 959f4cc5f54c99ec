// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"errors"
	"fmt"
)

// Errors of outcomes and of Write.
var (
	// ErrClosed ends what a sink had not done when it was closed.
	ErrClosed = errors.New("the sink is closed")
	// ErrNotSent is in the outcome of an element that was waiting when another
	// one of its writer failed, see [Config.StopOnFailure].
	ErrNotSent = errors.New("not sent, because another element failed")
	// ErrTimeout is in the outcome of an element whose request had no answer in
	// time: it may have been carried out.
	ErrTimeout = errors.New("no answer in time")
	// ErrNoVerdict means that Submit said nothing of an entry: it may have been
	// carried out.
	ErrNoVerdict = errors.New("the destination said nothing of this entry")
	// ErrAbandoned ends what a writer had not done when it was abandoned.
	ErrAbandoned = errors.New("the writer was abandoned")
)

// TooLarge is the outcome of an element whose entry is larger than
// [Config.MaxRecord].
type TooLarge struct{ Size, Max int }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("an entry of %d bytes, more than the %d that are allowed", e.Size, e.Max)
}

// Judgement says what an error means for the entry that it befell.
type Judgement int

// The judgements.
const (
	// Undecided leaves it to the next classifier.
	Undecided Judgement = iota
	// Final: the entry has failed, and no repetition would help.
	Final
	// Retry: it may succeed when sent again, and may have been carried out, so
	// that repeating it makes two of it.
	Retry
	// TimedOut is Retry for want of an answer: the destination may be overloaded.
	TimedOut
	// Wait: nothing was carried out, and may be later. Does not count as an
	// attempt.
	Wait
	// Congested is Wait because the destination asks to send less.
	Congested
	// Alone: nothing was carried out, because of one entry of the batch. Each is
	// sent again at once, in a request of its own. An entry that was alone already
	// has failed.
	Alone
)

// Classifier judges an error.
type Classifier func(error) Judgement

// Chain asks one classifier after the other until one decides.
func Chain(classifiers ...Classifier) Classifier {
	return func(err error) Judgement {
		for _, c := range classifiers {
			if j := c(err); j != Undecided {
				return j
			}
		}
		return Undecided
	}
}

// FinalIf is a classifier for errors that have target in their chain.
func FinalIf(target error) Classifier {
	return func(err error) Judgement {
		if errors.Is(err, target) {
			return Final
		}
		return Undecided
	}
}

// FinalAs is a classifier for errors that have a T in their chain of which fatal
// says so; nil means all of them.
func FinalAs[T error](fatal func(T) bool) Classifier {
	return func(err error) Judgement {
		if e, ok := errors.AsType[T](err); ok && (fatal == nil || fatal(e)) {
			return Final
		}
		return Undecided
	}
}
