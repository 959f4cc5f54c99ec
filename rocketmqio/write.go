// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/stageoutput"
)

// Write writes messages to topics and returns a PCollection<WriteResult> with one
// result for each, in the window and at the time of its element.
//
// nameServers is host:port[;host:port] of the name servers. col holds
// [OutgoingMessage], or [coders.Message] as [Read] emits them, which are written
// as [Outgoing] makes them: those need [WriteTopic].
//
// With [AtLeastOnce], the default, a bundle ends when the broker has stored each
// of its messages. If one cannot be stored, those that wait are not sent any more
// and the bundle fails with a [*WriteError], which names the message and says what
// became of the others. Nothing is dropped silently.
//
// # Order
//
// Messages with the same [OutgoingMessage.ShardingKey] go to one queue, in the
// order in which a bundle writes them; what has to be sent again goes before what
// came later. Without one, messages have no order.
//
// # Repetitions
//
// A request without answer is sent again and may then be stored twice, with the
// same UniqueKey; the metric retried_uncertain counts such repetitions, and the
// result has Repeated set. So may what a failed bundle had written, when the
// runner repeats it.
//
// # What answers lead to
//
//	stored, SEND_OK                          written
//	stored, any other status                 as WriteUnsafe says
//	SYSTEM_BUSY, FLOW_CONTROL, POLLING_FULL, sent again after a pause, within WritePatience;
//	  texts with "flow control"              congestion control allows less in flight
//	no connection, no route, no queue to     sent again, to another broker if there is one,
//	  write to, SERVICE_NOT_AVAILABLE,       within WritePatience; a topic that was never
//	  "in-sync replicas not enough",         known fails after 10 s
//	  "create mapped file failed"
//	no answer in time, a broken connection,  sent again, WriteRetries times; may be stored
//	  any other SYSTEM_ERROR,                twice then
//	  INVALID_PARAMETER
//	MESSAGE_ILLEGAL, or too large a batch    sent again one by one; the one that is refused
//	                                         then has failed
//	anything else, such as NO_PERMISSION     failed at once
//
// A topic of type LITE is refused: the broker would store the message (RocketMQ
// 5.5.0 answers SEND_OK), and no consumer of its lite topics would get it.
//
// # Metrics
//
// All in the namespace rocketmq.rocketmqio.write:
//
//	sent, failed           messages by their outcome
//	stored_unsafely        messages sent with a status other than SEND_OK
//	retried                messages sent again, each time
//	retried_uncertain      those of them that may have been stored before
//	flow_controlled        messages that the broker sent back to be sent more slowly
//	timed_out              messages whose request had no answer in time
//	requests, batch_size, request_latency_ms
//	throttled_ms           time in which congestion control held messages back
//	in_flight, queued, in_flight_limit       at the end of the last bundle
//
// Write panics if an argument or option is wrong, with a text that names it.
func Write(s beam.Scope, nameServers string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	s = s.Scope("rocketmqio.Write")
	cfg, err := newWriteConfig(nameServers, opts)
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.Write: %v", err))
	}
	if !col.IsValid() {
		panic("rocketmqio.Write: the input is no PCollection of this pipeline")
	}
	cfg.SinkID = uuid.NewString()
	if cfg.Guarantee == ExactlyOnce {
		return writeExactlyOnce(s, cfg, col)
	}
	switch col.Type().Type() {
	case reflect.TypeFor[OutgoingMessage]():
		return stageoutput.Add(s, beam.ParDo(s, &writeFn{bundleWriter{Config: cfg}}, col))
	case reflect.TypeFor[coders.Message]():
		if cfg.Topic == "" {
			panic("rocketmqio.Write: messages that were read name no topic to be written to: give one with WriteTopic")
		}
		return stageoutput.Add(s, beam.ParDo(s, &writeReadFn{bundleWriter{Config: cfg}}, col))
	}
	panic(fmt.Sprintf("rocketmqio.Write: the input is of type %v: want rocketmqio.OutgoingMessage or coders.Message", col.Type()))
}
