// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[OutgoingMessage](), EncodeOutgoingMessage, DecodeOutgoingMessage)
	beam.RegisterCoder(reflect.TypeFor[WriteResult](), EncodeWriteResult, DecodeWriteResult)
}

// writtenVersion is the version of both records below. New fields alone do not
// raise it.
const writtenVersion = 1

// The field numbers of an encoded OutgoingMessage, a protocol buffer message:
//
//	message OutgoingMessage {
//	  uint32 version = 1;  string topic = 2;  string tag = 3;  repeated bytes keys = 4;
//	  repeated Property properties = 5;       // bytes name = 1, bytes value = 2
//	  bytes body = 6;  bytes sharding_key = 7;  uint32 delay_level = 8;
//	  fixed64 deliver_at = 9;                 // nanoseconds since 1970
//	  bytes unique_key = 10;  Position source = 11;  bool copied = 12;
//	}
//	message Position { string topic = 1;  string broker = 2;  uint32 queue_id = 3;  int64 offset = 4; }
//
// Texts that are no UTF-8 pass through it: the sink refuses them with an error
// that names the message.
const (
	outVersion protowire.Number = iota + 1
	outTopic
	outTag
	outKeys
	outProperties
	outBody
	outShardingKey
	outDelayLevel
	outDeliverAt
	outUniqueKey
	outSource
	outCopied
)

// EncodeOutgoingMessage writes m for a shuffle. It fails if DeliverAt does not fit
// in nanoseconds since 1970.
func EncodeOutgoingMessage(m OutgoingMessage) ([]byte, error) {
	if !m.DeliverAt.IsZero() && (m.DeliverAt.Before(time.Unix(0, math.MinInt64)) || m.DeliverAt.After(time.Unix(0, math.MaxInt64))) {
		return nil, fmt.Errorf("OutgoingMessage.DeliverAt %v is out of range", m.DeliverAt)
	}
	b := make([]byte, 0, 64+len(m.Topic)+len(m.Body)+len(m.UniqueKey))
	b = appendNumber(b, outVersion, writtenVersion)
	b = appendString(b, outTopic, m.Topic)
	b = appendString(b, outTag, m.Tag)
	b = appendStrings(b, outKeys, m.Keys)
	names := make([]string, 0, len(m.Properties))
	for name := range m.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		property := appendString(appendString(nil, 1, name), 2, m.Properties[name])
		b = appendString(b, outProperties, string(property))
	}
	if len(m.Body) > 0 {
		b = protowire.AppendBytes(protowire.AppendTag(b, outBody, protowire.BytesType), m.Body)
	}
	b = appendString(b, outShardingKey, m.ShardingKey)
	b = appendNumber(b, outDelayLevel, uint64(m.DelayLevel))
	if !m.DeliverAt.IsZero() {
		b = protowire.AppendTag(b, outDeliverAt, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, uint64(m.DeliverAt.UnixNano()))
	}
	b = appendPosition(appendString(b, outUniqueKey, m.UniqueKey), outSource, m.Source)
	if m.copied {
		b = appendNumber(b, outCopied, 1)
	}
	return b, nil
}

// DecodeOutgoingMessage reads what [EncodeOutgoingMessage] wrote. Its error wraps
// [coders.ErrMalformed] or [coders.ErrVersion]. The body shares memory with data.
func DecodeOutgoingMessage(data []byte) (OutgoingMessage, error) {
	var m OutgoingMessage
	err := eachField("OutgoingMessage", data, outVersion, func(f wireField) error {
		switch f.number {
		case outTopic:
			m.Topic = f.text()
		case outTag:
			m.Tag = f.text()
		case outKeys:
			m.Keys = append(m.Keys, f.text())
		case outProperties:
			return m.addProperty(f.bytes)
		case outBody:
			m.Body = f.bytes[:len(f.bytes):len(f.bytes)]
		case outShardingKey:
			m.ShardingKey = f.text()
		case outDelayLevel:
			m.DelayLevel = int(int64(f.scalar))
		case outDeliverAt:
			m.DeliverAt = time.Unix(0, int64(f.scalar)).UTC()
		case outUniqueKey:
			m.UniqueKey = f.text()
		case outSource:
			return readPosition(f.bytes, &m.Source)
		case outCopied:
			m.copied = f.scalar != 0
		}
		return nil
	})
	if err != nil {
		return OutgoingMessage{}, err
	}
	return m, nil
}

func (m *OutgoingMessage) addProperty(data []byte) error {
	var name, value string
	err := eachField("OutgoingMessage.Properties", data, 0, func(f wireField) error {
		switch f.number {
		case 1:
			name = f.text()
		case 2:
			value = f.text()
		}
		return nil
	})
	if m.Properties == nil {
		m.Properties = make(map[string]string)
	}
	m.Properties[name] = value
	return err
}

// wireField is one field of a record.
type wireField struct {
	number protowire.Number
	scalar uint64
	bytes  []byte
}

func (f wireField) text() string { return string(f.bytes) }

// eachField walks through a record. With a field for the version, that must be
// there and be known.
func eachField(kind string, data []byte, version protowire.Number, visit func(wireField) error) error {
	malformed := func(n int) error {
		return fmt.Errorf("%s: %w: %v", kind, coders.ErrMalformed, protowire.ParseError(n))
	}
	seen := version == 0
	for rest := data; len(rest) > 0; {
		number, wire, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return malformed(n)
		}
		rest = rest[n:]
		f := wireField{number: number}
		switch wire {
		case protowire.VarintType:
			f.scalar, n = protowire.ConsumeVarint(rest)
		case protowire.Fixed64Type:
			f.scalar, n = protowire.ConsumeFixed64(rest)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(rest)
		default:
			n = protowire.ConsumeFieldValue(number, wire, rest)
		}
		if n < 0 {
			return malformed(n)
		}
		rest = rest[n:]
		if number == version {
			if f.scalar != writtenVersion {
				return fmt.Errorf("%s of version %d: %w", kind, f.scalar, coders.ErrVersion)
			}
			seen = true
			continue
		}
		if err := visit(f); err != nil {
			return err
		}
	}
	if !seen {
		return fmt.Errorf("%s: %w: it has no version", kind, coders.ErrMalformed)
	}
	return nil
}

func appendNumber(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func appendString(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

// appendStrings appends a repeated text; an empty one counts.
func appendStrings(b []byte, n protowire.Number, texts []string) []byte {
	for _, s := range texts {
		b = protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
	}
	return b
}
