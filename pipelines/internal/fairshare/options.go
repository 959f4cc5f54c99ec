// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fairshare is the demonstration of fair shares: many tenants share a
// main topic and a pipeline of limited capacity, one of them floods it, and a
// quota per tenant keeps the others' latency low without losing a message.
package fairshare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/load"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/report"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/runnerflag"
)

// Options say what to run and where.
type Options struct {
	// Endpoints are the proxies of a real cluster; empty means that a broker is
	// started inside the program.
	Endpoints, Namespace string
	Topic, Group         string
	Connection           litegrpc.Settings

	// Runner is where the pipeline runs.
	Runner runnerflag.Choice

	Load load.Shape
	// Work is how long the work on a message takes, Workers how many messages
	// are worked on at the same time.
	Work    time.Duration
	Workers int

	// Quota is how many messages of a tenant pass in each Window; the rest is
	// delivered again after about Defer.
	Quota         int
	Window, Defer time.Duration
	// InvisibleDuration is the lease of a delivery.
	InvisibleDuration time.Duration

	// Legs are the names of the legs in their order.
	Legs []string
	// DrainTimeout bounds the wait, after the load has ended, for what is left.
	DrainTimeout time.Duration
	// Plot is where the picture goes.
	Plot string
}

// Defaults are chosen so that the flood alone is more than the capacity, the
// calm tenants together a fifth of it, and both legs end within a minute.
func Defaults() Options {
	return Options{
		Topic: "fairshare", Group: "fairshare-workers",
		Load: load.Shape{
			Tenants: 20, Sessions: 1, NoisySessions: 100,
			CalmRate: 3, NoisyRate: 500, Duration: 6 * time.Second, Seed: 1,
		},
		Work: 25 * time.Millisecond, Workers: 8,
		Quota: 80, Window: 500 * time.Millisecond, Defer: 5 * time.Second,
		InvisibleDuration: time.Minute,
		Legs:              []string{report.NameNone, report.NameFair},
		DrainTimeout:      2 * time.Minute,
		Plot:              filepath.Join(os.TempDir(), "fairshare.svg"),
	}
}

// Capacity is how many messages a second the work can take.
func (o *Options) Capacity() float64 { return float64(o.Workers) / o.Work.Seconds() }

// QuotaRate is how many messages a second of one tenant the policy lets pass.
func (o *Options) QuotaRate() float64 { return float64(o.Quota) / o.Window.Seconds() }

// CalmRate is that of all calm tenants together.
func (o *Options) CalmRate() float64 { return float64(o.Load.Tenants) * o.Load.CalmRate }

// mostMessages bounds a leg: each message is followed by its id.
const mostMessages = 1_000_000

// Check refuses options that cannot work. Its error names, one a line, each flag
// that is wrong and its value.
func (o *Options) Check() error {
	faults := []error{o.checkConnection(), o.Runner.Check(), o.checkLoad(), o.checkPipeline(), o.checkLegs(), o.checkPlot()}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if n := o.Load.Total(); n > mostMessages {
		return fmt.Errorf("--noisy-rate %v, --calm-rate %v, --tenants %d and --duration %v make %d messages: want %d at most",
			o.Load.NoisyRate, o.Load.CalmRate, o.Load.Tenants, o.Load.Duration, n, mostMessages)
	}
	return nil
}

func (o *Options) checkConnection() error {
	var faults []error
	if o.Endpoints != "" {
		if _, err := litegrpc.ParseEndpoints(o.Endpoints); err != nil {
			faults = append(faults, fmt.Errorf("--endpoints: %w", err))
		}
	} else if o.Connection.TLS != (auth.TLS{}) {
		return errors.New("--tls, --tls-ca, --tls-server-name, --tls-skip-verify need --endpoints: the broker inside the program speaks plain text")
	}
	faults = append(faults, flagged("--topic", names.CheckTopic(o.Topic)), flagged("--group", names.CheckGroup(o.Group)))
	faults = append(faults, flagged("--credentials", o.Connection.Credentials.Check()))
	if err := o.Connection.TLS.Check(); err != nil {
		faults = append(faults, fmt.Errorf("--tls, --tls-ca, --tls-server-name, --tls-skip-verify: %w", err))
	} else if _, err := o.Connection.TLS.Config(); err != nil {
		faults = append(faults, fmt.Errorf("--tls-ca: %w", err))
	}
	return errors.Join(faults...)
}

func flagged(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

func (o *Options) checkLoad() error {
	l := o.Load
	return errors.Join(
		within("--tenants", l.Tenants, 1, 1000),
		within("--sessions", l.Sessions, 1, 1000),
		within("--noisy-sessions", l.NoisySessions, 1, 10_000),
		within("--calm-rate", l.CalmRate, 0.01, 10_000),
		within("--noisy-rate", l.NoisyRate, 0.01, 100_000),
		within("--duration", l.Duration, 500*time.Millisecond, time.Hour),
	)
}

func (o *Options) checkPipeline() error {
	return errors.Join(
		within("--work", o.Work, time.Millisecond, time.Minute),
		within("--workers", o.Workers, 1, 10_000),
		within("--quota", o.Quota, 1, 1_000_000),
		within("--window", o.Window, 10*time.Millisecond, time.Minute),
		within("--defer", o.Defer, 2*time.Second, 30*time.Minute),
		within("--invisible-duration", o.InvisibleDuration, litegrpc.MinInvisibleDuration, litegrpc.MaxInvisibleDuration),
		within("--drain-timeout", o.DrainTimeout, time.Second, 24*time.Hour),
	)
}

func (o *Options) checkLegs() error {
	if len(o.Legs) == 0 {
		return errors.New(`--legs is empty: want "none,fair", one of them, or the other order`)
	}
	for i, leg := range o.Legs {
		if leg != report.NameNone && leg != report.NameFair {
			return fmt.Errorf("--legs: there is no leg %q: want none, fair, or both", leg)
		}
		if slices.Contains(o.Legs[:i], leg) {
			return fmt.Errorf("--legs: %s is named twice in %q", leg, strings.Join(o.Legs, ","))
		}
	}
	return nil
}

// checkPlot finds out before the run, and not after it, that the plot cannot be
// written.
func (o *Options) checkPlot() error {
	if o.Plot == "" {
		return errors.New("--plot is empty: want the path of the SVG file to write")
	}
	folder := filepath.Dir(o.Plot)
	if info, err := os.Stat(folder); err != nil {
		return fmt.Errorf("--plot %q: %w", o.Plot, err)
	} else if !info.IsDir() {
		return fmt.Errorf("--plot %q: %s is no folder", o.Plot, folder)
	}
	_, err := os.Stat(o.Plot)
	f, openErr := os.OpenFile(o.Plot, os.O_WRONLY|os.O_CREATE, 0o644)
	if openErr != nil {
		return fmt.Errorf("--plot %q: %w", o.Plot, openErr)
	}
	closeErr := f.Close()
	if errors.Is(err, os.ErrNotExist) { // it was made to try
		return errors.Join(closeErr, os.Remove(o.Plot))
	}
	return closeErr
}

// within refuses values out of range. NaN is out of every range.
func within[T int | float64 | time.Duration](flag string, v, low, high T) error {
	if v >= low && v <= high {
		return nil
	}
	return fmt.Errorf("%s %v: want %v to %v", flag, v, low, high)
}

// Doubts lists why these options, though possible, would show little.
func (o *Options) Doubts() []string {
	var out []string
	capacity, calm := o.Capacity(), o.CalmRate()
	if calm >= capacity {
		out = append(out, fmt.Sprintf("the calm tenants alone (%.0f msg/s) are more than the capacity (--workers / --work = %.0f msg/s): no policy can help", calm, capacity))
	}
	if calm+o.Load.NoisyRate <= capacity {
		out = append(out, fmt.Sprintf("all tenants together (%.0f msg/s) fit into the capacity (%.0f msg/s): there is nothing to be fair about", calm+o.Load.NoisyRate, capacity))
	}
	if calm < capacity && calm+o.QuotaRate() > capacity {
		out = append(out, fmt.Sprintf("the quota (%.0f msg/s) and the calm tenants (%.0f msg/s) are more than the capacity (%.0f msg/s): lower --quota", o.QuotaRate(), calm, capacity))
	}
	return out
}
