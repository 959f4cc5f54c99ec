// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// ReceiptHandle is all that a worker needs, beside its own credentials, to
// acknowledge or defer one delivery of one message: where to send the request
// (the routing triple), which message it is, and how long the lease lasts.
//
// A handle belongs to one delivery. When a message is delivered again, or its
// invisibility is changed, the broker gives out a new handle and only that one
// may be relied on.
type ReceiptHandle struct {
	// Endpoints are the proxies that gave out the handle, as host:port;host:port.
	Endpoints string
	// Namespace is the instance namespace, empty if there is none.
	Namespace string
	// ConsumerGroup is the group whose lease this is.
	ConsumerGroup string

	// Topic is the main topic, without namespace.
	Topic string
	// LiteTopic is the lite topic below Topic. The broker refuses to ack a
	// lite message without it.
	LiteTopic string
	// MessageID identifies the message; it stays the same over deliveries.
	MessageID string
	// Handle is the receipt handle as the proxy gave it.
	Handle string
	// DeliveryAttempt is 1 at the first delivery. The broker may skip numbers.
	DeliveryAttempt int32
	// InvisibleUntil is the instant, by the clock of the worker that received
	// the message, at which the lease ends and the broker delivers it again.
	InvisibleUntil time.Time
}

// The field numbers of ReceiptHandle in record.proto.
const (
	handleVersion protowire.Number = iota + 1
	handleEndpoints
	handleNamespace
	handleConsumerGroup
	handleTopic
	handleLiteTopic
	handleMessageID
	handleReceipt
	handleAttempt
	handleInvisibleUntil
)

// EncodeReceiptHandle writes h in the schema of record.proto. It fails if a
// string is not UTF-8. A time before 1677 or after 2262, which does
// not fit in nanoseconds since 1970, becomes the nearest that does.
func EncodeReceiptHandle(h ReceiptHandle) ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, h.size()+4)
	buf = appendVersion(buf)
	buf = h.appendFields(buf)
	return appendEnd(buf), nil
}

// DecodeReceiptHandle reads what [EncodeReceiptHandle] wrote. Its error wraps
// [ErrMalformed] or [ErrVersion].
func DecodeReceiptHandle(data []byte) (ReceiptHandle, error) {
	var h ReceiptHandle
	if err := decodeRecord("ReceiptHandle", data, string(data), h.setField); err != nil {
		return ReceiptHandle{}, err
	}
	return h, nil
}

// check refuses what the schema cannot hold.
func (h *ReceiptHandle) check() error {
	for _, s := range [...]struct{ name, value string }{
		{"ReceiptHandle.Endpoints", h.Endpoints}, {"ReceiptHandle.Namespace", h.Namespace},
		{"ReceiptHandle.ConsumerGroup", h.ConsumerGroup}, {"ReceiptHandle.Topic", h.Topic},
		{"ReceiptHandle.LiteTopic", h.LiteTopic}, {"ReceiptHandle.MessageID", h.MessageID},
		{"ReceiptHandle.Handle", h.Handle},
	} {
		if err := checkText(s.name, s.value); err != nil {
			return err
		}
	}
	return nil
}

// size is an upper bound of what appendFields appends.
func (h *ReceiptHandle) size() int {
	const perField, fields = 6, 9
	return perField*fields + len(h.Endpoints) + len(h.Namespace) + len(h.ConsumerGroup) + len(h.Topic) +
		len(h.LiteTopic) + len(h.MessageID) + len(h.Handle) + 10 + 8
}

func (h *ReceiptHandle) appendFields(buf []byte) []byte {
	buf = appendText(buf, handleEndpoints, h.Endpoints)
	buf = appendText(buf, handleNamespace, h.Namespace)
	buf = appendText(buf, handleConsumerGroup, h.ConsumerGroup)
	buf = appendText(buf, handleTopic, h.Topic)
	buf = appendText(buf, handleLiteTopic, h.LiteTopic)
	buf = appendText(buf, handleMessageID, h.MessageID)
	buf = appendText(buf, handleReceipt, h.Handle)
	buf = appendInt(buf, handleAttempt, int64(h.DeliveryAttempt))
	return appendInstant(buf, handleInvisibleUntil, h.InvisibleUntil)
}

func (h *ReceiptHandle) setField(f field) (err error) {
	switch f.number {
	case handleEndpoints:
		h.Endpoints, err = f.asText()
	case handleNamespace:
		h.Namespace, err = f.asText()
	case handleConsumerGroup:
		h.ConsumerGroup, err = f.asText()
	case handleTopic:
		h.Topic, err = f.asText()
	case handleLiteTopic:
		h.LiteTopic, err = f.asText()
	case handleMessageID:
		h.MessageID, err = f.asText()
	case handleReceipt:
		h.Handle, err = f.asText()
	case handleAttempt:
		h.DeliveryAttempt, err = f.asInt32()
	case handleInvisibleUntil:
		h.InvisibleUntil, err = f.asInstant()
	}
	return err
}

// String shows which delivery h is, without the receipt handle itself, which
// is long and opaque.
func (h ReceiptHandle) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "message %s of %s", h.MessageID, h.Topic)
	if h.LiteTopic != "" {
		fmt.Fprintf(&b, "/%s", h.LiteTopic)
	}
	fmt.Fprintf(&b, " (group %s, attempt %d)", h.ConsumerGroup, h.DeliveryAttempt)
	return b.String()
}
