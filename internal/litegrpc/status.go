// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Class says what helps against an error.
type Class int

// The classes of errors.
const (
	// Transient: the same request may succeed later.
	Transient Class = iota
	// Throttled: the server asks to slow down; retry after a pause, on a
	// budget of its own.
	Throttled
	// SessionLost: the proxy does not know this session (any more); open it
	// again, then retry.
	SessionLost
	// HandleExpired: the lease is over or the handle was replaced; the message
	// is delivered again. Never retried.
	HandleExpired
	// HandleMalformed: the server cannot read the handle. Never retried.
	HandleMalformed
	// Permanent: the same request can never succeed; somebody must change a
	// setting.
	Permanent
)

func (c Class) String() string {
	switch c {
	case Transient:
		return "transient"
	case Throttled:
		return "throttled"
	case SessionLost:
		return "session lost"
	case HandleExpired:
		return "handle expired"
	case HandleMalformed:
		return "handle malformed"
	default:
		return "permanent"
	}
}

// Error is what a call on a session returns when it did not succeed.
type Error struct {
	// Op is what was being done, with the names it concerned.
	Op string
	// Class says what helps.
	Class Class
	// Code is the status that the server answered; CODE_UNSPECIFIED if the call
	// got no answer.
	Code v2.Code
	// Hint says what to check, empty if there is nothing to say.
	Hint string
	// Unsent says that the request did not leave: no proxy could be reached.
	Unsent bool
	// Err is the server's text or the transport's error.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Code != v2.Code_CODE_UNSPECIFIED {
		fmt.Fprintf(&b, ": %v", e.Code)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of err: that of the *Error in its chain, else Transient,
// for an error that nobody judged may pass.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Transient
}

// NothingDone says that the request which err is about was not carried out, for
// certain: it did not leave, or the proxy refused it for want of a session.
func NothingDone(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Unsent || e.Class == SessionLost)
}

// codeClasses holds the codes that are not transient. The proxy maps what it
// does not know to INTERNAL_SERVER_ERROR, so texts decide there (internalClass).
var codeClasses = map[v2.Code]Class{
	v2.Code_BAD_REQUEST:                         Permanent,
	v2.Code_ILLEGAL_ACCESS_POINT:                Permanent,
	v2.Code_ILLEGAL_TOPIC:                       Permanent,
	v2.Code_ILLEGAL_CONSUMER_GROUP:              Permanent,
	v2.Code_ILLEGAL_MESSAGE_TAG:                 Permanent,
	v2.Code_ILLEGAL_MESSAGE_KEY:                 Permanent,
	v2.Code_ILLEGAL_MESSAGE_GROUP:               Permanent,
	v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY:        Permanent,
	v2.Code_ILLEGAL_MESSAGE_ID:                  Permanent,
	v2.Code_ILLEGAL_FILTER_EXPRESSION:           Permanent,
	v2.Code_ILLEGAL_INVISIBLE_TIME:              Permanent,
	v2.Code_ILLEGAL_DELIVERY_TIME:               Permanent,
	v2.Code_INVALID_RECEIPT_HANDLE:              HandleExpired,
	v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE: Permanent,
	v2.Code_UNRECOGNIZED_CLIENT_TYPE:            SessionLost, // "cannot find client settings for this client"
	v2.Code_MESSAGE_CORRUPTED:                   Transient,
	v2.Code_CLIENT_ID_REQUIRED:                  Permanent,
	v2.Code_ILLEGAL_POLLING_TIME:                Transient, // the clock ran out on the way
	v2.Code_ILLEGAL_LITE_TOPIC:                  Permanent,
	v2.Code_UNAUTHORIZED:                        Permanent,
	v2.Code_PAYMENT_REQUIRED:                    Permanent,
	v2.Code_FORBIDDEN:                           Permanent,
	v2.Code_NOT_FOUND:                           Permanent,
	v2.Code_TOPIC_NOT_FOUND:                     Permanent,
	v2.Code_CONSUMER_GROUP_NOT_FOUND:            Permanent,
	v2.Code_PAYLOAD_TOO_LARGE:                   Permanent,
	v2.Code_MESSAGE_BODY_TOO_LARGE:              Permanent,
	v2.Code_MESSAGE_BODY_EMPTY:                  Permanent,
	v2.Code_PRECONDITION_FAILED:                 Permanent,
	v2.Code_TOO_MANY_REQUESTS:                   Throttled,
	v2.Code_LITE_TOPIC_QUOTA_EXCEEDED:           Throttled,
	v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED:    Throttled,
	v2.Code_REQUEST_HEADER_FIELDS_TOO_LARGE:     Permanent,
	v2.Code_MESSAGE_PROPERTIES_TOO_LARGE:        Permanent,
	v2.Code_NOT_IMPLEMENTED:                     Permanent,
	v2.Code_UNSUPPORTED:                         Permanent,
	v2.Code_VERSION_UNSUPPORTED:                 Permanent,
}

const tooOld = "check the versions of proxy and broker: lite topics need RocketMQ 5.5 or later"

// hints say what to check at a code.
var hints = map[v2.Code]string{
	v2.Code_UNAUTHORIZED:                        "check access key, secret key and the permissions of that user",
	v2.Code_FORBIDDEN:                           "check the permissions of the topic, the group and the user",
	v2.Code_TOPIC_NOT_FOUND:                     "check the topic's name and namespace, and that it was created with +message.type=LITE",
	v2.Code_CONSUMER_GROUP_NOT_FOUND:            "check the consumer group's name and namespace, and that it was created",
	v2.Code_ILLEGAL_CONSUMER_GROUP:              "a lite source needs a group with the attributes +lite.bind.topic=<main topic>,+lite.sub.wildcard=true",
	v2.Code_ILLEGAL_TOPIC:                       "check that the group's lite.bind.topic is this topic, and that the topic's message.type is LITE",
	v2.Code_LITE_TOPIC_QUOTA_EXCEEDED:           "the broker's quota of lite topics is used up (maxLmqConsumeQueueNum)",
	v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED:    "the broker's quota of lite subscriptions is used up (maxLiteSubscriptionCount)",
	v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE: "check the topic's message.type",
	v2.Code_NOT_IMPLEMENTED:                     tooOld,
	v2.Code_UNSUPPORTED:                         tooOld,
	v2.Code_VERSION_UNSUPPORTED:                 tooOld,
}

// answered judges a status that the server gave; nil if it was a success.
func answered(op string, s *v2.Status) error {
	code := s.GetCode()
	if code == v2.Code_OK || code == v2.Code_MULTIPLE_RESULTS {
		return nil
	}
	if s == nil {
		return &Error{Op: op, Class: Transient, Err: errors.New("the server's answer has no status")}
	}
	text := s.GetMessage()
	class, known := codeClasses[code]
	if !known {
		class = Transient
	}
	if override, ok := textClass(code, text); ok {
		class = override
	}
	hint := hints[code]
	if class == SessionLost {
		hint = "the proxy has no settings of this client: it restarted, or none were sent"
	}
	return &Error{Op: op, Class: class, Code: code, Hint: hint, Err: errors.New(clip(text))}
}

// ofKnownName says that an error about a topic or group which was there, for a
// session of it was open or a message of it is held, may pass: while its only
// broker restarts, the proxy of RocketMQ 5.5.0 answers that they are not there.
func ofKnownName(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != v2.Code_TOPIC_NOT_FOUND && e.Code != v2.Code_CONSUMER_GROUP_NOT_FOUND {
		return err
	}
	passing := *e
	passing.Class = Transient
	return &passing
}

// textClass knows the answers whose code does not tell what happened, as
// RocketMQ 5.5.0 gives them.
func textClass(code v2.Code, text string) (Class, bool) {
	switch {
	case strings.Contains(text, "NullPointerException"), strings.Contains(text, "null pointer"):
		return SessionLost, true // what the proxy needed were our settings
	case code == v2.Code_BAD_REQUEST && strings.Contains(text, "is disconnected"):
		return SessionLost, true
	case code == v2.Code_FORBIDDEN && strings.Contains(text, "too many unacked"):
		return Throttled, true
	case strings.Contains(text, "Parse failed"), strings.Contains(text, "arse receipt handle"):
		return HandleMalformed, true
	case strings.Contains(text, "status is abnormal"):
		// The broker refused the handle itself: its offset is beyond the end of
		// the lite topic, which was deleted, or it is none of the last batch that
		// the group was given, or the group is bound to another topic.
		return HandleExpired, true
	case strings.Contains(text, "topic not match"), strings.Contains(text, "message type not match"):
		return Permanent, true // the group is bound elsewhere, the topic is of another type
	case code == v2.Code_INTERNAL_SERVER_ERROR && strings.Contains(text, "flow control"):
		return Throttled, true
	}
	return 0, false
}

// failed judges a call that brought no answer.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Op: op, Class: Transient, Err: err}
	}
	s := status.Convert(err)
	out := &Error{Op: op, Class: Transient, Err: err}
	switch s.Code() {
	case codes.Canceled:
		out.Err = fmt.Errorf("%w: %w", context.Canceled, err)
	case codes.DeadlineExceeded:
		out.Err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	case codes.Unauthenticated, codes.PermissionDenied:
		out.Class, out.Hint = Permanent, hints[v2.Code_UNAUTHORIZED]
	case codes.Unimplemented:
		out.Class, out.Hint = Permanent, "the endpoint is no RocketMQ 5.x proxy, or one too old: "+tooOld
	case codes.ResourceExhausted:
		out.Class = Throttled
		if strings.Contains(s.Message(), "larger than max") {
			out.Class, out.Hint = Permanent, "raise the limit of message size"
		}
	case codes.InvalidArgument:
		out.Class = Permanent
		switch text := s.Message(); {
		case strings.Contains(text, "LITE mode"), strings.Contains(text, "bind topic"):
			out.Code, out.Hint = v2.Code_ILLEGAL_CONSUMER_GROUP, hints[v2.Code_ILLEGAL_CONSUMER_GROUP]
		case strings.Contains(text, "group not found"):
			out.Code, out.Hint = v2.Code_CONSUMER_GROUP_NOT_FOUND, hints[v2.Code_CONSUMER_GROUP_NOT_FOUND]
		}
	case codes.Unavailable:
		out.Class, out.Hint = unavailable(s.Message())
	}
	return out
}

// unavailable finds the likely cause in what gRPC says about a connection that
// it could not make or keep.
func unavailable(text string) (Class, string) {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("first record does not look like a TLS handshake"):
		return Permanent, "TLS is on here, but the proxy speaks plain text: switch TLS off, or on at the proxy"
	case has("x509:", "certificate"):
		return Permanent, "check TLS: the CA that signed the proxy's certificate, the name in it (TLS server name) and its dates"
	case refusesPlainText(text):
		return Transient, "is this the gRPC port of a proxy, such as 8081 and not 9876 of a name server? If so, TLS may be on there and off here"
	case has("connection refused", "no such host", "i/o timeout", "no route to host", "network is unreachable"):
		return Transient, "check the endpoints, and that the proxy runs and can be reached from here"
	}
	return Transient, ""
}

// refusesPlainText recognises how a connection ends that a proxy with TLS closes,
// or one that is going down.
func refusesPlainText(text string) bool {
	return strings.Contains(text, "server preface") || strings.Contains(text, "frame header looked like")
}

// clip keeps a server's text, which may hold a stack trace, to a line that can
// be read.
func clip(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
