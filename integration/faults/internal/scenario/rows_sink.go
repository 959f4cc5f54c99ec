// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/wire"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// sinkRows are accidents of the sink of normal topics. What the sink told to be
// written must be there in the end, and all must be written.
func sinkRows() []Row {
	return append([]Row{
		{
			Name: "write-broker-restart", About: "the broker restarts while messages are written; they wait for it",
			Places: []Place{InProcess, RealMQ}, Alone: true, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.under(ctx, s.restartBroker) },
		},
		{
			Name: "write-broker-moved", About: "the broker goes away while messages are written and comes back on another port",
			Places: []Place{InProcess, RealMQ}, Alone: true, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.under(ctx, s.moveBroker) },
		},
		{
			Name: "write-name-server-down", About: "the name server is away for some seconds while messages are written",
			Places: []Place{InProcess, RealMQ}, Alone: true, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return s.under(ctx, func(ctx context.Context) error { return nameServerDown(ctx, s.broker, s.mq, 8*time.Second) })
			},
		},
		{
			Name: "write-half-open", About: "the connections of now fall silent for ever without being closed; what was on them is sent again",
			Places: []Place{InProcess},
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return s.through(ctx, func(r *wire.Relay) { r.Strand() })
			},
		},
		{
			Name: "write-slow-network", About: "30 ms each way, 256 KiB a second, and one piece in twenty is lost and sent again",
			Places: []Place{InProcess}, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.through(ctx, s.slow) },
		},
		{
			Name: "write-full-queue", About: "the broker is too busy for the next 40 requests; they are sent again, more slowly",
			Places: []Place{InProcess}, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return s.under(ctx, func(context.Context) error { s.broker.Busy(embedded.RemotingSendBatch, 40); return nil })
			},
		},
		{
			Name: "write-disk-full", About: "the broker's disk is full for five seconds; messages wait, and none counts as written that is not",
			Places: []Place{InProcess}, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.under(ctx, s.fillDisk) },
		},
		{
			Name: "write-disk-stays-full", About: "the broker's disk is full for longer than messages wait; the bundle fails with an error that says so, and is written when there is room again",
			Places: []Place{InProcess}, Long: true,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				s.cfg.Sink.Patience = time.Second
				return s.under(ctx, s.fillDisk)
			},
			Check: func(v Verdict) error {
				return errors.Join(want(v.Restarts > 0, "a bundle that fails"), faultsSay(v, "disk is full"))
			},
		},
	}, sinksAlike("write", false)...)
}

// liteSinkRows are accidents of the sink of lite topics.
func liteSinkRows() []Row {
	rows := append([]Row{
		{
			Name: "lite-write-proxy-restart", About: "the proxy restarts while messages are written; they wait for it",
			Places: []Place{InProcess, RealMQ}, Alone: true, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.under(ctx, s.bus.RestartProxy) },
		},
		{
			Name: "lite-write-broker-restart", About: "the broker behind the proxy restarts while messages are written",
			Places: []Place{InProcess, RealMQ}, Alone: true,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.under(ctx, s.restartBroker) },
		},
		{
			Name: "lite-write-half-open", About: "the connections of now fall silent for ever without being closed; what was on them is sent again",
			Places: []Place{InProcess}, Long: true,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return s.throughLite(ctx, func(r *wire.Relay) { r.Strand() })
			},
		},
		{
			Name: "lite-write-slow-network", About: "30 ms each way, 256 KiB a second, and one piece in twenty is lost and sent again",
			Places: []Place{InProcess}, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.throughLite(ctx, s.slow) },
		},
		{
			Name: "lite-write-full-queue", About: "the broker is too busy for the next 40 requests; they are sent again, more slowly",
			Places: []Place{InProcess}, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return s.under(ctx, func(context.Context) error { s.broker.Busy(embedded.SendMessage, 40); return nil })
			},
		},
		{
			Name: "lite-write-disk-full", About: "the broker's disk is full for five seconds; a bundle that fails says so, and none counts as written that is not",
			Places:   []Place{InProcess},
			PlaySink: func(ctx context.Context, s *SinkStage) error { return s.under(ctx, s.fillDisk) },
			Check:    func(v Verdict) error { return faultsSay(v, "disk is full") },
		},
	}, sinksAlike("lite-write", true)...)
	for i := range rows {
		rows[i].SinkLite = true
	}
	return rows
}

// sinksAlike are rows of both sinks.
func sinksAlike(prefix string, lite bool) []Row {
	stopped := []Place{InProcess, RealMQ}
	return []Row{
		{
			Name: prefix + "-worker-killed", About: "the worker is killed by SIGKILL while messages are written; another one writes all of them again",
			Places: stopped,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				p, err := s.crew.start(s.cfg)
				if err != nil {
					return err
				}
				return s.underWorker(ctx, p, func(_ context.Context, p *process) error {
					s.crew.kill(p)
					s.kills++
					_, err := s.crew.start(s.cfg)
					return err
				})
			},
			Check: func(v Verdict) error {
				return want(v.Kills == 1 && v.Duplicates > 0, "a kill, and messages written twice")
			},
		},
		{
			Name: prefix + "-worker-stopped", About: "the worker stands still (SIGSTOP) for 30 s while messages are written, and goes on by itself",
			Places: stopped, Long: true, Check: noRestart,
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				p, err := s.crew.start(s.cfg)
				if err != nil {
					return err
				}
				return s.underWorker(ctx, p, standStill)
			},
		},
		{
			Name: prefix + "-acl-switched-on", Places: []Place{InProcess}, Long: true, Check: namesCredentials,
			About: "the broker begins to ask for keys while messages are written, and the worker has others; a bundle that fails says that the keys are wrong; with the right keys in the worker's file all is written",
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return withKeys(ctx, &s.cfg.Credentials, s.later, s.broker, func(accident func(context.Context) error) error { return s.under(ctx, accident) })
			},
		},
		certificateRow(Row{
			Name: prefix + "-certificate-replaced", SinkLite: lite, Long: true,
			About: "the certificate is replaced while messages are written by another good one, by one of a stranger, and by a good one again",
			PlaySink: func(ctx context.Context, s *SinkStage) error {
				return s.under(ctx, func(ctx context.Context) error { return s.certs.replace(ctx, s.broker) })
			},
		}),
	}
}

func (s *SinkStage) restartBroker(ctx context.Context) error {
	if s.mq != nil {
		return s.mq.RestartBroker(ctx)
	}
	s.broker.RestartBroker()
	return nil
}

func (s *SinkStage) moveBroker(ctx context.Context) error {
	if s.mq != nil {
		return s.mq.MoveBroker(ctx)
	}
	s.broker.StopBroker("")
	err := pause(ctx, time.Second) // in which sending fails
	s.broker.FailOver("")
	return err
}

// slow makes a relay slow and lossy.
func (s *SinkStage) slow(r *wire.Relay) {
	r.Slow(30*time.Millisecond, 256<<10)
	r.Lose(0.05, s.rng)
}

func (s *SinkStage) through(ctx context.Context, play func(*wire.Relay)) error {
	if _, err := s.client.Route(ctx, s.names.Topic); err != nil { // the row's own client goes straight
		return err
	}
	r, err := relayed(s.broker, sinkQueue)
	if err != nil {
		return err
	}
	s.close = append(s.close, func() error { r.Close(); return nil })
	return s.under(ctx, func(context.Context) error { play(r); return nil })
}

func (s *SinkStage) throughLite(ctx context.Context, play func(*wire.Relay)) error {
	r, err := wire.New(s.cfg.Endpoints)
	if err != nil {
		return err
	}
	s.close = append(s.close, func() error { r.Close(); return nil })
	s.cfg.Endpoints = r.Addr()
	return s.under(ctx, func(context.Context) error { play(r); return nil })
}

// diskFull is what a broker of 5.5.0 answers, with code 14, when its disk is full.
const diskFull = "service not available now. It may be caused by one of the following reasons: " +
	"the broker's disk is full [CL: 0.96 CQ: 0.96 INDEX: 0.96], messages are put to the slave, message store has been shut down, etc."

// fillDisk lets sends be answered for some seconds as a broker without room does.
func (s *SinkStage) fillDisk(ctx context.Context) error {
	const long = 5 * time.Second
	var removes []func()
	for _, m := range []embedded.Method{embedded.RemotingSend, embedded.RemotingSendBatch} {
		removes = append(removes, s.broker.ControlAlways(m, func(context.Context, *embedded.Request) embedded.Reaction {
			return embedded.AnswerRemoting(remoting.CodeServiceNotAvailable, diskFull, nil, nil)
		}))
	}
	removes = append(removes, s.broker.ControlAlways(embedded.SendMessage, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Answer(liteDiskFull())
	}))
	err := pause(ctx, long)
	for _, remove := range removes {
		remove()
	}
	return err
}
