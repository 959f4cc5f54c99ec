// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
)

// Outgoing is a message to send.
type Outgoing struct {
	LiteTopic  string
	Body       []byte
	Keys       []string
	Tag        string
	Properties map[string]string
	// ID is the message id; empty means a new one. Sending an id again stores
	// the message again: consumers tell the copies apart by nothing else.
	ID string
}

// Sent says where the broker stored a message.
type Sent struct {
	MessageID string
	Offset    int64
}

// NewMessageID makes an id for Outgoing.ID, to be kept over retries.
func (p *Producer) NewMessageID() string { return p.ids.next(time.Now()) }

// Send sends one message to its lite topic and returns when the broker has
// stored it. It does not retry.
func (p *Producer) Send(ctx context.Context, m Outgoing) (Sent, error) {
	op := fmt.Sprintf("sending to lite topic %q of %q", m.LiteTopic, p.cfg.Topic)
	if err := names.CheckLiteTopic(m.LiteTopic); err != nil {
		return Sent{}, &Error{Op: op, Class: Permanent, Err: err}
	}
	pickCtx, cancel := context.WithTimeout(ctx, p.client.cfg.RequestTimeout)
	l, err := p.client.pick(pickCtx)
	cancel()
	if err != nil {
		return Sent{}, unsent(op, err)
	}
	if m.ID == "" {
		m.ID = p.NewMessageID()
	}
	answer, err := unary(ctx, l, op, &v2.SendMessageRequest{Messages: []*v2.Message{p.wire(m)}}, l.stub.SendMessage, sendStatus)
	if err != nil {
		return Sent{}, err
	}
	if len(answer.GetEntries()) != 1 {
		return Sent{}, &Error{Op: op, Class: Transient, Err: fmt.Errorf("%d results for one message", len(answer.GetEntries()))}
	}
	entry := answer.GetEntries()[0]
	if err := l.judge(answered(op, entry.GetStatus())); err != nil {
		return Sent{}, err
	}
	return Sent{MessageID: entry.GetMessageId(), Offset: entry.GetOffset()}, nil
}

func unsent(op string, err error) error {
	e := *failed(op, err).(*Error)
	e.Unsent = true
	return &e
}

func sendStatus(r *v2.SendMessageResponse) *v2.Status {
	if len(r.GetEntries()) > 0 {
		return &v2.Status{Code: v2.Code_OK} // the entry speaks for itself
	}
	return r.GetStatus()
}

func (p *Producer) wire(m Outgoing) *v2.Message {
	properties := &v2.SystemProperties{
		MessageId: m.ID, LiteTopic: &m.LiteTopic, MessageType: v2.MessageType_LITE, Keys: m.Keys,
		BornTimestamp: timestamppb.Now(), BornHost: bornHost(), BodyEncoding: v2.Encoding_IDENTITY,
		BodyDigest: &v2.Digest{Type: v2.DigestType_CRC32,
			Checksum: strings.ToUpper(strconv.FormatUint(uint64(crc32.ChecksumIEEE(m.Body)), 16))},
	}
	if m.Tag != "" {
		properties.Tag = &m.Tag
	}
	return &v2.Message{
		Topic: p.client.resource(p.cfg.Topic), UserProperties: m.Properties, SystemProperties: properties, Body: m.Body,
	}
}

func bornHost() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown-host"
	}
	return host
}
