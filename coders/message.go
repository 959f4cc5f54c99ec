// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// AckableMessage is one delivery of a message of a lite topic, together with
// the handle to acknowledge or defer it. The source never acknowledges; a
// message whose handle is dropped comes back when its lease ends.
type AckableMessage struct {
	// Body is the payload, decompressed. Nil and empty are told apart.
	Body []byte
	// Keys are the message's index keys.
	Keys []string
	// Tag is the message's tag, empty if it has none.
	Tag string
	// Properties are the user properties; an empty map is read back as nil.
	Properties map[string]string
	// BornTime is when the producer made the message, by the producer's clock.
	BornTime time.Time
	// StoreTime is when the broker stored it, by the broker's clock.
	StoreTime time.Time
	// BornHost is the producer's host as the producer gave it.
	BornHost string
	// QueueOffset is the message's position in its lite topic.
	QueueOffset int64
	// Handle acknowledges or defers this delivery.
	Handle ReceiptHandle
}

// LiteTopic is the lite topic that the message came from: the tenant, session
// or agent it belongs to.
func (m AckableMessage) LiteTopic() string { return m.Handle.LiteTopic }

// The field numbers of AckableMessage in record.proto.
const (
	messageHandle     protowire.Number = 2
	messageKeys       protowire.Number = 3
	messageTag        protowire.Number = 4
	messageProperties protowire.Number = 5
	messageBornTime   protowire.Number = 6
	messageStoreTime  protowire.Number = 7
	messageBornHost   protowire.Number = 8
	messageOffset     protowire.Number = 9
)

// EncodeAckableMessage writes m in the schema of record.proto. It fails if a
// string is not UTF-8. A time before 1677 or after 2262, which does
// not fit in nanoseconds since 1970, becomes the nearest that does.
func EncodeAckableMessage(m AckableMessage) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, m.size())
	buf = appendVersion(buf)
	buf, at := openNested(buf, messageHandle)
	buf = closeNested(m.Handle.appendFields(buf), at)
	buf = appendTexts(buf, messageKeys, m.Keys)
	buf = appendText(buf, messageTag, m.Tag)
	buf = appendProperties(buf, messageProperties, m.Properties)
	buf = appendInstant(buf, messageBornTime, m.BornTime)
	buf = appendInstant(buf, messageStoreTime, m.StoreTime)
	buf = appendText(buf, messageBornHost, m.BornHost)
	buf = appendInt(buf, messageOffset, m.QueueOffset)
	buf = appendBody(buf, m.Body)
	return appendEnd(buf), nil
}

// DecodeAckableMessage reads what [EncodeAckableMessage] wrote. The message's
// Body shares memory with data, which therefore must not be changed
// afterwards. Its error wraps [ErrMalformed] or [ErrVersion].
func DecodeAckableMessage(data []byte) (AckableMessage, error) {
	var m AckableMessage
	if err := decodeRecord("AckableMessage", data, textBeforeBody(data), m.setField); err != nil {
		return AckableMessage{}, err
	}
	return m, nil
}

func (m *AckableMessage) check() error {
	if err := m.Handle.check(); err != nil {
		return err
	}
	if err := checkTexts("AckableMessage", m.Keys, m.Properties); err != nil {
		return err
	}
	if err := checkText("AckableMessage.Tag", m.Tag); err != nil {
		return err
	}
	return checkText("AckableMessage.BornHost", m.BornHost)
}

// size is an upper bound of the encoded size.
func (m *AckableMessage) size() int {
	const perField, fields = 6, 10
	n := perField*fields + 4*8 + m.Handle.size() + len(m.Tag) + len(m.BornHost) + len(m.Body)
	return n + sizeOfTexts(m.Keys, m.Properties)
}

func (m *AckableMessage) setField(f field) (err error) {
	switch f.number {
	case messageHandle:
		return f.nested("ReceiptHandle", m.Handle.setField)
	case messageKeys:
		m.Keys, err = f.appendText(m.Keys)
	case messageTag:
		m.Tag, err = f.asText()
	case messageProperties:
		m.Properties, err = f.addProperty(m.Properties)
	case messageBornTime:
		m.BornTime, err = f.asInstant()
	case messageStoreTime:
		m.StoreTime, err = f.asInstant()
	case messageBornHost:
		m.BornHost, err = f.asText()
	case messageOffset:
		m.QueueOffset, err = f.asInt()
	case recordBody:
		m.Body, err = f.asBytes()
	}
	return err
}

// Equal says whether the two hold the same message and delivery. Times are
// compared as instants.
func (m AckableMessage) Equal(o AckableMessage) bool {
	return maps.Equal(m.Properties, o.Properties) && bytes.Equal(m.Body, o.Body) && (m.Body == nil) == (o.Body == nil) &&
		slices.Equal(m.Keys, o.Keys) && m.Tag == o.Tag && m.BornTime.Equal(o.BornTime) &&
		m.StoreTime.Equal(o.StoreTime) && m.BornHost == o.BornHost && m.QueueOffset == o.QueueOffset &&
		m.Handle.Equal(o.Handle)
}

// Equal says whether the two are the handle of the same delivery.
func (h ReceiptHandle) Equal(o ReceiptHandle) bool {
	same := h.InvisibleUntil.Equal(o.InvisibleUntil)
	h.InvisibleUntil, o.InvisibleUntil = time.Time{}, time.Time{}
	return same && h == o
}
