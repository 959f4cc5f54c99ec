// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/wire"
)

// queueNetworkRows are bad networks between the remoting source and its broker,
// and name servers that are away.
func queueNetworkRows() []Row {
	return []Row{
		{
			Name:   "remoting-name-server-down",
			About:  "the name server is away for some seconds under load; reading goes on meanwhile and after",
			Places: []Place{InProcess, RealMQ},
			Alone:  true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error {
				return s.under(ctx, func(ctx context.Context) error { return nameServerDown(ctx, s.broker, s.mq, 8*time.Second) })
			},
			Check: noRestart,
		},
		{
			Name:   "remoting-slow-network",
			About:  "30 ms each way, 256 KiB a second, and one piece in twenty is lost and sent again",
			Places: []Place{InProcess},
			PlayQueues: func(ctx context.Context, s *QueueStage) error {
				return s.through(ctx, func(r *wire.Relay) error {
					r.Slow(30*time.Millisecond, 256<<10)
					r.Lose(0.05, s.rng)
					return nil
				})
			},
			Check: noRestart,
		},
		{
			Name:   "remoting-half-open",
			About:  "the connections of now fall silent for ever without being closed; new ones work, once the source has given the old ones up",
			Places: []Place{InProcess},
			Long:   true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error {
				return s.through(ctx, func(r *wire.Relay) error { r.Strand(); return nil })
			},
		},
	}
}

// nameServerDown stops the name server of either kind of broker for d.
func nameServerDown(ctx context.Context, b *embedded.Broker, mq nameServers, d time.Duration) error {
	if b != nil {
		b.StopNameServer()
		err := pause(ctx, d)
		b.ResumeNameServer()
		return err
	}
	if err := mq.StopNameServer(); err != nil {
		return err
	}
	return errors.Join(pause(ctx, d), mq.StartNameServer(ctx))
}

type nameServers interface {
	StopNameServer() error
	StartNameServer(context.Context) error
}

// relayed puts a relay before the broker and makes the name server tell of it in
// place of the broker. Name server and what already has a route are not affected.
func relayed(b *embedded.Broker, queues int) (*wire.Relay, error) {
	r, err := wire.New(b.BrokerAddr())
	if err != nil {
		return nil, err
	}
	type object map[string]any
	route, err := json.Marshal(object{
		"queueDatas":  []object{{"brokerName": "broker-a", "readQueueNums": queues, "writeQueueNums": queues, "perm": 6, "topicSysFlag": 0}},
		"brokerDatas": []object{{"brokerName": "broker-a", "cluster": "DefaultCluster", "brokerAddrs": object{"0": r.Addr()}}},
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	b.ControlAlways(embedded.RemotingRoute, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.AnswerRemoting(0, "", nil, route)
	})
	return r, nil
}

// through puts a relay between worker and broker and lets play make it bad in
// mid-run.
func (s *QueueStage) through(ctx context.Context, play func(*wire.Relay) error) error {
	if err := s.shape(ctx, readerQueues); err != nil {
		return err
	}
	if _, err := s.client.Route(ctx, s.names.Topic); err != nil { // the row's own client goes straight
		return err
	}
	r, err := relayed(s.broker, readerQueues)
	if err != nil {
		return err
	}
	s.close = append(s.close, func() error { r.Close(); return nil })
	return s.under(ctx, func(context.Context) error { return play(r) })
}
