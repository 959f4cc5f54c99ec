// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
)

// EnvelopeOf is what a message of a normal topic has beside its body, when it is
// read at now. properties are those that the producer set. The id is the
// producer's, as consumers of the Java client see it, and the broker's for
// messages without one.
func EnvelopeOf(m *coders.Message, now time.Time, properties map[string]string) *connector.Envelope {
	id := m.UniqueKey
	if id == "" {
		id = m.MessageID
	}
	return &connector.Envelope{
		Topic: m.Topic, Ingestion: now, Event: m.BornTime, QueueID: m.QueueID, QueueOffset: m.QueueOffset,
		MessageID: id, Keys: strings.Join(m.Keys, " "), Tag: m.Tag, Properties: properties,
	}
}
