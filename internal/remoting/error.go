// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
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
	// NoRoute: the topic, or the broker of a queue, is not known to those who
	// were asked. It may be so for a moment, when a broker is replaced, or for
	// good, when the name is wrong: retry, but not for ever.
	NoRoute
	// NotFound: the broker answers that what was named does not exist. Somebody
	// must create it.
	NotFound
	// OffsetMoved: nothing can be read at this offset, which lies below the
	// first or beyond the next offset of the queue. Only [Client.Pull] has it,
	// and its result says where the queue begins and ends.
	OffsetMoved
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
	case NoRoute:
		return "no route"
	case NotFound:
		return "not found"
	case OffsetMoved:
		return "offset moved"
	default:
		return "permanent"
	}
}

// Error is what a call returns when it did not succeed.
type Error struct {
	// Op is what was being done, with the names it concerned.
	Op string
	// Addr is the server that was asked, empty if none was.
	Addr string
	// Class says what helps.
	Class Class
	// Code is what the server answered, one of the Code constants; zero if the
	// call got no answer.
	Code int
	// Hint says what to check, empty if there is nothing to say.
	Hint string
	// Err is the server's text or the transport's error.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Addr != "" {
		b.WriteString(": " + e.Addr)
	}
	if e.Code != CodeSuccess {
		b.WriteString(": " + codeName(e.Code))
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

func codeName(code int) string {
	if name, ok := codeNames[code]; ok {
		return fmt.Sprintf("%s (%d)", name, code)
	}
	return "code " + strconv.Itoa(code)
}

// codeClasses holds the codes that are not transient.
var codeClasses = map[int]Class{
	CodeSystemBusy:             Throttled,
	CodeRequestNotSupported:    Permanent,
	CodeMessageIllegal:         Permanent,
	CodeVersionNotSupported:    Permanent,
	CodeNoPermission:           Permanent,
	CodeTopicNotExist:          NoRoute,
	CodePullOffsetMoved:        OffsetMoved,
	CodeQueryNotFound:          NotFound,
	CodeSubscriptionParse:      Permanent,
	CodeGroupNotExist:          NotFound,
	CodeInvalidParameter:       Permanent,
	CodePollingFull:            Throttled,
	CodeBrokerNotExist:         NoRoute,
	CodeFlowControl:            Throttled,
	CodeNotLeaderForQueue:      NoRoute,
	CodeIllegalOperation:       Permanent,
	CodeLiteQuotaExceeded:      Throttled,
	CodeLiteSubscriptionsQuota: Throttled,
	CodeUserNotExist:           Permanent,
	CodePolicyNotExist:         Permanent,
}

// hints say what to check at a code.
var hints = map[int]string{
	CodeRequestNotSupported:  "is the address that of a name server for a broker's request, or the other way round, or the server too old?",
	CodeMessageIllegal:       "check the size of body and properties, and the topic's message type",
	CodeNoPermission:         "check access key and secret key, and that this user may use the topic and the group; the topic or the broker may also be closed for reading or writing",
	CodeTopicNotExist:        "check the topic's name and the namespace, and that it was created",
	CodeSubscriptionParse:    "check the filter expression",
	CodeSubscriptionNotExist: "the broker wants a heartbeat of this consumer group first (rejectPullConsumerEnable)",
	CodeGroupNotExist:        "check the consumer group's name and the namespace, and create it where the broker does not (autoCreateSubscriptionGroup)",
	CodeInvalidParameter:     "check that the topic still has this queue",
	CodeIllegalOperation:     "the transaction was ended later than its check immunity time allows",
}

// answered judges an answer; nil if it was a success. Nothing of keys is left
// in what it says, though servers like to quote the access key.
func answered(op, addr string, cmd *Command, keys auth.Keys) error {
	if cmd.Code == CodeSuccess {
		return nil
	}
	class := codeClasses[cmd.Code]
	text, hint := redact(clip(cmd.Remark), keys), hints[cmd.Code]
	if c, h, ok := textClass(cmd.Code, cmd.Remark); ok {
		class, hint = c, h
	}
	e := &Error{Op: op, Addr: addr, Class: class, Code: cmd.Code, Hint: hint}
	if text != "" {
		e.Err = errors.New(text)
	}
	return e
}

// textClass knows the answers whose code does not tell what happened.
func textClass(code int, text string) (Class, string, bool) {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case code != CodeSystemError && code != CodeTransactionFailed:
		return 0, "", false
	case has("AclException"), has("AuthenticationException"), has("AuthorizationException"):
		return Permanent, hints[CodeNoPermission], true // brokers before 5.3
	case has("does not support consumer to filter"):
		return Permanent, "set enablePropertyFilter=true at the broker, or use a tag filter", true
	case has("producer group wrong"), has("state table offset wrong"), has("commit log offset wrong"):
		return Permanent, "the handle is not that of this half message", true
	case has("Find prepared transaction message failed"):
		return NotFound, "the half message was not found: ended before, expired, or of another broker", true
	case has("flow control"):
		return Throttled, "", true
	}
	return 0, "", false
}

// redact takes the keys out of a text.
func redact(text string, k auth.Keys) string {
	for _, secret := range []string{k.SecretKey, k.SecurityToken, k.AccessKey} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
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

// ErrClosed is in the chain of errors of calls on a closed client.
var ErrClosed = errors.New("the client is closed")

// unanswered judges a call that brought no answer.
func unanswered(op, addr string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Op == "" {
			e.Op, e.Addr = op, addr
		}
		return e
	}
	e := &Error{Op: op, Addr: addr, Class: Transient, Err: err}
	switch {
	case errors.Is(err, ErrClosed):
		e.Class = Permanent
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default:
		e.Class, e.Hint = connectionClass(err)
	}
	return e
}

// within says what an error of an inner step kept from being done.
func within(op operation, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return &Error{Op: op.String(), Class: Transient, Err: err}
	}
	outer := *e
	outer.Op = op.String() + ": " + e.Op
	return &outer
}

// connectionClass finds the likely cause of a connection that could not be made
// or kept.
func connectionClass(err error) (Class, string) {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	text := err.Error()
	switch {
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		return Permanent, "check TLS: the CA that signed the server's certificate, the name in it (TLS server name) and its dates"
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return Permanent, "TLS is on here, but the server speaks plain text: switch TLS off, or on at the server"
	case errors.Is(err, ErrMalformed):
		return Transient, "is this the remoting port of a RocketMQ server, such as 9876 of a name server and not a proxy's for gRPC, and is TLS on there and off here?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return Transient, "check the address, and that the server runs"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return Transient, "the server closed the connection; if it does so always, TLS may be on at one side only"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return Transient, "check the host's name"
	}
	return Transient, ""
}
