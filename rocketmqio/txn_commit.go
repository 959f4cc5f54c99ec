// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// ending is a half message on its way to its end.
type ending struct {
	prepared *prepared
	last     attempt
}

// ended is what became of it.
type ended struct {
	already bool // a message with the key was there
	message *remoting.Message
}

// submit ends one transaction.
func (s *txnSession) submit(ctx context.Context, list []*ending, verdicts []asyncsink.Verdict[ended]) {
	for i, e := range list {
		verdicts[i].Ack, verdicts[i].Err = s.end(ctx, e)
	}
}

// end commits a half message, unless a message with its key is there.
//
// A commit that is repeated stores the message again. So whenever one may have
// been carried out, the brokers are asked first.
func (s *txnSession) end(ctx context.Context, e *ending) (ended, error) {
	h := e.prepared.half
	last := s.memory.last(h.Topic, h.UniqueKey)
	switch {
	case e.prepared.callback:
		s.endEarly(ctx, e, last)
		return ended{}, nil
	case last.done != nil && *last.done == h:
		return ended{}, nil
	}
	if e.last.at.After(last.at) {
		last = e.last
	}
	if found, err := s.awaitCallback(ctx, e.prepared); err != nil || found != nil {
		return s.already(ctx, h, found), err
	}
	asks := s.cfg.Transaction.Check == CheckAlways || !last.at.IsZero()
	if asks {
		found, err := s.ask(ctx, h, last)
		if err != nil || found != nil {
			return s.already(ctx, h, found), err
		}
	}
	s.try(e, attempt{at: time.Now(), open: true})
	err := s.client.EndTransaction(ctx, h, remoting.Commit)
	if err == nil {
		s.try(e, attempt{at: time.Now()})
		return ended{}, nil
	}
	return s.judge(ctx, e, err, asks)
}

func (s *txnSession) try(e *ending, a attempt) {
	e.last = a
	s.memory.tried(e.prepared.half.Topic, e.prepared.half.UniqueKey, a)
}

// judge says what an error means for the transaction.
func (s *txnSession) judge(ctx context.Context, e *ending, err error, asked bool) (ended, error) {
	h := e.prepared.half
	s.try(e, attempt{at: time.Now(), open: maybeCarriedOut(err)})
	if !isLost(err) {
		return ended{}, err
	}
	if !asked { // it may be there all the same, if it was committed before
		if found, ferr := s.ask(ctx, h, e.last); ferr != nil || found != nil {
			return s.already(ctx, h, found), ferr
		}
	}
	return ended{}, s.lost(e.prepared, err)
}

// ask returns the message with the key, nil if there is certainly none.
//
// An answer that comes too early is worth nothing: a commit that nobody waits for
// any more may lie before the broker, or have been carried out and not be indexed
// yet. Of what this process did not hear an answer to, and of what a former one
// may have sent, a first answer shows that the broker has read it. From then on
// it has time to carry it out or, for it is too old, to throw it away.
func (s *txnSession) ask(ctx context.Context, h remoting.Half, last attempt) (*remoting.Message, error) {
	quiet := last.at
	heard := s.memory.heardAt(h.Topic)
	if last.open || heard.IsZero() {
		found, err := s.find(ctx, h)
		if err != nil || found != nil {
			return found, err
		}
		quiet = time.Now()
		heard = s.memory.hear(h.Topic, quiet)
	}
	if heard.After(quiet) {
		quiet = heard
	}
	if err := s.settle(ctx, quiet); err != nil {
		return nil, &unanswered{err}
	}
	return s.find(ctx, h)
}

// settle waits until what the broker had read at an instant is done.
func (s *txnSession) settle(ctx context.Context, since time.Time) error {
	left := time.Until(since.Add(s.cfg.Transaction.Settle))
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unanswered is the error of a question whose answer is needed before a commit:
// nothing was carried out.
type unanswered struct{ err error }

func (e *unanswered) Error() string { return "is the message there already? " + e.err.Error() }
func (e *unanswered) Unwrap() error { return e.err }

// find returns the message with the key, nil if no broker has it.
func (s *txnSession) find(ctx context.Context, h remoting.Half) (*remoting.Message, error) {
	found, err := s.client.QueryMessages(ctx, remoting.Query{Topic: h.Topic, Key: h.UniqueKey, Unique: true})
	if err != nil {
		return nil, &unanswered{err}
	}
	s.stats.add(func(n *txnCounts) { n.asked++; n.twice += int64(max(0, len(found)-1)) })
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// already ends a half message whose message is there. If that is not its own
// doing, it is rolled back, so that the broker does not go on asking. Should that
// fail, the broker will ask, and be told.
func (s *txnSession) already(ctx context.Context, h remoting.Half, found *remoting.Message) ended {
	if found == nil {
		return ended{}
	}
	s.stats.add(func(n *txnCounts) { n.already++ })
	if found.Broker != h.Broker || found.PreparedOffset != h.PhysicalOffset {
		if err := s.client.EndTransaction(ctx, h, remoting.Rollback); err != nil && !isLost(err) {
			s.log.Info("rolling back what is there already", "topic", h.Topic, "key", h.UniqueKey, "error", err)
		}
	}
	return ended{already: true, message: found}
}

// isLost says that a half message can never be committed with this handle.
func isLost(err error) bool {
	return codeOf(err) == remoting.CodeIllegalOperation || remoting.ClassOf(err) == remoting.NotFound
}

// maybeCarriedOut says that a commit may have stored the message though it failed.
func maybeCarriedOut(err error) bool {
	switch judgeSend(err) {
	case asyncsink.Wait, asyncsink.Congested, asyncsink.Final:
		return false
	}
	return true
}

// judgeCommit says what an error means for the commit.
func judgeCommit(err error) asyncsink.Judgement {
	if _, ok := errors.AsType[*TransactionError](err); ok {
		return asyncsink.Final
	}
	if _, ok := errors.AsType[*unanswered](err); ok {
		if remoting.ClassOf(err) == remoting.Permanent {
			return asyncsink.Final
		}
		return asyncsink.Wait
	}
	if remoting.ClassOf(err) == remoting.Permanent {
		return asyncsink.Final
	}
	return judgeSend(err)
}

// TransactionError says why a message that was prepared can no longer be
// committed. No message with its key is there.
type TransactionError struct {
	// Topic, UniqueKey and Keys identify the message, Group is the producer group.
	Topic, UniqueKey, Group string
	Keys                    []string
	// Age is how long ago it was prepared, and Timeout what was allowed.
	Age, Timeout time.Duration
	// Late says that the timeout is over; else the broker does not have the half
	// message any more.
	Late bool
	// Err is the broker's answer.
	Err error
}

func (e *TransactionError) Error() string {
	text := fmt.Sprintf("rocketmqio.Write: message %s with keys %q to topic %q, prepared %v ago by producer group %s, can no longer be committed, and no message with its key is there: ",
		e.UniqueKey, e.Keys, e.Topic, e.Age.Round(time.Second), e.Group)
	if e.Late {
		text += fmt.Sprintf("the timeout of %v is too short for the time between preparation and commit, which was %v: raise WriteTransactionTimeout well above the runner's checkpoint interval and the time that the pipeline may be down, and see that the clocks of workers and brokers agree",
			e.Timeout, e.Age.Round(time.Second))
	} else {
		text += "the broker does not have the half message: check fileReservedTime, and that the handle is of this cluster"
	}
	return text + ": " + e.Err.Error()
}

func (e *TransactionError) Unwrap() error { return e.Err }

func (s *txnSession) lost(p *prepared, err error) error {
	return &TransactionError{
		Topic: p.half.Topic, UniqueKey: p.half.UniqueKey, Keys: p.keys, Group: p.half.Group,
		Age: time.Since(p.born), Timeout: s.cfg.Transaction.Timeout, Late: codeOf(err) == remoting.CodeIllegalOperation, Err: err,
	}
}
