// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
)

// answerRows are answers that get lost or refuse.
func answerRows() []Row {
	return []Row{
		{
			Name:   "receive-answer-lost", // L46
			About:  "three answers with messages get lost; these come again when their leases end",
			Places: []Place{InProcess},
			Long:   true,
			Play:   func(ctx context.Context, s *Stage) error { return loseAnswers(ctx, s, embedded.ReceiveMessage) },
			Check:  func(v Verdict) error { return want(v.BrokerDeliveries > v.Delivered, "deliveries that nobody saw") },
		},
		{
			Name:   "ack-answer-lost",
			About:  "three answers to acks get lost; asking again is harmless",
			Places: []Place{InProcess},
			Play:   func(ctx context.Context, s *Stage) error { return loseAnswers(ctx, s, embedded.AckMessage) },
			Check:  noRestart,
		},
		{
			Name:   "change-answer-lost", // L27
			About:  "three answers to deferrals get lost; the messages come again all the same",
			Places: []Place{InProcess},
			Play: func(ctx context.Context, s *Stage) error {
				return loseAnswers(ctx, s, embedded.ChangeInvisibleDuration)
			},
			Check: func(v Verdict) error {
				return want(v.Restarts == 0 && v.Deferred > 0, "deferrals and no failed bundle")
			},
		},
		{
			Name:   "receive-answer-cut",
			About:  "three answers break off after five messages; these are worked on, the others come again",
			Places: []Place{InProcess},
			Play: func(ctx context.Context, s *Stage) error {
				for range 3 {
					s.embedded().CutReceiveAfter(5)
				}
				return s.backlog(ctx, s.config(), 200, 20)
			},
		},
		{
			Name:   "busy", // L44
			About:  "the server refuses the next 20 requests, of whatever kind, because there are too many",
			Places: []Place{InProcess},
			Play: func(ctx context.Context, s *Stage) error {
				p, err := s.crew.start(throttled(s.config()))
				if err != nil {
					return err
				}
				if err := s.publishMany(ctx, 200, 10); err != nil {
					return err
				}
				if err := s.crew.awaitInWork(ctx, p, 1); err != nil {
					return err
				}
				s.embedded().Busy(embedded.AnyMethod, 20)
				return nil
			},
			Check: noRestart,
		},
		{
			Name:   "topic-missing",
			About:  "the proxy answers ten polls in a row, twice, that the topic does not exist, as it does while the only broker restarts",
			Places: []Place{InProcess},
			Long:   true,
			Play:   missTopic,
			Check:  noRestart,
		},
	}
}

// missTopic lets the topic go missing under load. The text is that of RocketMQ
// 5.5.0.
func missTopic(ctx context.Context, s *Stage) error {
	return s.under(ctx, 2, func() error {
		for range 10 {
			s.embedded().Control(embedded.ReceiveMessage, func(context.Context, *embedded.Request) embedded.Reaction {
				return embedded.Answer(&v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{Status: &v2.Status{
					Code: v2.Code_TOPIC_NOT_FOUND, Message: "CODE: 17  DESC: No topic route info in name server for the topic: " + s.names.Topic}}})
			})
		}
		return nil
	})
}

// backlog publishes and then starts a worker, so that the first answers are full.
func (s *Stage) backlog(ctx context.Context, cfg worker.Config, n, lites int) error {
	if err := s.publishMany(ctx, n, lites); err != nil {
		return err
	}
	_, err := s.crew.start(cfg)
	return err
}

// loseAnswers carries out three requests of a kind and loses the answers.
func loseAnswers(ctx context.Context, s *Stage, m embedded.Method) error {
	const times = 3
	lost := make(chan struct{}, times)
	for range times {
		s.embedded().Control(m, func(context.Context, *embedded.Request) embedded.Reaction {
			lost <- struct{}{}
			return embedded.LoseReply()
		})
	}
	cfg := s.config()
	if m == embedded.ChangeInvisibleDuration {
		cfg = throttled(cfg)
	}
	if err := s.backlog(ctx, cfg, 200, 10); err != nil {
		return err
	}
	for range times {
		select {
		case <-lost:
		case <-ctx.Done():
			return fmt.Errorf("waiting for requests %s: %w: %s", m, ctx.Err(), s.ledger.summary())
		}
	}
	return nil
}
