// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
)

// settings is what the options of Throttle make. It travels in the pipeline
// graph as JSON.
type settings struct {
	Credentials        auth.Source   `json:"credentials,omitzero"`
	TLS                auth.TLS      `json:"tls,omitzero"`
	RequestTimeout     time.Duration `json:"request_timeout"`
	FlowControl        time.Duration `json:"flow_control_budget"`
	MaxInFlight        int           `json:"max_in_flight"`
	MaxDeliveryAttempt int           `json:"max_delivery_attempt"`
	MaxDelay           time.Duration `json:"max_delay"`
	MaxTotalDelay      time.Duration `json:"max_total_delay"`
	LiteTopicTTL       time.Duration `json:"lite_topic_ttl,omitempty"`
	WorkWithin         time.Duration `json:"work_within,omitempty"`
	Suspend            bool          `json:"suspend"`
	PassExpired        bool          `json:"pass_expired,omitempty"`
	DivertValve        bool          `json:"divert_valve,omitempty"`
	AckPassed          bool          `json:"ack_passed,omitempty"`
}

// The defaults of the options of the same names.
const (
	DefaultMaxDeliveryAttempt = 16
	DefaultMaxDelay           = 30 * time.Minute
	DefaultMaxTotalDelay      = 30 * time.Minute
	DefaultMaxInFlight        = 16
)

const (
	// minDelay is the shortest deferral: the broker takes less, but delivers
	// again some hundred milliseconds after the time, and each costs a request.
	minDelay = time.Second
	// maxDelayLimit is the longest that the broker grants.
	maxDelayLimit = ackfn.MaxDeferral
	// changeAttempts is how often a deferral is asked for before it is left to
	// the end of the lease.
	changeAttempts = 2
)

func (s *settings) credentials() *auth.Source { return &s.Credentials }

func defaults() settings {
	return settings{
		RequestTimeout: ackfn.DefaultRequestTimeout, FlowControl: ackfn.DefaultFlowControlBudget, MaxInFlight: DefaultMaxInFlight,
		MaxDeliveryAttempt: DefaultMaxDeliveryAttempt, MaxDelay: DefaultMaxDelay, MaxTotalDelay: DefaultMaxTotalDelay,
		Suspend: true,
	}
}

func resolve(opts []Option) (settings, error) {
	s := defaults()
	if err := option.Apply(&s, opts); err != nil {
		return settings{}, err
	}
	if s.MaxDelay > s.MaxTotalDelay {
		return settings{}, fmt.Errorf("options MaxDelay(%v) and MaxTotalDelay(%v): one delay cannot be longer than all together", s.MaxDelay, s.MaxTotalDelay)
	}
	if s.LiteTopicTTL > 0 && s.MaxTotalDelay >= s.LiteTopicTTL {
		return settings{}, fmt.Errorf("options MaxTotalDelay(%v) and LiteTopicTTL(%v): the broker may delete a lite topic, with the messages deferred in it, before they come back: raise the TTL or lower the delay",
			s.MaxTotalDelay, s.LiteTopicTTL)
	}
	if s.AckPassed && s.WorkWithin > 0 {
		return settings{}, errors.New("options AckPassed and WorkWithin: what is acked at once is not in work: give one or the other")
	}
	// The client checks the options that are its own.
	if _, err := s.client(changeAttempts); err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		return settings{}, err
	}
	return s, nil
}

// client makes a client that sends each request so often.
func (s *settings) client(attempts int) (*ackfn.Client, error) {
	opts := []ackfn.Option{
		ackfn.RequestTimeout(s.RequestTimeout), ackfn.FlowControlBudget(s.FlowControl),
		ackfn.MaxInFlight(s.MaxInFlight), ackfn.MaxAttempts(attempts), ackfn.TLS(s.TLS),
	}
	if s.Credentials.Resolver != "" {
		opts = append(opts, ackfn.Credentials(s.Credentials.Resolver))
	}
	if c := s.Credentials; c.StaticAccessKey != "" || c.StaticSecretKey != "" {
		opts = append(opts, ackfn.StaticCredentials(c.StaticAccessKey, c.StaticSecretKey))
	}
	return ackfn.Acquire(context.Background(), opts...)
}
