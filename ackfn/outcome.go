// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import "fmt"

// Outcome is what became of a receipt handle.
type Outcome uint8

// The outcomes. Only Failed is an error; the transform Ack never emits it,
// because its bundle fails.
const (
	// Failed: the broker did not take the request and it is not known whether
	// it has effect. The message is delivered again when its lease ends, unless
	// it had.
	Failed Outcome = iota
	// Acked: the broker took the acknowledgement.
	Acked
	// Deferred: the broker changed the lease; the message is delivered again
	// later.
	Deferred
	// Expired: the lease is over, or the handle was replaced by a newer one, or
	// the lite topic is gone. The message was not acknowledged by this handle;
	// if it still exists it is delivered again, with a new handle. Nothing is
	// lost, and asking again would not help.
	Expired
	// Malformed: the broker cannot read the handle. It is no handle, or one of
	// another cluster. Asking again would not help.
	Malformed
)

// String is the outcome's name in lower case.
func (o Outcome) String() string {
	switch o {
	case Failed:
		return "failed"
	case Acked:
		return "acked"
	case Deferred:
		return "deferred"
	case Expired:
		return "expired"
	case Malformed:
		return "malformed"
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}
