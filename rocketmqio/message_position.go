// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() { beam.RegisterCoder(reflect.TypeFor[Position](), encodePosition, decodePosition) }

// Position is where a message stands.
type Position struct {
	Queue
	// Offset counts the messages of the queue.
	Offset int64
}

// PositionOf is where m was read.
func PositionOf(m coders.Message) Position {
	return Position{Queue{Topic: m.Topic, Broker: m.Broker, ID: int(m.QueueID)}, m.QueueOffset}
}

// String is topic/broker/id and the offset.
func (p Position) String() string { return fmt.Sprintf("%s at offset %d", p.Queue, p.Offset) }

func samePosition(a, b *Position) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// The field numbers of an encoded Position, see write_coder.go.
const (
	positionTopic protowire.Number = iota + 1
	positionBroker
	positionQueue
	positionOffset
)

func encodePosition(p Position) ([]byte, error) {
	b := appendString(make([]byte, 0, 16+len(p.Topic)+len(p.Broker)), positionTopic, p.Topic)
	b = appendString(b, positionBroker, p.Broker)
	b = appendNumber(b, positionQueue, uint64(p.ID))
	return appendNumber(b, positionOffset, uint64(p.Offset)), nil
}

func decodePosition(data []byte) (p Position, err error) {
	err = eachField("Position", data, 0, func(f wireField) error {
		switch f.number {
		case positionTopic:
			p.Topic = f.text()
		case positionBroker:
			p.Broker = f.text()
		case positionQueue:
			p.ID = int(f.scalar)
		case positionOffset:
			p.Offset = int64(f.scalar)
		}
		return nil
	})
	return p, err
}

func appendPosition(b []byte, n protowire.Number, p *Position) []byte {
	if p == nil {
		return b
	}
	inner, _ := encodePosition(*p)
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), inner)
}

func readPosition(data []byte, into **Position) error {
	p, err := decodePosition(data)
	*into = &p
	return err
}
