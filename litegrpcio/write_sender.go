// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/asyncsink"
	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/health"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// senders are the senders of this process, by their configuration.
var senders = pool.New[string](
	func(*sender) time.Duration { return DefaultIdleClose },
	func(s *sender) { s.close() },
)

func (c *writeConfig) poolKey() (string, error) {
	key, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("litegrpcio: configuration: %w", err)
	}
	return string(key), nil
}

// located is a message and where it is in the stream.
type located struct {
	message Message
	place   placed.Place
}

type (
	sink   = asyncsink.Sink[located, litegrpc.Outgoing, litegrpc.Sent]
	writer = asyncsink.Writer[located, litegrpc.Outgoing, litegrpc.Sent]
)

// sender sends for all bundles of one configuration in one process: a session
// with the proxies, and the sink that shares it out.
type sender struct {
	cfg      writeConfig
	producer *litegrpc.Producer
	sink     *sink
	log      *slog.Logger
	quiet    health.Silence

	// What happened since a bundle last asked.
	throttled atomic.Int64
	heldBack  atomic.Int64 // what the sink says of it in all
}

func openSender(ctx context.Context, c writeConfig) (*sender, error) {
	base, err := c.Client.Config(c.Endpoints, c.Namespace, beamlog.Logger("rocketmq lite sink").With("topic", c.Topic), nil)
	if err != nil {
		return nil, err
	}
	producer, err := litegrpc.NewProducer(ctx, litegrpc.ProducerConfig{Config: base, Topic: c.Topic})
	if err != nil {
		return nil, fmt.Errorf("litegrpcio.Write: %w", err)
	}
	s := &sender{cfg: c, producer: producer, log: base.Logger}
	limit, err := asyncsink.NewAIMD(asyncsink.AIMDConfig{Max: c.MaxInFlight, Tolerance: congestionTolerance})
	if err == nil {
		s.sink, err = asyncsink.New(s.sinkConfig(limit, base.RequestTimeout))
	}
	if err != nil {
		s.closeProducer()
		return nil, fmt.Errorf("litegrpcio.Write: %w", err)
	}
	return s, nil
}

const (
	// congestionTolerance is the share of requests that a broker may send back
	// now and then without being taken for full.
	congestionTolerance = 0.1
	// firstPause is before a message is sent again; it doubles up to 2 s.
	firstPause = 50 * time.Millisecond
	// mostBuffered messages and bytes wait in a process to be sent.
	mostBuffered      = 2000
	mostBufferedBytes = 32 << 20
	// mostFlyingBytes are in flight: what a link carries within a request's time.
	mostFlyingBytes = 8 << 20
)

func (s *sender) sinkConfig(limit asyncsink.Strategy, requestTimeout time.Duration) asyncsink.Config[located, litegrpc.Outgoing, litegrpc.Sent] {
	return asyncsink.Config[located, litegrpc.Outgoing, litegrpc.Sent]{
		Convert: s.convert,
		Size:    func(m litegrpc.Outgoing) int { return len(m.Body) },
		// Several lite messages in one request are answered OK and never
		// delivered, so each goes alone, and those of a lite topic one after the
		// other.
		Lane: func(m litegrpc.Outgoing) asyncsink.Lane {
			return asyncsink.Lane{Key: m.LiteTopic, Ordered: true, MaxBatch: 1}
		},
		Submit: s.submit, Classify: judge, Strategy: limit, Observe: s.observe,
		MaxBatch: 1, MaxInFlight: s.cfg.MaxInFlight, MaxInFlightBytes: mostFlyingBytes, MaxBuffered: mostBuffered, MaxBufferedBytes: mostBufferedBytes,
		MaxAttempts: s.cfg.MaxAttempts, FirstPause: firstPause,
		RequestTimeout: 2*requestTimeout + time.Second, // one to find a session, one for the request itself
	}
}

// convert makes the request's message. All tries bear the same id.
func (s *sender) convert(_ context.Context, in located) (litegrpc.Outgoing, error) {
	m := in.message
	if m.LiteTopic == "" {
		m.LiteTopic = s.cfg.LiteTopic
	}
	if err := names.CheckLiteTopic(m.LiteTopic); err != nil {
		return litegrpc.Outgoing{}, err
	}
	if err := checkTexts(&m); err != nil {
		return litegrpc.Outgoing{}, err
	}
	return litegrpc.Outgoing{
		LiteTopic: m.LiteTopic, Body: m.Body, Keys: m.Keys, Tag: m.Tag, Properties: m.Properties, ID: s.producer.NewMessageID(),
	}, nil
}

// checkTexts refuses what cannot be written to the wire.
func checkTexts(m *Message) error {
	texts := append([]string{m.Tag}, m.Keys...)
	for name, value := range m.Properties {
		texts = append(texts, name, value)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q in its tag, keys or properties is not UTF-8", text)
		}
	}
	return nil
}

func (s *sender) submit(ctx context.Context, batch []litegrpc.Outgoing, verdicts []asyncsink.Verdict[litegrpc.Sent]) {
	for i := range batch { // one, see Lane
		began := time.Now()
		verdicts[i].Ack, verdicts[i].Err = s.producer.Send(ctx, batch[i])
		if err := verdicts[i].Err; err != nil {
			s.quiet.Failed(s.log, began, err)
		} else {
			s.quiet.Broken()
		}
	}
}

// judge says what an error means for the message.
func judge(err error) asyncsink.Judgement {
	switch class := litegrpc.ClassOf(err); {
	case class == litegrpc.Permanent:
		return asyncsink.Final
	case class == litegrpc.Throttled:
		return asyncsink.Congested
	case litegrpc.NothingDone(err):
		return asyncsink.Wait
	case errors.Is(err, context.DeadlineExceeded):
		return asyncsink.TimedOut
	}
	return asyncsink.Retry
}

func (s *sender) observe(r asyncsink.Report) { s.throttled.Add(int64(r.Congested)) }

func (s *sender) close() {
	s.sink.Close()
	s.closeProducer()
}

func (s *sender) closeProducer() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	s.producer.Close(ctx)
}

// report carries over what happened since the last report.
func (s *sender) report(ctx context.Context) {
	throttledCounter.Inc(ctx, s.throttled.Swap(0))
	all := s.sink.Stats().Throttled.Milliseconds()
	throttledMsCounter.Inc(ctx, max(all-s.heldBack.Swap(all), 0))
}
