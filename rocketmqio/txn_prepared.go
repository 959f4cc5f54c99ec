// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"reflect"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// emitPrepared is a type of its own, as emitWriteResult is.
type emitPrepared func(prepared)

func init() {
	beam.RegisterCoder(reflect.TypeFor[prepared](), encodePrepared, decodePrepared)
	placed.Register[prepared, emitPrepared](func(p *prepared) *placed.Place {
		place := p.place
		p.place = nil
		return place
	})
}

// prepared is the handle of a half message: all that any process needs to commit
// it. It holds no keys of the user's account, and not the message.
type prepared struct {
	half     remoting.Half
	keys     []string
	queue    int32     // where the message will be
	born     time.Time // from when on the timeout counts, in milliseconds
	attempts int32
	repeated bool // it was sent more than once: there may be halves that nobody commits
	source   *Position
	until    time.Time // until then a callback may commit it, in milliseconds; zero for none
	origin   string    // the process whose callback that is

	callback bool          // a callback commits it; on the way to the sink only
	place    *placed.Place // on the way between a DoFn and its emitter or sink only
}

func (p prepared) equal(o prepared) bool {
	return p.half == o.half && slices.Equal(p.keys, o.keys) && p.queue == o.queue && p.born.Equal(o.born) &&
		p.attempts == o.attempts && p.repeated == o.repeated && p.until.Equal(o.until) && p.origin == o.origin && samePosition(p.source, o.source)
}

// The field numbers of an encoded handle, a protocol buffer message:
//
//	message Prepared {
//	  uint32 version = 1;  string topic = 2;  bytes unique_key = 3;  repeated bytes keys = 4;
//	  string group = 5;  string broker = 6;  int64 queue_offset = 7;  int64 physical_offset = 8;
//	  uint32 queue_id = 9;  int64 born = 10;  // milliseconds since 1970
//	  uint32 attempts = 11;  bool repeated = 12;  Position source = 13;
//	  int64 until = 14;  // likewise, 0 for none
//	  string origin = 15;
//	}
const (
	preparedVersion protowire.Number = iota + 1
	preparedTopic
	preparedUniqueKey
	preparedKeys
	preparedGroup
	preparedBroker
	preparedQueueOffset
	preparedPhysicalOffset
	preparedQueueID
	preparedBorn
	preparedAttempts
	preparedRepeated
	preparedSource
	preparedUntil
	preparedOrigin
)

func encodePrepared(p prepared) []byte {
	b := appendNumber(nil, preparedVersion, writtenVersion)
	b = appendString(b, preparedTopic, p.half.Topic)
	b = appendString(b, preparedUniqueKey, p.half.UniqueKey)
	b = appendStrings(b, preparedKeys, p.keys)
	b = appendString(b, preparedGroup, p.half.Group)
	b = appendString(b, preparedBroker, p.half.Broker)
	b = appendNumber(b, preparedQueueOffset, uint64(p.half.QueueOffset))
	b = appendNumber(b, preparedPhysicalOffset, uint64(p.half.PhysicalOffset))
	b = appendNumber(b, preparedQueueID, uint64(p.queue))
	b = appendNumber(b, preparedBorn, uint64(p.born.UnixMilli()))
	b = appendNumber(b, preparedAttempts, uint64(p.attempts))
	if p.repeated {
		b = appendNumber(b, preparedRepeated, 1)
	}
	b = appendPosition(b, preparedSource, p.source)
	if !p.until.IsZero() {
		b = appendNumber(b, preparedUntil, uint64(p.until.UnixMilli()))
	}
	return appendString(b, preparedOrigin, p.origin)
}

// decodePrepared reads what encodePrepared wrote. Its error wraps
// coders.ErrMalformed or coders.ErrVersion.
func decodePrepared(data []byte) (prepared, error) {
	p := prepared{born: time.UnixMilli(0)}
	if err := eachField("Prepared", data, preparedVersion, p.setField); err != nil {
		return prepared{}, err
	}
	return p, nil
}

func (p *prepared) setField(f wireField) error {
	switch f.number {
	case preparedTopic:
		p.half.Topic = f.text()
	case preparedUniqueKey:
		p.half.UniqueKey = f.text()
	case preparedKeys:
		p.keys = append(p.keys, f.text())
	case preparedGroup:
		p.half.Group = f.text()
	case preparedBroker:
		p.half.Broker = f.text()
	case preparedQueueOffset:
		p.half.QueueOffset = int64(f.scalar)
	case preparedPhysicalOffset:
		p.half.PhysicalOffset = int64(f.scalar)
	case preparedQueueID:
		p.queue = int32(f.scalar)
	case preparedBorn:
		p.born = time.UnixMilli(int64(f.scalar))
	case preparedAttempts:
		p.attempts = int32(f.scalar)
	case preparedRepeated:
		p.repeated = f.scalar != 0
	case preparedUntil:
		if f.scalar != 0 {
			p.until = time.UnixMilli(int64(f.scalar))
		}
	case preparedOrigin:
		p.origin = f.text()
	case preparedSource:
		return readPosition(f.bytes, &p.source)
	}
	return nil
}
