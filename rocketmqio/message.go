// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// recorder makes records. Messages that come after each other mostly are of the
// same producer, whose address it writes once; their ids and keys share memory, a
// few dozen at a time. It is for one goroutine.
type recorder struct {
	host   netip.AddrPort
	asText string
	ids    strings.Builder
	keys   []string
}

// together is how many ids or keys share memory.
const together = 32

// offsetID is the id of the stored message.
func (c *recorder) offsetID(m *remoting.Message) string {
	var room [56]byte
	id := remoting.AppendOffsetID(room[:0], m.StoreHost, m.PhysicalOffset)
	if c.ids.Cap()-c.ids.Len() < len(id) {
		c.ids.Reset()
		c.ids.Grow(together * len(id))
	}
	from := c.ids.Len()
	c.ids.Write(id)
	return c.ids.String()[from:]
}

// keysOf cuts the property as brokers do. Most messages have one key.
func (c *recorder) keysOf(value string) []string {
	if strings.Contains(value, remoting.KeySeparator) {
		return remoting.SplitKeys(value)
	}
	if len(c.keys) == cap(c.keys) {
		c.keys = make([]string, 0, together)
	}
	n := len(c.keys)
	c.keys = append(c.keys, value)
	return c.keys[n : n+1 : n+1]
}

// record makes the record of a message. The body is shared with the pull's
// answer, which nobody else keeps.
func (c *recorder) record(m *remoting.Message) coders.Message {
	if m.BornHost != c.host || c.asText == "" {
		c.host, c.asText = m.BornHost, m.BornHost.String()
	}
	out := coders.Message{
		Topic: m.Topic, Broker: m.Broker, QueueID: int32(m.QueueID), QueueOffset: m.QueueOffset, MessageID: c.offsetID(m),
		Body: m.Body, BornTime: m.Born, StoreTime: m.Stored, BornHost: c.asText, ReconsumeTimes: int32(m.ReconsumeTimes),
	}
	properties := m.Properties
	if !utf8.ValidString(string(properties)) { // a producer wrote other bytes: read as a Java client reads them
		properties = remoting.Properties(strings.ToValidUTF8(string(properties), "\uFFFD"))
	}
	for name, value := range properties.All() {
		switch name {
		case remoting.PropertyKeys:
			out.Keys = c.keysOf(value)
		case remoting.PropertyTags:
			out.Tag = value
		case remoting.PropertyUniqueKey:
			out.UniqueKey = value
		default:
			if out.Properties == nil {
				out.Properties = make(map[string]string)
			}
			out.Properties[name] = value
		}
	}
	return out
}

// eventTime is the instant that the configuration wants.
func (c *readConfig) eventTime(m *remoting.Message, now time.Time) time.Time {
	switch c.TimeSource {
	case BornTime:
		return m.Born
	case ArrivalTime:
		return now
	default:
		return m.Stored
	}
}
