// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"bytes"
	"fmt"
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
	messageBody       protowire.Number = 14
)

// EncodeAckableMessage writes m in the schema of record.proto. It fails if a
// string is not UTF-8 or a time does not fit in nanoseconds since 1970 (years
// 1678 to 2262).
func EncodeAckableMessage(m AckableMessage) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, m.size())
	buf = appendVersion(buf)
	buf, at := openNested(buf, messageHandle)
	buf = closeNested(m.Handle.appendFields(buf), at)
	for _, k := range m.Keys {
		buf = protowire.AppendTag(buf, messageKeys, protowire.BytesType)
		buf = protowire.AppendString(buf, k) // an empty key is a key
	}
	buf = appendText(buf, messageTag, m.Tag)
	buf = m.appendProperties(buf)
	buf = appendInstant(buf, messageBornTime, m.BornTime)
	buf = appendInstant(buf, messageStoreTime, m.StoreTime)
	buf = appendText(buf, messageBornHost, m.BornHost)
	buf = appendInt(buf, messageOffset, m.QueueOffset)
	if m.Body != nil {
		buf = protowire.AppendTag(buf, messageBody, protowire.BytesType)
		buf = protowire.AppendBytes(buf, m.Body)
	}
	return appendEnd(buf), nil
}

// DecodeAckableMessage reads what [EncodeAckableMessage] wrote. The message's
// Body shares memory with data, which therefore must not be changed
// afterwards. Its error wraps [ErrMalformed] or [ErrVersion].
func DecodeAckableMessage(data []byte) (AckableMessage, error) {
	m := AckableMessage{}
	var env envelope
	d := decoder{kind: "AckableMessage", data: data, text: textBeforeBody(data)}
	err := d.fields(func(f field) error {
		if handled, err := env.take(d.kind, f); handled || err != nil {
			return err
		}
		return m.setField(f)
	})
	if err == nil {
		err = env.check(d.kind)
	}
	if err != nil {
		return AckableMessage{}, err
	}
	return m, nil
}

func (m *AckableMessage) check() error {
	if err := m.Handle.check(); err != nil {
		return err
	}
	for _, k := range m.Keys {
		if err := checkText("AckableMessage.Keys", k); err != nil {
			return err
		}
	}
	for k, v := range m.Properties {
		if err := checkText("AckableMessage.Properties key", k); err != nil {
			return err
		}
		if err := checkText("AckableMessage.Properties value", v); err != nil {
			return fmt.Errorf("%w in property %q", err, k)
		}
	}
	if err := checkText("AckableMessage.Tag", m.Tag); err != nil {
		return err
	}
	if err := checkText("AckableMessage.BornHost", m.BornHost); err != nil {
		return err
	}
	if err := checkInstant("AckableMessage.BornTime", m.BornTime); err != nil {
		return err
	}
	return checkInstant("AckableMessage.StoreTime", m.StoreTime)
}

// size is an upper bound of the encoded size.
func (m *AckableMessage) size() int {
	const perField, fields = 6, 10
	n := perField*fields + 4*8 + m.Handle.size() + len(m.Tag) + len(m.BornHost) + len(m.Body)
	for _, k := range m.Keys {
		n += perField + len(k)
	}
	for k, v := range m.Properties {
		n += 3*perField + len(k) + len(v)
	}
	return n
}

func (m *AckableMessage) appendProperties(buf []byte) []byte {
	if len(m.Properties) == 0 {
		return buf
	}
	var few [8]string // keeps the usual case off the heap
	names := few[:0]
	for k := range m.Properties {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		var at int
		buf, at = openNested(buf, messageProperties)
		buf = appendText(buf, 1, k)
		buf = appendText(buf, 2, m.Properties[k])
		buf = closeNested(buf, at)
	}
	return buf
}

func (m *AckableMessage) setField(f field) (err error) {
	switch f.number {
	case messageHandle:
		return f.nested("ReceiptHandle", m.Handle.setField)
	case messageKeys:
		var key string
		if key, err = f.asText(); err == nil {
			m.Keys = append(m.Keys, key)
		}
	case messageTag:
		m.Tag, err = f.asText()
	case messageProperties:
		err = m.setProperty(f)
	case messageBornTime:
		m.BornTime, err = f.asInstant()
	case messageStoreTime:
		m.StoreTime, err = f.asInstant()
	case messageBornHost:
		m.BornHost, err = f.asText()
	case messageOffset:
		m.QueueOffset, err = f.asInt()
	case messageBody:
		m.Body, err = f.asBytes()
	}
	return err
}

func (m *AckableMessage) setProperty(f field) error {
	var name, value string
	err := f.nested("property", func(f field) (err error) {
		switch f.number {
		case 1:
			name, err = f.asText()
		case 2:
			value, err = f.asText()
		}
		return err
	})
	if err != nil {
		return err
	}
	if m.Properties == nil {
		m.Properties = make(map[string]string)
	}
	m.Properties[name] = value
	return nil
}

// textBeforeBody copies what stands before the body into one string, of which
// all text fields become parts: one allocation instead of one a field, and the
// body is not copied.
func textBeforeBody(data []byte) string {
	rest := data
	for len(rest) > 0 {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 || number == messageBody {
			break
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if size < 0 {
			break
		}
		rest = rest[n+size:]
	}
	return string(data[:len(data)-len(rest)])
}

// Equal says whether the two hold the same message and delivery. Times are
// compared as instants.
func (m AckableMessage) Equal(o AckableMessage) bool {
	sameProperties := len(m.Properties) == len(o.Properties)
	for k, v := range m.Properties {
		w, ok := o.Properties[k]
		sameProperties = sameProperties && ok && v == w
	}
	return sameProperties && bytes.Equal(m.Body, o.Body) && (m.Body == nil) == (o.Body == nil) &&
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
