// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message is a message of a normal topic, as read over the remoting protocol.
// Topic, Broker, QueueID and QueueOffset say where it stands; reading there
// again gives the same message.
type Message struct {
	// Topic is the topic, without namespace.
	Topic string
	// Broker is the name of the broker whose queue it is.
	Broker string
	// QueueID is the queue's number at that broker.
	QueueID int32
	// QueueOffset is the position in the queue.
	QueueOffset int64
	// MessageID is the broker's id, made of its address and the position in its
	// commit log: another copy of the message has another one.
	MessageID string
	// UniqueKey is the producer's id of the message, the same for all its copies;
	// empty if the producer gave none.
	UniqueKey string
	// Keys are the message's index keys.
	Keys []string
	// Tag is the message's tag, empty if it has none.
	Tag string
	// Properties are all properties but those that the fields above hold; an
	// empty map is read back as nil.
	Properties map[string]string
	// Body is the payload, decompressed. Nil and empty are told apart.
	Body []byte
	// BornTime is when the producer made the message, by the producer's clock.
	BornTime time.Time
	// StoreTime is when the broker stored it, by the broker's clock.
	StoreTime time.Time
	// BornHost is the producer's address, host:port.
	BornHost string
	// ReconsumeTimes counts how often a consumer had sent the message back.
	ReconsumeTimes int32
}

// The field numbers of Message in record.proto.
const (
	queueTopic          protowire.Number = 2
	queueBroker         protowire.Number = 3
	queueID             protowire.Number = 4
	queueOffset         protowire.Number = 5
	queueMessageID      protowire.Number = 6
	queueUniqueKey      protowire.Number = 7
	queueKeys           protowire.Number = 8
	queueTag            protowire.Number = 9
	queueProperties     protowire.Number = 10
	queueBornTime       protowire.Number = 11
	queueStoreTime      protowire.Number = 12
	queueBornHost       protowire.Number = 13
	queueReconsumeTimes protowire.Number = 16
)

// EncodeMessage writes m in the schema of record.proto. It fails if a string is
// not UTF-8. A time before 1677 or after 2262, which does
// not fit in nanoseconds since 1970, becomes the nearest that does.
func EncodeMessage(m Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, m.size())
	buf = appendVersion(buf)
	buf = appendText(buf, queueTopic, m.Topic)
	buf = appendText(buf, queueBroker, m.Broker)
	buf = appendInt(buf, queueID, int64(m.QueueID))
	buf = appendInt(buf, queueOffset, m.QueueOffset)
	buf = appendText(buf, queueMessageID, m.MessageID)
	buf = appendText(buf, queueUniqueKey, m.UniqueKey)
	buf = appendTexts(buf, queueKeys, m.Keys)
	buf = appendText(buf, queueTag, m.Tag)
	buf = appendProperties(buf, queueProperties, m.Properties)
	buf = appendInstant(buf, queueBornTime, m.BornTime)
	buf = appendInstant(buf, queueStoreTime, m.StoreTime)
	buf = appendText(buf, queueBornHost, m.BornHost)
	buf = appendBody(buf, m.Body)
	buf = appendInt(buf, queueReconsumeTimes, int64(m.ReconsumeTimes))
	return appendEnd(buf), nil
}

// DecodeMessage reads what [EncodeMessage] wrote. The message's Body shares
// memory with data, which therefore must not be changed afterwards. Its error
// wraps [ErrMalformed] or [ErrVersion].
func DecodeMessage(data []byte) (Message, error) {
	var m Message
	if err := decodeRecord("Message", data, textBeforeBody(data), m.setField); err != nil {
		return Message{}, err
	}
	return m, nil
}

func (m *Message) check() error {
	for _, s := range [...]struct{ name, value string }{
		{"Message.Topic", m.Topic}, {"Message.Broker", m.Broker}, {"Message.MessageID", m.MessageID},
		{"Message.UniqueKey", m.UniqueKey}, {"Message.Tag", m.Tag}, {"Message.BornHost", m.BornHost},
	} {
		if err := checkText(s.name, s.value); err != nil {
			return err
		}
	}
	return checkTexts("Message", m.Keys, m.Properties)
}

// size is an upper bound of the encoded size.
func (m *Message) size() int {
	const perField, fields, numbers = 6, 16, 3*10 + 2*8
	return perField*fields + numbers + len(m.Topic) + len(m.Broker) + len(m.MessageID) + len(m.UniqueKey) +
		len(m.Tag) + len(m.BornHost) + len(m.Body) + sizeOfTexts(m.Keys, m.Properties)
}

func (m *Message) setField(f field) (err error) {
	switch f.number {
	case queueTopic:
		m.Topic, err = f.asText()
	case queueBroker:
		m.Broker, err = f.asText()
	case queueID:
		m.QueueID, err = f.asInt32()
	case queueOffset:
		m.QueueOffset, err = f.asInt()
	case queueMessageID:
		m.MessageID, err = f.asText()
	case queueUniqueKey:
		m.UniqueKey, err = f.asText()
	case queueKeys:
		m.Keys, err = f.appendText(m.Keys)
	case queueTag:
		m.Tag, err = f.asText()
	case queueProperties:
		m.Properties, err = f.addProperty(m.Properties)
	case queueBornTime:
		m.BornTime, err = f.asInstant()
	case queueStoreTime:
		m.StoreTime, err = f.asInstant()
	case queueBornHost:
		m.BornHost, err = f.asText()
	case recordBody:
		m.Body, err = f.asBytes()
	case queueReconsumeTimes:
		m.ReconsumeTimes, err = f.asInt32()
	}
	return err
}

// String shows where m stands.
func (m Message) String() string {
	return fmt.Sprintf("message at offset %d of queue %d of topic %s at broker %s", m.QueueOffset, m.QueueID, m.Topic, m.Broker)
}

// Equal says whether the two are the same message at the same place. Times are
// compared as instants.
func (m Message) Equal(o Message) bool {
	return m.Topic == o.Topic && m.Broker == o.Broker && m.QueueID == o.QueueID && m.QueueOffset == o.QueueOffset &&
		m.MessageID == o.MessageID && m.UniqueKey == o.UniqueKey && slices.Equal(m.Keys, o.Keys) && m.Tag == o.Tag &&
		maps.Equal(m.Properties, o.Properties) && bytes.Equal(m.Body, o.Body) && (m.Body == nil) == (o.Body == nil) &&
		m.BornTime.Equal(o.BornTime) && m.StoreTime.Equal(o.StoreTime) && m.BornHost == o.BornHost &&
		m.ReconsumeTimes == o.ReconsumeTimes
}
