// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ackfn acknowledges messages of lite topics after the work on them,
// wherever in the pipeline and on whichever worker that is done.
//
//	done := beam.ParDo(s, work, msgs)   // func(context.Context, coders.AckableMessage) (coders.AckableMessage, error)
//	results := ackfn.Ack(s, done, ackfn.Credentials("env"))
//
// [Ack] is the transform; [Client] is for a DoFn that wants to acknowledge or to
// defer by itself. Both need only the [coders.ReceiptHandle] that came with the
// message, and credentials of their own.
//
// # At least once
//
// A message is acknowledged when the broker has answered so, and a bundle ends
// only then. Until the acknowledgement, and whenever it does not get through,
// the message comes again when its lease ends: the work on it must bear being
// repeated. Acknowledge after the work, and after a shuffle if the work is
// before one: what is acknowledged is not delivered again.
//
// Each delivery has a handle of its own. Acknowledge the message that just came,
// never with a handle kept from an earlier delivery of the same message: to such
// a one RocketMQ 5.5 answers OK, as long as its own time is not over, and does
// nothing.
//
// RocketMQ delivers a lite topic in order, as one batch of what waits in it, and
// goes on from the first message that is not acknowledged. So what was
// acknowledged behind a message that was not is delivered once more with it.
//
// # What the answers of the broker lead to
//
// The status of each entry counts, not that of the whole answer.
//
//	OK                                    outcome acked, or deferred
//	INVALID_RECEIPT_HANDLE                outcome expired: the lease is over; never retried
//	MESSAGE_NOT_FOUND                     outcome expired
//	INTERNAL_SERVER_ERROR                 retried, but for these texts:
//	  "... status is abnormal"            outcome expired: the broker refused the handle, for
//	                                      instance because the lite topic was deleted
//	  "Parse failed ..."                  outcome malformed; never retried
//	TOO_MANY_REQUESTS, FORBIDDEN          retried after a pause, within FlowControlBudget
//	  with "too many unacked",
//	  LITE_TOPIC_QUOTA_EXCEEDED,
//	  LITE_SUBSCRIPTION_QUOTA_EXCEEDED,
//	  gRPC RESOURCE_EXHAUSTED
//	BAD_REQUEST, ILLEGAL_ACCESS_POINT,    fails the bundle at once, with an error that names
//	  ILLEGAL_TOPIC,                      topic, group and message and says what to check
//	  ILLEGAL_CONSUMER_GROUP,
//	  ILLEGAL_MESSAGE_TAG,
//	  ILLEGAL_MESSAGE_KEY,
//	  ILLEGAL_MESSAGE_GROUP,
//	  ILLEGAL_MESSAGE_PROPERTY_KEY,
//	  ILLEGAL_MESSAGE_ID,
//	  ILLEGAL_FILTER_EXPRESSION,
//	  ILLEGAL_INVISIBLE_TIME,
//	  ILLEGAL_DELIVERY_TIME,
//	  ILLEGAL_LITE_TOPIC,
//	  MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
//	  CLIENT_ID_REQUIRED, UNAUTHORIZED,
//	  PAYMENT_REQUIRED, FORBIDDEN,
//	  NOT_FOUND,
//	  PAYLOAD_TOO_LARGE,
//	  MESSAGE_BODY_TOO_LARGE,
//	  MESSAGE_BODY_EMPTY,
//	  PRECONDITION_FAILED,
//	  REQUEST_HEADER_FIELDS_TOO_LARGE,
//	  MESSAGE_PROPERTIES_TOO_LARGE,
//	  NOT_IMPLEMENTED, UNSUPPORTED,
//	  VERSION_UNSUPPORTED,
//	  gRPC UNAUTHENTICATED,
//	  PERMISSION_DENIED, UNIMPLEMENTED,
//	  INVALID_ARGUMENT
//	a field of the handle is missing      fails the bundle at once, without a request
//	all other codes, no answer, no        retried, within MaxAttempts; then fails the bundle
//	  connection, a session that the
//	  proxy forgot, TOPIC_NOT_FOUND and
//	  CONSUMER_GROUP_NOT_FOUND while the
//	  only broker restarts
//
// # Metrics
//
// All in the namespace rocketmq.ackfn:
//
//	acked, deferred       what the broker took
//	expired, malformed    outcomes that are no failures
//	failed                handles that failed a bundle
//	retried               requests repeated
//	throttled_ms          time spent waiting because of flow control
//	ack_latency_ms        from the first request of a batch until each of its
//	                      handles had its outcome
//	defer_latency_ms      the same for a deferral
//	batch_size            handles a request
package ackfn
