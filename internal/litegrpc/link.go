// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// link is a session's side of one proxy. Its goroutine opens the telemetry
// stream, agrees on settings, sends heartbeats and, when the stream breaks or
// a call found that the proxy forgot us, starts over.
type link struct {
	client *client
	addr   Address
	conn   *grpc.ClientConn
	stub   v2.MessagingServiceClient
	log    *slog.Logger

	renew chan struct{} // asks the goroutine to open the stream again
	ended chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	id     string // the client id of the present session
	ready  bool
	opened int           // how often the stream was agreed on
	err    error         // why the link is not ready
	change chan struct{} // closed and replaced whenever ready or err changes
	cancel context.CancelFunc
}

func newLink(c *client, addr Address) (*link, error) {
	secured, err := c.cfg.TLS.Config()
	if err != nil {
		return nil, &Error{Op: "opening " + addr.String(), Class: Permanent, Err: err}
	}
	creds := insecure.NewCredentials()
	if secured != nil {
		creds = credentials.NewTLS(secured)
	}
	conn, err := grpc.NewClient("passthrough:///"+addr.String(),
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(c.cfg.MaxReceiveBytes)),
		// Finds a connection that is half open: no answer to a ping for 10 s
		// breaks it, and calls and streams with it.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
	)
	if err != nil {
		return nil, &Error{Op: "opening " + addr.String(), Class: Permanent, Err: err}
	}
	return &link{
		client: c, addr: addr, conn: conn, stub: v2.NewMessagingServiceClient(conn),
		log:   c.cfg.Logger.With("proxy", addr.String()),
		id:    newClientID(),
		renew: make(chan struct{}, 1), ended: make(chan struct{}), change: make(chan struct{}),
		err: &Error{Op: "opening a session at " + addr.String(), Class: Transient, Err: errors.New("no answer yet")},
	}, nil
}

// start runs the link until ctx ends; then the connection is closed.
func (l *link) start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	go func() {
		defer close(l.ended)
		defer l.conn.Close()
		l.run(ctx)
	}()
}

// stop ends the link and waits for its goroutine.
func (l *link) stop() {
	l.cancel()
	<-l.ended
}

// run opens the session again and again.
func (l *link) run(ctx context.Context) {
	pause := &backoff.ExponentialBackOff{
		InitialInterval: firstPause, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: lastPause,
	}
	pause.Reset()
	for ctx.Err() == nil {
		wasReady, err := l.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if wasReady {
			pause.Reset()
			l.log.Warn("session lost, opening it again", "error", err)
		}
		l.set(false, err)
		if ClassOf(err) == SessionLost && wasReady {
			continue // the proxy is there, it only forgot us
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// session is one life of the telemetry stream. It returns why it ended and
// whether it had been ready.
func (l *link) session(ctx context.Context) (wasReady bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select { // a wish to renew that came before this session is met by it
	case <-l.renew:
	default:
	}
	l.becomeSomebodyNew()
	stream, err := l.openStream(ctx, cancel)
	if err != nil {
		return false, l.afterFirst(err)
	}
	if err := l.client.role.opened(ctx, l); err != nil {
		l.giveUp(ctx)
		return false, l.afterFirst(err)
	}
	l.becameReady()
	broken := make(chan error, 1)
	go l.listen(stream, broken)
	err, heard := l.keep(ctx, broken)
	cancel()
	if !heard {
		<-broken // the listener ends with the stream's context
	}
	return true, err
}

// afterFirst judges an error of a session that was open before.
func (l *link) afterFirst(err error) error {
	if !l.openedBefore() {
		return err
	}
	return ofKnownName(err)
}

func (l *link) openedBefore() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened > 0
}

// becomeSomebodyNew gives each session a client id of its own. When a stream
// breaks, RocketMQ 5.5.0 takes the lite subscription from its client id, also
// from a newer stream of that id, and without a word; and a poll that was broken
// off goes on waiting in the broker and takes the next message for that id.
func (l *link) becomeSomebodyNew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id = newClientID()
}

// sign adds to ctx the metadata of a request of the present session.
func (l *link) sign(ctx context.Context) (context.Context, error) {
	l.mu.Lock()
	id := l.id
	l.mu.Unlock()
	return l.client.sign(ctx, id)
}

// keep sends heartbeats until something ends the session; heard says that it
// was the listener.
func (l *link) keep(ctx context.Context, broken <-chan error) (err error, heard bool) {
	heartbeat := time.NewTicker(heartbeatInterval)
	defer heartbeat.Stop()
	resync := time.NewTicker(resyncInterval)
	defer resync.Stop()
	for {
		err = nil
		select {
		case <-ctx.Done():
			return ctx.Err(), false
		case err := <-broken:
			return err, true
		case <-l.renew:
			return &Error{Op: "session at " + l.addr.String(), Class: SessionLost, Err: errors.New("a call found no settings of this client")}, false
		case <-heartbeat.C:
			err = l.client.role.heartbeat(ctx, l)
		case <-resync.C:
			err = l.client.role.resync(ctx, l)
		}
		err = ofKnownName(err)
		if class := ClassOf(err); err != nil && (class == SessionLost || class == Permanent) {
			return err, false // with a subscription refused, polls would be empty for ever
		}
		if err != nil && ctx.Err() == nil {
			l.log.Warn("session upkeep", "error", err)
		}
	}
}

func (l *link) becameReady() {
	l.mu.Lock()
	l.opened++
	again := l.opened > 1
	l.mu.Unlock()
	l.set(true, nil)
	if again {
		l.log.Info("session open again")
		l.client.cfg.Events.Reconnected()
	}
}

func (l *link) set(ready bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready, l.err = ready, err
	close(l.change)
	l.change = make(chan struct{})
}

// state is whether the link is ready, why not, and a channel that closes when
// that changes.
func (l *link) state() (bool, error, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready, l.err, l.change
}

// judge looks at the error of a call on this link: a lost session is opened
// again, in the background.
func (l *link) judge(err error) error {
	if err != nil && ClassOf(err) == SessionLost {
		l.mu.Lock()
		l.ready = false
		l.mu.Unlock()
		select {
		case l.renew <- struct{}{}:
		default:
		}
	}
	return err
}

// unary runs one request with the session's timeout and metadata.
func unary[Request, Answer any](ctx context.Context, l *link, op string, request Request,
	call func(context.Context, Request, ...grpc.CallOption) (Answer, error), status func(Answer) *v2.Status) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, l.client.cfg.RequestTimeout)
	defer cancel()
	ctx, err := l.sign(ctx)
	var answer Answer
	if err != nil {
		return answer, failed(op, err)
	}
	answer, err = call(ctx, request)
	if err != nil {
		return answer, l.judge(l.diagnose(ctx, failed(op, err)))
	}
	return answer, l.judge(answered(op, status(answer)))
}
