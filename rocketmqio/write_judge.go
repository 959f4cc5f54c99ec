// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// errNoQueue: the topic is known, and closed for writing or without any broker.
var errNoQueue = errors.New("no queue")

// unsafeStatus is the error of a message that is stored, but not as safely as the
// policy wants.
type unsafeStatus struct {
	status WriteStatus
	policy UnsafePolicy
}

func (e *unsafeStatus) Error() string {
	return fmt.Sprintf("the broker stored it with status %s, which the option WriteUnsafe does not accept", e.status)
}

// judgeSend says what an error of a send means for each message of the request.
var judgeSend = asyncsink.Chain(
	asyncsink.FinalAs[*missingTopic](nil),
	asyncsink.FinalAs[*wrongTopic](nil),
	asyncsink.FinalAs(func(e *unsafeStatus) bool { return e.policy == FailUnsafe }),
	judgeAnswer,
	judgeSilence,
)

// judgeAnswer judges what a server answered.
func judgeAnswer(err error) asyncsink.Judgement {
	e, ok := errors.AsType[*remoting.Error](err)
	if !ok {
		return asyncsink.Undecided
	}
	switch e.Code {
	case remoting.CodeSuccess: // no answer
		if e.Class == remoting.Permanent {
			return asyncsink.Final
		}
		return asyncsink.Undecided
	case remoting.CodeSystemError:
		return judgeSystemError(e.Error())
	case remoting.CodeMessageIllegal:
		return asyncsink.Alone
	case remoting.CodeServiceNotAvailable: // it shuts down, its disk is full, or it is a slave
		return asyncsink.Wait
	case remoting.CodeInvalidParameter: // the topic may have fewer queues than the route said
		return asyncsink.Retry
	case remoting.CodeNoPermission: // a broker that is being taken out of service, or keys that are wrong
		if strings.Contains(e.Error(), "] sending message is forbidden") {
			return asyncsink.Wait
		}
	}
	switch e.Class {
	case remoting.Permanent, remoting.NotFound:
		return asyncsink.Final
	case remoting.Throttled:
		return asyncsink.Congested
	case remoting.NoRoute:
		return asyncsink.Wait
	}
	return asyncsink.Retry
}

// judgeSystemError knows the texts of RocketMQ 5.5 behind the code that says
// nothing.
func judgeSystemError(text string) asyncsink.Judgement {
	for part, j := range map[string]asyncsink.Judgement{
		"message body size exceeded":            asyncsink.Alone, // what it says of a batch
		"accurate timer message is not enabled": asyncsink.Final,
		"flow control":                          asyncsink.Congested,
		"create mapped file failed":             asyncsink.Wait,
		"in-sync replicas not enough":           asyncsink.Wait,
		"broker unable to service":              asyncsink.Wait,
	} {
		if strings.Contains(text, part) {
			return j
		}
	}
	return asyncsink.Retry
}

// judgeSilence judges requests that had no answer: those that never left us were
// not carried out.
func judgeSilence(err error) asyncsink.Judgement {
	var dial *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errNoQueue), remoting.ClassOf(err) == remoting.NoRoute, errors.Is(err, syscall.ECONNREFUSED),
		errors.As(err, &dns), errors.As(err, &dial) && dial.Op == "dial":
		return asyncsink.Wait
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, asyncsink.ErrTimeout):
		return asyncsink.TimedOut
	}
	return asyncsink.Retry
}

// codeOf is what a server answered, zero for no answer.
func codeOf(err error) int {
	if e, ok := errors.AsType[*remoting.Error](err); ok {
		return e.Code
	}
	return remoting.CodeSuccess
}

// isBrokersFault says that another broker may do better.
func isBrokersFault(err error) bool {
	switch codeOf(err) {
	case remoting.CodeSuccess:
		return !errors.Is(err, context.Canceled)
	case remoting.CodeServiceNotAvailable, remoting.CodeNoPermission:
		return true
	}
	return remoting.ClassOf(err) == remoting.NoRoute
}
