// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/bus"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// QueueStage is what a row of the remoting source plays on: a normal topic, and
// workers that read it from the committed offsets on.
type QueueStage struct {
	rng    *rand.Rand
	log    func(string, ...any)
	names  bus.Names
	ledger *ledger
	crew   *crew
	handed *handed
	client *remoting.Client

	// nameServer is where; mq or broker is what, or neither for a broker in a
	// process of its own.
	nameServer string
	mq         *realmq.Cluster
	broker     *embedded.Broker
	// credentials and tls are what workers are given, see [worker.Config].
	credentials string
	tls         auth.TLS
	close       []func() error

	published  atomic.Int64 // bodies are numbers from 0 on
	committed  map[int]int64
	kills      int
	repeatable int64
	recovery   recovery
	skew       *skewed // of rows with SkewClock
	certs      *certificates
}

func runQueues(ctx context.Context, row Row, place Place, set Settings) Verdict {
	begin := time.Now()
	names := bus.Names{Topic: "faults-" + row.Name, Group: "faults-" + row.Name + "-group"}
	s := &QueueStage{
		rng: rand.New(rand.NewPCG(set.Seed, hash(row.Name+string(place)))), log: set.Log, names: names,
		ledger: newLedger(), committed: map[int]int64{},
	}
	s.crew = newCrew(s.ledger)
	err := s.open(ctx, place, row, set.Cluster)
	v := Verdict{Row: row.Name, Target: string(place), Seed: set.Seed, BrokerDeliveries: -1, StaleAcks: -1}
	if err == nil {
		err = row.PlayQueues(ctx, s)
	}
	if err == nil {
		v.Uncommitted, err = s.finish(ctx)
	}
	s.crew.abort()
	for _, c := range s.close {
		err = errors.Join(err, c())
	}
	s.fill(&v)
	v.Seconds, v.Recovery = time.Since(begin).Seconds(), s.recovery.seconds()
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

func (s *QueueStage) open(ctx context.Context, place Place, row Row, mq *realmq.Cluster) error {
	switch place {
	case InProcess:
		opts, err := s.options(row)
		if err != nil {
			return err
		}
		s.broker = embedded.Start(ctx, opts...)
		s.nameServer = s.broker.NameServer()
		s.close = append(s.close, func() error { s.broker.Close(); return nil })
	case OwnProcess:
		p, err := bus.NewProcess(bus.Names{Topic: s.names.Topic + "-lite", Group: s.names.Group + "-lite"})
		if err != nil {
			return err
		}
		s.close = append(s.close, p.Close)
		if s.nameServer, err = p.NameServer(); err != nil {
			return err
		}
	case RealMQ:
		s.mq, s.nameServer = mq, mq.NameServer()
		if err := mq.CreateGroup(ctx, s.names.Group); err != nil {
			return err
		}
	default:
		return fmt.Errorf("no such place: %q", place)
	}
	client, err := remoting.NewClient(remoting.Config{NameServers: s.nameServer, Credentials: ownKeys, TLS: s.tls})
	if err != nil {
		return err
	}
	s.client = client
	dir, err := os.MkdirTemp("", "faults-queues-")
	if err != nil {
		return err
	}
	s.handed = newHanded(filepath.Join(dir, "handed"))
	// In reverse: the client before what it is connected to.
	s.close = append([]func() error{client.Close, func() error { return os.RemoveAll(dir) }}, s.close...)
	return nil
}

// options are those of an embedded broker.
func (s *QueueStage) options(row Row) ([]embedded.Option, error) {
	opts := slices.Clone(row.Options)
	if row.SkewClock {
		s.skew = newSkewed()
		opts = append(opts, embedded.WithClock(s.skew.clock))
		s.close = append(s.close, func() error { s.skew.close(); return nil })
	}
	if !row.Certificates {
		return opts, nil
	}
	var err error
	if s.certs, err = newCertificates(); err != nil {
		return nil, err
	}
	s.tls = s.certs.tls
	s.close = append(s.close, s.certs.close)
	return append(opts, s.certs.option()), nil
}

// config is what workers do.
func (s *QueueStage) config(rate float64) worker.Config {
	return worker.Config{Topic: s.names.Topic, Group: s.names.Group, Timeout: time.Second,
		Queues: &worker.Queues{NameServer: s.nameServer, File: s.handed.path, Rate: rate}, Credentials: s.credentials, TLS: s.tls}
}

// shape gives the topic so many queues and waits for its route.
func (s *QueueStage) shape(ctx context.Context, queues int) error {
	if s.mq != nil {
		return s.mq.CreateTopic(ctx, s.names.Topic, realmq.Normal, realmq.Queues(queues))
	}
	return s.client.CreateTopic(ctx, remoting.TopicConfig{Name: s.names.Topic, ReadQueues: queues, WriteQueues: queues})
}

func (s *QueueStage) queue(id int) remoting.Queue {
	return remoting.Queue{Topic: s.names.Topic, Broker: "broker-a", ID: id}
}

// publishAll stores n messages in so many queues in turn, quickly.
func (s *QueueStage) publishAll(ctx context.Context, n, queues int) error {
	batches := make([][]*remoting.OutMessage, queues)
	for range n {
		i := s.published.Add(1) - 1
		id := int(i) % queues
		batches[id] = append(batches[id], &remoting.OutMessage{Body: fmt.Append(nil, i)})
	}
	const most = 500 // a batch
	for id, batch := range batches {
		for len(batch) > 0 {
			k := min(len(batch), most)
			if _, err := s.client.SendBatch(ctx, s.queue(id), "producers", batch[:k]); err != nil {
				return fmt.Errorf("publishing: %w", err)
			}
			batch = batch[k:]
		}
	}
	return nil
}

// publish stores one message in a queue. It tries until ctx ends: a message that
// was stored although its answer was lost then stands there twice.
func (s *QueueStage) publish(ctx context.Context, id int) error {
	m := &remoting.OutMessage{Body: fmt.Append(nil, s.published.Load())}
	for {
		_, err := s.client.Send(ctx, s.queue(id), "producers", m)
		if err == nil {
			s.published.Add(1)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("publishing: %w", err)
		case <-time.After(100 * time.Millisecond): // between two tries
		}
	}
}

// load publishes a message each 5 ms, to so many queues in turn, until stop is
// called, which returns what went wrong.
func (s *QueueStage) load(ctx context.Context, queues int) (stop func() error) {
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-over:
				ended <- nil
				return
			case <-ctx.Done():
				ended <- ctx.Err()
				return
			case <-tick.C:
			}
			if err := s.publish(ctx, i%queues); err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error { close(over); return <-ended }
}

// await waits until cond holds, which is asked again when a worker has noted
// something.
func (s *QueueStage) await(ctx context.Context, what string, cond func() bool) error {
	var bad error
	err := s.ledger.await(ctx, what, func() bool {
		bad = s.handed.read()
		return bad != nil || cond()
	})
	return errors.Join(bad, err)
}

// awaitAll waits until all that was published was handed on.
func (s *QueueStage) awaitAll(ctx context.Context) error {
	return s.await(ctx, "all messages", func() bool { return s.handed.distinct() >= int(s.published.Load()) })
}

// kill kills a worker and judges what is committed then.
func (s *QueueStage) kill(ctx context.Context, p *process) error {
	s.crew.kill(p)
	s.kills++
	n, err := s.judge(ctx)
	s.repeatable += n
	return err
}

// judge compares the group's offsets with what was handed on. No worker runs.
func (s *QueueStage) judge(ctx context.Context) (uncovered int64, err error) {
	offsets, err := s.offsets(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.handed.read(); err != nil {
		return 0, err
	}
	for id, now := range offsets {
		n, err := s.handed.judge(id, s.committed[id], now)
		if err != nil {
			return 0, err
		}
		uncovered += n
		s.committed[id] = now
	}
	return uncovered, nil
}

// offsets are what the group has committed, 0 for nothing.
func (s *QueueStage) offsets(ctx context.Context) (map[int]int64, error) {
	route, err := s.client.Route(ctx, s.names.Topic)
	if err != nil {
		return nil, err
	}
	out := map[int]int64{}
	for _, q := range route.Readable() {
		if out[q.ID], _, err = s.client.QueryCommitted(ctx, q, s.names.Group); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// uncommitted is how many messages the group's offsets do not cover.
func (s *QueueStage) uncommitted(ctx context.Context) (n int64, err error) {
	offsets, err := s.offsets(ctx)
	if err != nil {
		return 0, err
	}
	for id, at := range offsets {
		end, err := s.client.MaxOffset(ctx, s.queue(id))
		if err != nil {
			return 0, err
		}
		n += end - at
	}
	return n, nil
}

// finish waits until all was handed on and committed.
func (s *QueueStage) finish(ctx context.Context) (int64, error) {
	if err := s.awaitAll(ctx); err != nil {
		return 0, err
	}
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		n, err := s.uncommitted(ctx)
		if err != nil {
			return n, err
		}
		if n == 0 {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond): // between two looks
		case <-ctx.Done():
			return n, fmt.Errorf("%d messages were handed on and not committed in %v", n, patience)
		}
	}
	if err := s.crew.end(); err != nil {
		return 0, err
	}
	return s.judge(ctx)
}

// fill adds up what is known. The identity of a message is its body.
func (s *QueueStage) fill(v *Verdict) {
	v.Published = int(s.published.Load())
	v.Kills, v.Repeatable = s.kills, s.repeatable
	s.ledger.see(func() { v.Restarts, v.Faults = len(s.ledger.faults), s.ledger.faults })
	if s.handed == nil {
		return
	}
	s.handed.mu.Lock()
	defer s.handed.mu.Unlock()
	v.Delivered = s.handed.count
	for _, q := range s.handed.queues {
		v.Distinct += len(q.seen)
	}
	v.Duplicates = v.Delivered - v.Distinct
	for i := range v.Published {
		if !s.handed.bodies[fmt.Sprint(i)] {
			v.Lost++
		}
	}
}
