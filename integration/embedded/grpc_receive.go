// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// receiveStream is where the answers of a ReceiveMessage go.
type receiveStream interface {
	Send(*v2.ReceiveMessageResponse) error
}

// nowhere swallows the answers of a request whose reply is to be lost.
type nowhere struct{}

func (nowhere) Send(*v2.ReceiveMessageResponse) error { return nil }

// ReceiveMessage answers a status, the messages if there are any, and the instant
// of delivery. It needs the client's settings, and a deadline on the RPC.
func (p *proxy) ReceiveMessage(req *v2.ReceiveMessageRequest, s grpc.ServerStreamingServer[v2.ReceiveMessageResponse]) error {
	ctx := s.Context()
	r := p.newRequest(ctx, ReceiveMessage, req)
	p.b.count(r)
	re, err := p.b.runControls(ctx, r)
	if err != nil {
		return rpcError(err)
	}
	switch re.kind {
	case reactAnswer:
		for _, a := range re.answers {
			m, ok := a.(*v2.ReceiveMessageResponse)
			if !ok {
				return status.Errorf(codes.Internal, "embedded: Answer to ReceiveMessage needs ReceiveMessageResponses, not a %T", a)
			}
			if err := s.Send(m); err != nil {
				return err
			}
		}
		return nil
	case reactFail:
		return p.fail(r, re.err)
	case reactDrop:
		return p.silence(ctx)
	case reactLoseReply:
		_ = p.receive(ctx, r, nowhere{}) // nobody hears of it
		return p.silence(ctx)
	}
	return p.receive(ctx, r, s)
}

func (p *proxy) receive(ctx context.Context, r *Request, out receiveStream) error {
	req := r.Receive()
	send := func(st *v2.Status) error {
		if err := out.Send(&v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{Status: st}}); err != nil {
			return err
		}
		return out.Send(p.deliveredNow())
	}
	if err := p.stillHere(r); err != nil {
		return err
	}
	if err := p.b.admit(r); err != nil {
		return out.Send(&v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{Status: statusOf(err)}})
	}
	pop, lite, err := p.popRequest(ctx, r.ClientID, req)
	if err != nil {
		return send(statusOf(err))
	}
	pop.lives = func() bool { return p.alive(r.life) }
	look := p.b.core.popNormal
	if lite {
		look = p.b.core.popLite
	}
	res, err := look(ctx, pop)
	switch {
	case err != nil && (ctx.Err() != nil || err == errClosed):
		return rpcError(err)
	case err != nil:
		return send(statusOf(err))
	case !res.found:
		return send(&v2.Status{Code: v2.Code_MESSAGE_NOT_FOUND, Message: "no new message"})
	case len(res.got) == 0:
		return send(&v2.Status{Code: v2.Code_MESSAGE_NOT_FOUND, Message: "no match message"})
	}
	return p.sendMessages(res.got, req, out)
}

func (p *proxy) deliveredNow() *v2.ReceiveMessageResponse {
	return &v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_DeliveryTimestamp{
		DeliveryTimestamp: timestamppb.New(p.b.core.clock.Now()),
	}}
}

func (p *proxy) sendMessages(got []delivery, req *v2.ReceiveMessageRequest, out receiveStream) error {
	cut := p.b.faults.takeCut()
	if err := out.Send(&v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{Status: okStatus()}}); err != nil {
		return err
	}
	for i, d := range got {
		if cut >= 0 && i >= cut {
			p.b.core.log.Info("receive cut", "after", i, "of", len(got))
			return status.Errorf(codes.Unavailable, "embedded: stream cut after %d messages", i)
		}
		m := &v2.ReceiveMessageResponse_Message{Message: p.b.wireMessage(d, req.GetMessageQueue().GetTopic())}
		if err := out.Send(&v2.ReceiveMessageResponse{Content: m}); err != nil {
			return err
		}
	}
	if cut >= 0 {
		p.b.core.log.Info("receive cut", "after", len(got), "of", len(got))
		return status.Errorf(codes.Unavailable, "embedded: stream cut after %d messages", len(got))
	}
	return out.Send(p.deliveredNow())
}

// popRequest checks a receive in the order in which the proxy does.
func (p *proxy) popRequest(ctx context.Context, clientID string, req *v2.ReceiveMessageRequest) (popRequest, bool, error) {
	s := p.session(clientID)
	if s == nil {
		return popRequest{}, false, nullPointer("apache.rocketmq.v2.Settings.getClientType()", "settings", frameOfReceive)
	}
	wait, err := p.pollingTime(ctx, s, req)
	if err != nil {
		return popRequest{}, false, err
	}
	topic, group, err := p.b.checkBoth(req.GetMessageQueue().GetTopic(), req.GetGroup())
	if err != nil {
		return popRequest{}, false, err
	}
	invisible := req.GetInvisibleDuration().AsDuration()
	if req.GetAutoRenew() {
		invisible = time.Minute
	} else if err := checkInvisible(invisible, p.b.cfg.minInvisible); err != nil {
		return popRequest{}, false, err
	}
	lite := p.isLite(s.kind())
	filter, err := filterOf(req.GetFilterExpression(), lite)
	if err != nil {
		return popRequest{}, false, err
	}
	// A proxy that restarts forgets its clients' channels too; a lite consumer
	// needs one, but it always comes with the settings.
	return popRequest{
		group: group, topic: topic, client: clientID, max: int(req.GetBatchSize()), invisible: invisible,
		wait: wait, attemptID: req.GetAttemptId(), filter: filter,
	}, lite, nil
}

// filterOf reads the filter of a receive. For lite topics an SQL expression is
// accepted and has no effect; for others this broker is one without
// enablePropertyFilter.
func filterOf(e *v2.FilterExpression, lite bool) (tagFilter, error) {
	if e.GetType() != v2.FilterType_SQL {
		return parseTags(e.GetExpression())
	}
	if lite {
		return nil, nil
	}
	return nil, fault(v2.Code_INTERNAL_SERVER_ERROR, "The broker does not support consumer to filter message by SQL92")
}

// pollingTime forces the long-polling time into the proxy's bounds and into what
// is left of the RPC's deadline. No deadline at all is a null pointer there.
func (p *proxy) pollingTime(ctx context.Context, s *session, req *v2.ReceiveMessageRequest) (time.Duration, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, nullPointer("java.lang.Long.longValue()", "timeRemaining", frameOfDeadline)
	}
	left := time.Until(deadline)
	wait := left - s.settings.GetRequestTimeout().AsDuration()/2
	if req.GetLongPollingTimeout() != nil {
		wait = req.GetLongPollingTimeout().AsDuration()
	}
	wait = min(max(wait, p.b.cfg.minPoll), p.b.cfg.maxPoll)
	if wait <= left {
		return wait, nil
	}
	if left >= p.b.cfg.minPoll {
		return left, nil
	}
	return 0, fault(v2.Code_ILLEGAL_POLLING_TIME, "The deadline time remaining is not enough for polling, please check network condition")
}

// wireMessage makes the message that a client sees.
func (b *Broker) wireMessage(d delivery, topic *v2.Resource) *v2.Message {
	r := d.rec
	sp := &v2.SystemProperties{
		Keys: r.keys, MessageId: r.id, BodyEncoding: v2.Encoding_IDENTITY, MessageType: messageTypeOf(r),
		BornTimestamp: timestamppb.New(r.born), BornHost: r.bornHost, StoreTimestamp: timestamppb.New(r.stored),
		StoreHost: "127.0.0.1:10911", ReceiptHandle: &d.handle, QueueId: r.queueID, QueueOffset: &r.queueOffset,
		DeliveryAttempt: new(int32), BodyDigest: b.wireDigest(r),
	}
	*sp.DeliveryAttempt = int32(d.attempt)
	if r.compressed {
		sp.BodyEncoding = v2.Encoding_GZIP
	}
	if r.tag != "" {
		sp.Tag = &r.tag
	}
	props := map[string]string{}
	for k, v := range r.properties {
		props[k] = v
	}
	// The proxy takes some of the broker's own properties for the user's.
	if r.liteTopic != "" {
		sp.LiteTopic = &r.liteTopic
		props["INNER_MULTI_DISPATCH"] = fmt.Sprintf("%%LMQ%%$%s$%s", r.parent, r.liteTopic)
	}
	if r.messageGroup != "" {
		sp.MessageGroup = &r.messageGroup
		props["__SHARDINGKEY"] = r.messageGroup
	}
	if r.traceContext != "" {
		sp.TraceContext = &r.traceContext
		props["TRACE_CONTEXT"] = r.traceContext
	}
	if !r.delivery.IsZero() {
		sp.DeliveryTimestamp = timestamppb.New(r.delivery)
	}
	if r.dead {
		topic = &v2.Resource{Name: r.topic}
	}
	return &v2.Message{Topic: topic, UserProperties: props, SystemProperties: sp, Body: r.body}
}

func messageTypeOf(r *record) v2.MessageType {
	switch {
	case r.dead, !r.delivery.IsZero():
		return v2.MessageType_DELAY
	case r.messageGroup != "":
		return v2.MessageType_FIFO
	case r.liteTopic != "":
		return v2.MessageType_LITE
	}
	return v2.MessageType_NORMAL
}

func (b *Broker) wireDigest(r *record) *v2.Digest {
	d := r.digest
	if d == nil {
		if b.cfg.digest == DigestNone {
			return nil
		}
		d = &digest{b.cfg.digest, checksum(b.cfg.digest, r.body)}
	}
	return &v2.Digest{Type: v2.DigestType(v2.DigestType_value[string(d.kind)]), Checksum: d.checksum}
}
