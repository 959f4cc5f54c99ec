// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"net/netip"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// recorder makes records. Messages that come after each other mostly are of the
// same producer, whose address it writes once. It is for one goroutine.
type recorder struct {
	host   netip.AddrPort
	asText string
}

// record makes the record of a message. The body is shared with the pull's
// answer, which nobody else keeps.
func (c *recorder) record(m *remoting.Message) coders.Message {
	if m.BornHost != c.host || c.asText == "" {
		c.host, c.asText = m.BornHost, m.BornHost.String()
	}
	out := coders.Message{
		Topic: m.Topic, Broker: m.Broker, QueueID: int32(m.QueueID), QueueOffset: m.QueueOffset, MessageID: m.OffsetID(),
		Body: m.Body, BornTime: m.Born, StoreTime: m.Stored, BornHost: c.asText, ReconsumeTimes: int32(m.ReconsumeTimes),
	}
	for name, value := range m.Properties.All() {
		switch name {
		case remoting.PropertyKeys:
			out.Keys = strings.Fields(value)
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
