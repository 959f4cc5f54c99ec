// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scenario is the table of accidents that the sources, throttle and ack
// must come through without losing a message, and the runner of its rows.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/bus"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
)

// Place is where a row runs.
type Place string

// The places.
const (
	// InProcess is an embedded broker in this process, beside the workers'.
	InProcess Place = "embedded"
	// OwnProcess is an embedded broker in a process of its own.
	OwnProcess Place = "embedded-process"
	// RealMQ is a real RocketMQ.
	RealMQ Place = "real"
)

// Row is one accident.
type Row struct {
	Name string
	// About says in one sentence what happens and what must come of it.
	About string
	// Places are where it runs.
	Places []Place
	// Long rows take up to a minute or more and run on demand only.
	Long bool
	// Alone rows disturb others on the same real cluster.
	Alone bool
	// Certificates makes an embedded broker speak TLS only, see certificates.
	Certificates bool
	// SkewClock gives the embedded broker a clock of its own, see skewed.
	SkewClock bool
	// Options are further ones for an embedded broker.
	Options []embedded.Option
	// Play starts workers, publishes, and brings the accident about. It returns
	// when that is over; the rest, up to the last ack, is for the runner.
	Play func(context.Context, *Stage) error
	// PlayQueues is that of a row of the remoting source, in place of Play.
	PlayQueues func(context.Context, *QueueStage) error
	// PlaySink is that of a row of a sink, of lite topics if SinkLite says so.
	PlaySink func(context.Context, *SinkStage) error
	SinkLite bool
	// Check looks at a verdict without losses for what else must hold.
	Check func(Verdict) error
}

// Settings are those of a run.
type Settings struct {
	// Seed makes the random moments; the same seed does not make the same run,
	// for the rest is up to the scheduler.
	Seed uint64
	// Cluster is the real RocketMQ, for rows that need one.
	Cluster *realmq.Cluster
	// Log takes a line of progress.
	Log func(format string, args ...any)
}

// rowTimeout bounds a row, which takes 5 to 60 s on two free cores.
const rowTimeout = 4 * time.Minute

// Run runs a row at a place. What goes wrong stands in the verdict.
func Run(ctx context.Context, row Row, place Place, set Settings) Verdict {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, rowTimeout)
	defer cancel()
	switch {
	case row.PlayQueues != nil:
		return runQueues(ctx, row, place, set)
	case row.PlaySink != nil:
		return runSink(ctx, row, place, set)
	}
	s := &Stage{
		target: string(place), seed: set.Seed, rng: rand.New(rand.NewPCG(set.Seed, hash(row.Name+string(place)))), log: set.Log,
		ledger: newLedger(), names: bus.Names{Topic: "faults-" + row.Name, Group: "faults-" + row.Name + "-group"}, lites: map[string]bool{},
	}
	s.crew = newCrew(s.ledger)
	err := s.open(ctx, row, place, set.Cluster)
	if err == nil {
		err = errors.Join(s.run(ctx, row), s.bus.Close())
	}
	v := s.verdict(row, begin)
	if err == nil && v.Lost == 0 && row.Check != nil {
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

func hash(s string) (h uint64) {
	for _, b := range []byte(s) {
		h = h*1099511628211 + uint64(b)
	}
	return h
}

// Stage is what a row plays on.
type Stage struct {
	target string
	seed   uint64
	rng    *rand.Rand
	log    func(string, ...any)
	bus    bus.Bus
	names  bus.Names
	ledger *ledger
	crew   *crew
	lites  map[string]bool // published to
	atEnd  []func()        // what Play leaves to be closed

	kills, inWork int
	recovery      recovery
	skew          *skewed // of rows with SkewClock
	credentials   string
	tls           auth.TLS
	certs         *certificates // of rows with Certificates
	account       bus.Account
}

func (s *Stage) open(ctx context.Context, row Row, place Place, mq *realmq.Cluster) (err error) {
	switch place {
	case InProcess:
		var opts []embedded.Option
		if opts, err = s.options(row); err == nil {
			s.bus = bus.NewEmbedded(ctx, s.names, opts...)
		}
	case OwnProcess:
		s.bus, err = bus.NewProcess(s.names)
	case RealMQ:
		s.bus, err = bus.NewReal(ctx, mq, s.names)
	default:
		err = fmt.Errorf("no such place: %q", place)
	}
	return err
}

// options are those of an embedded broker.
func (s *Stage) options(row Row) ([]embedded.Option, error) {
	opts := slices.Clone(row.Options)
	if row.SkewClock {
		s.skew = newSkewed()
		s.atEnd = append(s.atEnd, s.skew.close)
		opts = append(opts, embedded.WithClock(s.skew.clock))
	}
	if !row.Certificates {
		return opts, nil
	}
	var err error
	if s.certs, err = newCertificates(); err != nil {
		return nil, err
	}
	s.tls = s.certs.tls
	s.atEnd = append(s.atEnd, func() { _ = s.certs.close() }) // a scratch folder
	return append(opts, s.certs.option()), nil
}

func (s *Stage) run(ctx context.Context, row Row) error {
	defer func() {
		s.crew.abort()
		for _, do := range s.atEnd {
			do()
		}
	}()
	if err := row.Play(ctx, s); err != nil {
		return err
	}
	return s.finish(ctx)
}

// finish brings the row to its end. One message more to each lite topic shows
// that none of them stands still. When all has been worked on and the workers
// know of all their acks, they are told to end, and the broker is asked.
func (s *Stage) finish(ctx context.Context) error {
	for lite := range s.lites {
		if err := s.publish(ctx, lite); err != nil {
			return err
		}
	}
	if err := s.bus.AwaitAcked(ctx); err != nil {
		return fmt.Errorf("%w: %s", err, s.ledger.summary())
	}
	err := s.ledger.await(ctx, "everything to be worked on and acked", func() bool {
		// A worker that was killed may not have told of an ack.
		return len(s.ledger.missing()) == 0 && s.crew.idle() && (s.kills > 0 || len(s.ledger.owed) == 0)
	})
	if err != nil {
		return err
	}
	if err := s.crew.end(); err != nil {
		return err
	}
	var lites []string
	for lite := range s.lites {
		lites = append(lites, lite)
	}
	s.account, err = s.bus.Audit(ctx, lites)
	return err
}

// embedded is the broker of a row that runs in this process.
func (s *Stage) embedded() *bus.Embedded { return s.bus.(*bus.Embedded) }

// config is what workers do unless a row changes it.
func (s *Stage) config() worker.Config {
	return worker.Config{
		Endpoints: s.bus.Endpoints(), Topic: s.names.Topic, Group: s.names.Group,
		Lease: litegrpc.MinInvisibleDuration, Work: 2 * time.Millisecond, Fetch: 2, Batch: 32, Timeout: time.Second,
		Credentials: s.credentials, TLS: s.tls,
	}
}

// publish publishes one message.
func (s *Stage) publish(ctx context.Context, lite string) error {
	id, err := s.bus.Publish(ctx, lite, []byte("a message of "+lite))
	if err != nil {
		return fmt.Errorf("publishing to %s: %w", lite, err)
	}
	s.ledger.change(func() { s.lites[lite], s.ledger.published[id] = true, true })
	return nil
}

// publishMany publishes n messages over so many lite topics.
func (s *Stage) publishMany(ctx context.Context, n, lites int) error {
	for i := range n {
		if err := s.publish(ctx, fmt.Sprintf("lite-%d", i%lites)); err != nil {
			return err
		}
	}
	return nil
}

// load publishes a message at each interval, over so many lite topics, until
// stop is called, which returns what went wrong.
func (s *Stage) load(ctx context.Context, interval time.Duration, lites int) (stop func() error) {
	over := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-over:
				ended <- nil
				return
			case <-ctx.Done():
				ended <- nil
				return
			case <-tick.C:
			}
			if err := s.publish(ctx, fmt.Sprintf("lite-%d", i%lites)); err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error {
		close(over)
		return <-ended
	}
}

// awaitDelivered waits until n messages, repetitions not counted, have reached
// the work step.
func (s *Stage) awaitDelivered(ctx context.Context, n int) error {
	return s.ledger.await(ctx, fmt.Sprintf("%d messages delivered", n), func() bool { return len(s.ledger.delivered) >= n })
}
