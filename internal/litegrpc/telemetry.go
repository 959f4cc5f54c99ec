// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

type telemetryStream = v2.MessagingService_TelemetryClient

// openStream opens the telemetry stream and agrees on settings. A proxy that
// does not know the client type LITE_SIMPLE_CONSUMER, as 5.5.0, is asked again
// as LITE_PUSH_CONSUMER, with which the same calls work. cancel ends ctx.
func (l *link) openStream(ctx context.Context, cancel context.CancelFunc) (telemetryStream, error) {
	stream, err := l.agree(ctx, cancel)
	if err == nil || !refusesLiteSimple(err) || !l.client.role.fallBack() {
		return stream, err
	}
	return l.agree(ctx, cancel)
}

// agree sends the settings and waits for the proxy's, which it must have before
// any other call of this client makes sense to it.
func (l *link) agree(ctx context.Context, cancel context.CancelFunc) (telemetryStream, error) {
	op := fmt.Sprintf("opening a session for %v at %s", l.client.role, l.addr)
	signed, err := l.sign(ctx)
	if err != nil {
		return nil, failed(op, err)
	}
	timeout := time.AfterFunc(l.client.cfg.RequestTimeout, cancel)
	defer timeout.Stop()
	stream, err := l.stub.Telemetry(signed)
	if err != nil {
		return nil, l.openError(ctx, op, err)
	}
	if err := stream.Send(&v2.TelemetryCommand{Command: &v2.TelemetryCommand_Settings{Settings: l.settings()}}); err != nil && !errors.Is(err, io.EOF) {
		return nil, l.openError(ctx, op, err) // after EOF, Recv has the reason
	}
	answer, err := stream.Recv()
	if err != nil {
		return nil, l.openError(ctx, op, err)
	}
	if s := answer.GetStatus(); s != nil {
		if err := answered(op, s); err != nil {
			return nil, err
		}
	}
	return stream, nil
}

// openError tells our own timeout from the caller's end.
func (l *link) openError(ctx context.Context, op string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if status.Code(err) == codes.Canceled && ctx.Err() != nil {
		return &Error{Op: op, Class: Transient, Hint: "check the endpoints and whether TLS is on at one side only",
			Err: fmt.Errorf("no answer within %v: %w", l.client.cfg.RequestTimeout, context.DeadlineExceeded)}
	}
	return l.diagnose(ctx, failed(op, err))
}

// refusesLiteSimple recognises how proxy 5.5.0 refuses the newer client type:
// gRPC Internal, "Client type is not consumer, type: LITE_SIMPLE_CONSUMER"; a
// proxy whose stubs lack the value calls it unrecognized.
func refusesLiteSimple(err error) bool {
	return strings.Contains(err.Error(), "lient type") ||
		strings.Contains(err.Error(), "UNRECOGNIZED")
}

func (l *link) settings() *v2.Settings {
	s := &v2.Settings{
		AccessPoint:    l.client.cfg.Endpoints.proto(),
		RequestTimeout: durationpb.New(l.client.cfg.RequestTimeout),
		UserAgent:      &v2.UA{Language: v2.Language_GOLANG, Version: clientVersion, Platform: "rocketmq-beam"},
	}
	l.client.role.settings(s)
	return s
}

// listen hears what the proxy says unasked until the stream ends.
func (l *link) listen(stream telemetryStream, broken chan<- error) {
	for {
		command, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = status.Error(codes.Unavailable, "the proxy ended the telemetry stream")
			}
			broken <- failed("telemetry stream of "+l.addr.String(), err)
			return
		}
		switch c := command.GetCommand().(type) {
		case *v2.TelemetryCommand_NotifyUnsubscribeLiteCommand:
			l.log.Warn("the broker took a lite topic away from this client", "liteTopic", c.NotifyUnsubscribeLiteCommand.GetLiteTopic())
		case *v2.TelemetryCommand_ReconnectEndpointsCommand:
			broken <- &Error{Op: "telemetry stream of " + l.addr.String(), Class: SessionLost, Err: errors.New("the proxy asked to reconnect")}
			return
		}
	}
}
