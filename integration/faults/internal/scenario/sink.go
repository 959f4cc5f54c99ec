// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/bus"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

const (
	// sinkCount messages are written at one each sinkEvery, which is long enough
	// for an accident in the middle.
	sinkCount = 1200
	sinkEvery = 4 * time.Millisecond
	// sinkAhead is more than a sink takes before it makes its input wait.
	sinkAhead = 150
	sinkQueue = 8
)

// SinkStage is what a row of a sink plays on: a worker that writes numbered
// messages. Bundles that fail are written again from the first message on.
type SinkStage struct {
	rng      *rand.Rand
	names    bus.Names
	lite     bool
	ledger   *ledger
	crew     *crew
	cfg      worker.Config
	broker   *embedded.Broker // nil on a real RocketMQ
	mq       *realmq.Cluster  // nil on an embedded one
	bus      bus.Bus          // of lite topics
	client   *remoting.Client // of normal ones
	close    []func() error
	kills    int
	recovery recovery
	certs    *certificates
}

func runSink(ctx context.Context, row Row, place Place, set Settings) Verdict {
	begin := time.Now()
	names := bus.Names{Topic: "faults-" + row.Name, Group: "faults-" + row.Name + "-group"}
	s := &SinkStage{
		rng: rand.New(rand.NewPCG(set.Seed, hash(row.Name+string(place)))), names: names, lite: row.SinkLite, ledger: newLedger(),
		cfg: worker.Config{Topic: names.Topic, Timeout: time.Second,
			Sink: &worker.Sink{Lite: row.SinkLite, Count: sinkCount, Every: sinkEvery}},
	}
	s.crew = newCrew(s.ledger)
	v := Verdict{Row: row.Name, Target: string(place), Seed: set.Seed, BrokerDeliveries: -1, StaleAcks: -1, Published: sinkCount}
	err := s.open(ctx, place, row, set.Cluster)
	if err == nil {
		err = row.PlaySink(ctx, s)
	}
	if err == nil {
		err = s.ledger.await(ctx, "everything to be written", func() bool { return len(s.ledger.written) == sinkCount })
	}
	s.crew.abort()
	if s.client != nil || s.bus != nil {
		err = errors.Join(err, s.audit(context.WithoutCancel(ctx), &v))
	}
	for i := len(s.close) - 1; i >= 0; i-- {
		err = errors.Join(err, s.close[i]())
	}
	v.Kills, v.Recovery, v.Seconds = s.kills, s.recovery.seconds(), time.Since(begin).Seconds()
	s.ledger.see(func() { v.Restarts, v.Faults = len(s.ledger.faults), s.ledger.faults })
	if err == nil && row.Check != nil {
		err = row.Check(v)
	}
	if err == nil && v.Lost > 0 {
		err = fmt.Errorf("lost %d messages", v.Lost)
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

func (s *SinkStage) open(ctx context.Context, place Place, row Row, mq *realmq.Cluster) (err error) {
	nameServer := ""
	opts := slices.Clone(row.Options)
	if row.Certificates {
		if s.certs, err = newCertificates(); err != nil {
			return err
		}
		s.cfg.TLS = s.certs.tls
		s.close = append(s.close, s.certs.close)
		opts = append(opts, s.certs.option())
	}
	switch place {
	case InProcess:
		if s.lite {
			b := bus.NewEmbedded(ctx, s.names, opts...)
			s.broker, s.bus = b.Broker, b
		} else {
			s.broker = embedded.Start(ctx, append([]embedded.Option{embedded.WithQueues(sinkQueue), embedded.WithNormalTopic(s.names.Topic)}, opts...)...)
		}
		s.close = append(s.close, func() error { s.broker.Close(); return nil })
		nameServer = s.broker.NameServer()
	case RealMQ:
		s.mq, nameServer = mq, mq.NameServer()
		if s.lite {
			if s.bus, err = bus.NewReal(ctx, mq, s.names); err == nil {
				s.close = append(s.close, s.bus.Close)
			}
		} else {
			err = mq.CreateTopic(ctx, s.names.Topic, realmq.Normal, realmq.Queues(sinkQueue))
		}
	default:
		err = fmt.Errorf("no such place: %q", place)
	}
	if err != nil {
		return err
	}
	if s.lite {
		s.cfg.Endpoints = s.bus.Endpoints()
		return nil
	}
	s.cfg.Sink.NameServer = nameServer
	s.client, err = remoting.NewClient(remoting.Config{NameServers: nameServer, Credentials: ownKeys, TLS: s.cfg.TLS})
	if err == nil {
		s.close = append(s.close, s.client.Close)
	}
	return err
}

// under brings an accident about when a random part of the messages has gone to
// the sink, and waits until so many more have that the sink must have written
// some since.
func (s *SinkStage) under(ctx context.Context, accident func(context.Context) error) error {
	p, err := s.crew.start(s.cfg)
	if err != nil {
		return err
	}
	return s.underWorker(ctx, p, func(ctx context.Context, _ *process) error { return accident(ctx) })
}

func (s *SinkStage) underWorker(ctx context.Context, p *process, accident func(context.Context, *process) error) error {
	after := 100 + s.rng.IntN(300)
	if err := s.awaitEmitted(ctx, after); err != nil {
		return err
	}
	if err := accident(ctx, p); err != nil {
		return err
	}
	begin := time.Now()
	before := 0
	s.ledger.see(func() { before = len(s.ledger.emitted) })
	err := s.awaitEmitted(ctx, min(before+sinkAhead, sinkCount))
	s.recovery.add(time.Since(begin))
	return err
}

func (s *SinkStage) awaitEmitted(ctx context.Context, n int) error {
	return s.ledger.await(ctx, fmt.Sprintf("%d messages to go to the sink", n), func() bool { return len(s.ledger.emitted) >= n })
}

// audit compares what the sink told with what the broker has.
func (s *SinkStage) audit(ctx context.Context, v *Verdict) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	stored, err := s.stored(ctx)
	if err != nil {
		return fmt.Errorf("reading what was written: %w", err)
	}
	for _, n := range stored {
		v.Delivered += n
	}
	v.Distinct = len(stored)
	v.Duplicates = v.Delivered - v.Distinct
	s.ledger.see(func() {
		v.AckedTold = len(s.ledger.written)
		for i := range sinkCount {
			number := fmt.Sprint(i)
			id := number
			if s.lite {
				id = s.ledger.written[number]
			}
			if stored[id] == 0 {
				v.Lost++
			}
		}
	})
	if s.lite { // ids differ from one repetition of a bundle to the next
		v.Distinct = sinkCount - v.Lost
		v.Duplicates = v.Delivered - v.Distinct
	}
	return nil
}

// stored is how often the broker has each message, by body, or by id for lite
// topics.
func (s *SinkStage) stored(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	if !s.lite {
		return out, s.pullAll(ctx, out)
	}
	if s.broker != nil {
		for _, m := range s.broker.Messages(s.names.Topic) {
			out[m.ID]++
		}
		return out, nil
	}
	var lites []string
	for i := range worker.SinkLites {
		lites = append(lites, fmt.Sprintf("lite-%d", i))
	}
	a, err := s.bus.Audit(ctx, lites) // which takes what nobody has acknowledged
	for _, id := range a.Unacked {
		out[id]++
	}
	return out, err
}

func (s *SinkStage) pullAll(ctx context.Context, out map[string]int) error {
	route, err := s.client.Route(ctx, s.names.Topic)
	if err != nil {
		return err
	}
	for _, q := range route.Readable() {
		end, err := s.client.MaxOffset(ctx, q)
		if err != nil {
			return err
		}
		for at := int64(0); at < end; {
			r, err := s.client.Pull(ctx, remoting.PullRequest{Queue: q, Group: s.names.Group, Offset: at})
			if err != nil {
				return err
			}
			if r.Next <= at {
				return fmt.Errorf("queue %d stands at %d of %d", q.ID, at, end)
			}
			at = r.Next
			for _, m := range r.Messages {
				out[string(m.Body)]++
			}
		}
	}
	return nil
}
