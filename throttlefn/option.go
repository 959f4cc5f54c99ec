// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
)

// An Option configures [Throttle].
type Option func(*settings) error

// Credentials names the resolver that gives the keys for the endpoints of each
// handle, on the worker: "env", "file:/path", or one registered with
// [auth.Register]. Default: requests are not signed.
func Credentials(resolver string) Option {
	return option.Resolver("Credentials", resolver, (*settings).credentials)
}

// StaticCredentials gives the keys themselves. They stand in the pipeline graph
// in plain text, where everybody can read them who can see the job. Use
// [Credentials] wherever that matters.
func StaticCredentials(accessKey, secretKey string) Option {
	return option.StaticKeys("StaticCredentials", accessKey, secretKey, (*settings).credentials)
}

// TLS secures the connections. Default: plain text.
func TLS(t auth.TLS) Option {
	return func(s *settings) error { s.TLS = t; return nil }
}

// RequestTimeout bounds each request, from 100 ms to 5 minutes. Default 3 s.
func RequestTimeout(d time.Duration) Option {
	return func(s *settings) error { s.RequestTimeout = d; return nil }
}

// FlowControlBudget is how long one deferral may be put off altogether because
// the server answers that there are too many requests, up to 1 h. Default 30 s.
func FlowControlBudget(d time.Duration) Option {
	return func(s *settings) error { s.FlowControl = d; return nil }
}

// MaxInFlight is how many deferrals of one bundle are under way at the same
// time, 1 to 1000. Each deferral is a request of its own. Default 16.
func MaxInFlight(n int) Option {
	return func(s *settings) error { s.MaxInFlight = n; return nil }
}

// MaxDeliveryAttempt is the delivery attempt from which on a message is not
// deferred any more but let through by a valve. Keep it below the group's
// retryMaxTimes (16 by default, that is 17 deliveries), beyond which the broker
// puts a message with the dead letters. A message whose lease has ended before it
// was decided about does not pass at any attempt (see [PassExpired]); the Detail
// of its [Deferral] says at which one it was. 1 to 10 000; default 16.
func MaxDeliveryAttempt(n int) Option {
	return option.InRange("MaxDeliveryAttempt", n, 1, 10_000, func(s *settings) { s.MaxDeliveryAttempt = n })
}

// MaxDelay caps each deferral: if this process goes away, a message is back
// after at most this long. 1 s to 12 h; default 30 minutes.
func MaxDelay(d time.Duration) Option {
	return option.InRange("MaxDelay", d, minDelay, maxDelayLimit, func(s *settings) { s.MaxDelay = d })
}

// MaxTotalDelay caps how long a message is deferred over all its deliveries;
// then a valve lets it through. The count is kept in the process, of the 100 000
// messages deferred last: a restart, or a worker that sees the message for the
// first time, begins at zero. There the valve of [MaxDeliveryAttempt] takes over:
// messages that were delivered before and are not known here, and all messages
// while more than 100 000 are being deferred, are deferred without suspend (see
// [Suspend]), so that each deferral counts as an attempt. Such a message may be
// deferred for longer than MaxTotalDelay, but not more than 15 times from then on
// by default. 1 s to 30 days; default 30 minutes.
func MaxTotalDelay(d time.Duration) Option {
	return option.InRange("MaxTotalDelay", d, minDelay, 30*24*time.Hour, func(s *settings) { s.MaxTotalDelay = d })
}

// LiteTopicTTL states after what time without messages the broker deletes a
// lite topic, from a minute on. With it, a MaxTotalDelay that is not below is
// refused. Default: not checked.
func LiteTopicTTL(d time.Duration) Option {
	return option.InRange("LiteTopicTTL", d, time.Minute, 100*365*24*time.Hour, func(s *settings) { s.LiteTopicTTL = d })
}

// Suspend says whether deferrals ask the broker not to count the next delivery
// as an attempt, where that is safe. Default true; brokers before 5.5 ignore it.
//
// RocketMQ suspends a whole lite topic: every message of it that was delivered
// together with the deferred one gets the new end of lease. A message that has
// passed and is still being worked on would be delivered again at that time,
// and its acknowledgement, with a handle of an earlier delivery, would be
// answered OK and do nothing: with work that takes longer than the deferral,
// the lite topic would go round for ever. Therefore a deferral that ends before
// the lease of a message of the same lite topic that has passed is made without
// it, and counts as an attempt. See [WorkWithin]. So are deferrals of messages of
// which it is not known for how long they were deferred, see [MaxTotalDelay].
func Suspend(on bool) Option {
	return func(s *settings) error { s.Suspend = on; return nil }
}

// WorkWithin promises that what passes is acknowledged within d, so that
// deferrals of d and more can be suspended safely even though the leases of the
// messages in work would last longer (see [Suspend]). What takes longer all the
// same is delivered twice. Default: no promise, a message may be in work until
// its lease ends.
func WorkWithin(d time.Duration) Option {
	return option.InRange("WorkWithin", d, time.Nanosecond, maxDelayLimit, func(s *settings) { s.WorkWithin = d })
}

// PassExpired has the policy decide on messages whose lease has ended before
// they got here, instead of leaving them out. They are being delivered again
// already, so what passes is worked on twice; its acknowledgement has no
// effect. Default false.
func PassExpired(on bool) Option {
	return func(s *settings) error { s.PassExpired = on; return nil }
}

// DivertValve keeps what a valve lets through out of Passed, so that it can go
// to a dead-letter topic instead of the usual work. Whoever takes it from Valve
// must acknowledge it, after it was stored. Default false: it is in both.
func DivertValve(on bool) Option {
	return func(s *settings) error { s.DivertValve = on; return nil }
}

// AckPassed acknowledges what passes at the end of the bundle. Then there is
// nothing to acknowledge later, and no second chance either: a message whose
// work fails after this, or whose bundle the runner loses, is gone. Diverted
// messages are not acknowledged. Default false.
func AckPassed(on bool) Option {
	return func(s *settings) error { s.AckPassed = on; return nil }
}
