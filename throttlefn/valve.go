// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// Reason is which valve let a message through.
type Reason string

// The valves.
const (
	// ReasonDeliveryAttempt: see [MaxDeliveryAttempt].
	ReasonDeliveryAttempt Reason = "max-delivery-attempt"
	// ReasonTotalDelay: see [MaxTotalDelay].
	ReasonTotalDelay Reason = "max-total-delay"
)

// valve says whether a message that the policy would defer must be let through,
// and if not, for how long it may still be deferred.
func (s *settings) valve(h *coders.ReceiptHandle, deferredSoFar time.Duration) (open Reason, detail string, most time.Duration) {
	if int(h.DeliveryAttempt) >= s.MaxDeliveryAttempt {
		return ReasonDeliveryAttempt, fmt.Sprintf("delivery attempt %d, the limit is %d", h.DeliveryAttempt, s.MaxDeliveryAttempt), 0
	}
	left := s.MaxTotalDelay - deferredSoFar
	if left < minDelay {
		return ReasonTotalDelay, fmt.Sprintf("deferred for %v altogether, the limit is %v", deferredSoFar, s.MaxTotalDelay), 0
	}
	return "", "", min(left, s.MaxDelay)
}

// apart moves a deadline away from the lease's present one, by a second:
// RocketMQ has lost messages whose lease was changed to the deadline that it
// had. It moves it forward if that is not beyond latest.
func apart(deadline, present, now, latest time.Time) time.Time {
	if present.IsZero() || deadline.Sub(present).Abs() >= time.Second {
		return deadline
	}
	forward, back := present.Add(time.Second), present.Add(-time.Second)
	if forward.After(latest) && !back.Before(now.Add(minDelay)) {
		return back
	}
	return forward
}
