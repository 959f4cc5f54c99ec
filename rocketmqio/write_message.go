// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// OutgoingMessage is a message to be written. Only the body is needed, and the
// topic where [WriteTopic] does not give one.
type OutgoingMessage struct {
	// Topic is where it goes, without namespace. Empty: the topic of [WriteTopic].
	Topic string
	// Tag is what consumers select by, one for each message. Empty: the tag of
	// [WriteTag], if there is one.
	Tag string
	// Keys are what the message can be found by. None may contain white space.
	Keys []string
	// Properties are the user's own. Names that RocketMQ uses itself are refused;
	// a property without value is left out.
	Properties map[string]string
	// Body is the payload, 1 byte or more.
	Body []byte
	// ShardingKey puts all messages with the same key into one queue, in the order
	// in which one bundle writes them.
	ShardingKey string
	// DelayLevel delays the delivery: 1 to 18 stand for 1 s to 2 h, unless the
	// broker has been told otherwise. Zero: no delay.
	DelayLevel int
	// DeliverAt delays the delivery up to an instant, three days ahead at most
	// unless the broker allows more. Brokers before 5.0 do not know it and deliver
	// at once. Zero: no delay. One that is past means at once.
	DeliverAt time.Time
	// UniqueKey is the message's id, the same for each copy that a repetition may
	// make of it, so that consumers can recognise them. Empty: one is made, which
	// is the same for repetitions of a request, but another when the runner
	// repeats a bundle. A function of the element is the same always.
	UniqueKey string
	// Source is where a message that was read stood, nil for any other. It is not
	// sent; the [WriteResult] has it again, for [Commit].
	Source *Position

	copied bool // made by Outgoing: what a broker has stored is not judged anew
}

// Outgoing is the message to write in order to pass m on to another topic: its
// tag, keys, body, unique key, the user's own properties and, as Source, where it
// stood. What RocketMQ itself had noted at m is left out, and the topic is empty. Its
// tag and keys are written as they are, also where a new message with such would be
// refused, for no consumer could select or find it.
func Outgoing(m coders.Message) OutgoingMessage {
	source := PositionOf(m)
	out := OutgoingMessage{Tag: m.Tag, Keys: m.Keys, Body: m.Body, UniqueKey: m.UniqueKey, Source: &source, copied: true}
	for name, value := range m.Properties {
		if reservedProperties[name] {
			continue
		}
		if out.Properties == nil {
			out.Properties = make(map[string]string, len(m.Properties))
		}
		out.Properties[name] = value
	}
	return out
}

// Equal says whether the two are the same. Nil and empty collections are, too;
// times are compared as instants.
func (m OutgoingMessage) Equal(o OutgoingMessage) bool {
	return m.Topic == o.Topic && m.Tag == o.Tag && slices.Equal(m.Keys, o.Keys) && maps.Equal(m.Properties, o.Properties) &&
		bytes.Equal(m.Body, o.Body) && m.ShardingKey == o.ShardingKey && m.DelayLevel == o.DelayLevel &&
		m.DeliverAt.Equal(o.DeliverAt) && m.UniqueKey == o.UniqueKey && samePosition(m.Source, o.Source)
}
