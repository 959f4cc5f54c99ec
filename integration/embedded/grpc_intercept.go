// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"path"
	"strings"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// interceptUnary is the way of every unary request: count, controls, faults set
// by verbs, credentials, client id, and then the request's own file.
func (p *proxy) interceptUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	r := p.newRequest(ctx, Method(path.Base(info.FullMethod)), req.(proto.Message))
	p.b.count(r)
	re, err := p.b.runControls(ctx, r)
	if err != nil {
		return nil, rpcError(err)
	}
	switch re.kind {
	case reactAnswer:
		return oneAnswer(r, re.answers)
	case reactFail:
		return nil, p.fail(r, re.err)
	case reactDrop:
		return nil, p.silence(ctx)
	case reactLoseReply:
		_, _ = p.carryOut(context.WithoutCancel(ctx), r, next) // nobody hears of it
		return nil, p.silence(ctx)
	}
	return p.carryOut(ctx, r, next)
}

// oneAnswer checks what a control wants to answer: gRPC would send a message of a
// wrong type, and the client would read nonsense.
func oneAnswer(r *Request, answers []proto.Message) (any, error) {
	if len(answers) != 1 {
		return nil, status.Errorf(codes.Internal, "embedded: Answer to %s needs one message, not %d", r.Method, len(answers))
	}
	want := answerWith(r, nil).ProtoReflect().Descriptor().FullName()
	if got := answers[0].ProtoReflect().Descriptor().FullName(); got != want {
		return nil, status.Errorf(codes.Internal, "embedded: Answer to %s needs a %s, not a %s", r.Method, want, got)
	}
	return answers[0], nil
}

func (p *proxy) carryOut(ctx context.Context, r *Request, next grpc.UnaryHandler) (any, error) {
	if err := p.stillHere(r); err != nil {
		return nil, err
	}
	if err := p.b.admit(r); err != nil {
		return answerWith(r, statusOf(err)), nil
	}
	res, err := next(ctx, r.Message)
	if err != nil {
		return nil, rpcError(err)
	}
	p.b.core.poke()
	return res, nil
}

// stillHere refuses a request that spent the proxy's restart in a control function:
// the process that it came to is gone.
func (p *proxy) stillHere(r *Request) error {
	if !p.alive(r.life) {
		return status.Error(codes.Unavailable, "embedded: the proxy has restarted")
	}
	return nil
}

// admit is what every request has to pass before it is looked at.
func (b *Broker) admit(r *Request) error {
	if b.faults.takeBusy(r.Method) {
		b.core.log.Info("busy", "method", string(r.Method), "client", r.ClientID)
		return fault(v2.Code_TOO_MANY_REQUESTS, "flow limit")
	}
	if err := b.checkSignature(r); err != nil {
		return err
	}
	if strings.TrimSpace(r.ClientID) == "" {
		return fault(v2.Code_CLIENT_ID_REQUIRED, "client id cannot be empty")
	}
	return nil
}

// fail ends a request the way a control asked for.
func (p *proxy) fail(r *Request, err error) error {
	if errors.Is(err, ErrConnectionCut) {
		if conn := p.connection(r.peer); conn != nil {
			_ = conn.Close() // cutting it is the point
		}
		return status.Error(codes.Unavailable, err.Error())
	}
	return err
}

// silence answers nothing until the client gives up or the broker ends.
func (p *proxy) silence(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return rpcError(ctx.Err())
	case <-p.b.core.closed:
		return rpcError(errClosed)
	}
}

func rpcError(err error) error {
	switch {
	case errors.Is(err, errClosed):
		return status.Error(codes.Unavailable, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return err
}
