// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// WriteStatus says how safe a stored message is, as the broker said when it
// answered.
type WriteStatus string

// The statuses of stored messages. All but the first mean that the message may be
// lost if one machine fails now; see [WriteUnsafe].
const (
	StatusSendOK            WriteStatus = "SEND_OK"
	StatusFlushDiskTimeout  WriteStatus = "FLUSH_DISK_TIMEOUT"
	StatusFlushSlaveTimeout WriteStatus = "FLUSH_SLAVE_TIMEOUT"
	StatusSlaveNotAvailable WriteStatus = "SLAVE_NOT_AVAILABLE"
)

func statusOf(s remoting.SendStatus) WriteStatus { return WriteStatus(s.String()) }

// WriteResult is what became of one message.
type WriteResult struct {
	// Topic is where the message went, without namespace.
	Topic string
	// UniqueKey is its id, and Keys are its keys.
	UniqueKey string
	Keys      []string
	// Broker, QueueID and QueueOffset say where it stands. Of a message with a
	// delay, the offset is that in the broker's own topic of such messages.
	Broker      string
	QueueID     int32
	QueueOffset int64
	// MessageID is the broker's id.
	MessageID string
	// Status is how safe it is; empty if it failed.
	Status WriteStatus
	// Attempts is how many requests carried it.
	Attempts int32
	// Repeated says that it was sent again after a request that may have been
	// carried out: it may be stored more than once.
	Repeated bool
	// Error is why it was not written, empty if it was. Only with the guarantee
	// [None]: otherwise the bundle fails.
	Error string
	// Message is the message itself if it failed, for a dead-letter topic.
	Message *OutgoingMessage
	// Source is that of the message.
	Source *Position

	// place is set on the way from the DoFn to its emitter only.
	place *placed.Place
}

// OK says that the message was stored.
func (r WriteResult) OK() bool { return r.Error == "" }

// Equal says whether the two are the same.
func (r WriteResult) Equal(o WriteResult) bool {
	return r.Topic == o.Topic && r.UniqueKey == o.UniqueKey && slices.Equal(r.Keys, o.Keys) && r.Broker == o.Broker &&
		r.QueueID == o.QueueID && r.QueueOffset == o.QueueOffset && r.MessageID == o.MessageID && r.Status == o.Status &&
		r.Attempts == o.Attempts && r.Repeated == o.Repeated && r.Error == o.Error &&
		samePosition(r.Source, o.Source) && (r.Message == nil) == (o.Message == nil) && (r.Message == nil || r.Message.Equal(*o.Message))
}

// The field numbers of an encoded WriteResult, a protocol buffer message:
//
//	message WriteResult {
//	  uint32 version = 1;  string topic = 2;  bytes unique_key = 3;  repeated bytes keys = 4;
//	  string broker = 5;  uint32 queue_id = 6;  int64 queue_offset = 7;  string message_id = 8;
//	  string status = 9;  uint32 attempts = 10;  bool repeated = 11;  string error = 12;
//	  OutgoingMessage message = 13;  Position source = 14;
//	}
const (
	resultVersion protowire.Number = iota + 1
	resultTopic
	resultUniqueKey
	resultKeys
	resultBroker
	resultQueueID
	resultQueueOffset
	resultMessageID
	resultStatus
	resultAttempts
	resultRepeated
	resultError
	resultMessage
	resultSource
)

// EncodeWriteResult writes r for a shuffle. It fails where
// [EncodeOutgoingMessage] does.
func EncodeWriteResult(r WriteResult) ([]byte, error) {
	b := appendNumber(nil, resultVersion, writtenVersion)
	b = appendString(b, resultTopic, r.Topic)
	b = appendString(b, resultUniqueKey, r.UniqueKey)
	b = appendStrings(b, resultKeys, r.Keys)
	b = appendString(b, resultBroker, r.Broker)
	b = appendNumber(b, resultQueueID, uint64(r.QueueID))
	b = appendNumber(b, resultQueueOffset, uint64(r.QueueOffset))
	b = appendString(b, resultMessageID, r.MessageID)
	b = appendString(b, resultStatus, string(r.Status))
	b = appendNumber(b, resultAttempts, uint64(r.Attempts))
	if r.Repeated {
		b = appendNumber(b, resultRepeated, 1)
	}
	b = appendPosition(appendString(b, resultError, r.Error), resultSource, r.Source)
	if r.Message == nil {
		return b, nil
	}
	m, err := EncodeOutgoingMessage(*r.Message)
	if err != nil {
		return nil, fmt.Errorf("WriteResult.Message: %w", err)
	}
	return appendString(b, resultMessage, string(m)), nil
}

// DecodeWriteResult reads what [EncodeWriteResult] wrote. Its error wraps
// [coders.ErrMalformed] or [coders.ErrVersion].
func DecodeWriteResult(data []byte) (WriteResult, error) {
	var r WriteResult
	err := eachField("WriteResult", data, resultVersion, r.setField)
	if err != nil {
		return WriteResult{}, err
	}
	return r, nil
}

func (r *WriteResult) setField(f wireField) error {
	switch f.number {
	case resultTopic:
		r.Topic = f.text()
	case resultUniqueKey:
		r.UniqueKey = f.text()
	case resultKeys:
		r.Keys = append(r.Keys, f.text())
	case resultBroker:
		r.Broker = f.text()
	case resultQueueID:
		r.QueueID = int32(f.scalar)
	case resultQueueOffset:
		r.QueueOffset = int64(f.scalar)
	case resultMessageID:
		r.MessageID = f.text()
	case resultStatus:
		r.Status = WriteStatus(f.bytes)
	case resultAttempts:
		r.Attempts = int32(f.scalar)
	case resultRepeated:
		r.Repeated = f.scalar != 0
	case resultError:
		r.Error = f.text()
	case resultSource:
		return readPosition(f.bytes, &r.Source)
	case resultMessage:
		m, err := DecodeOutgoingMessage(f.bytes)
		if err != nil {
			return fmt.Errorf("WriteResult.Message: %w", err)
		}
		r.Message = &m
	}
	return nil
}
