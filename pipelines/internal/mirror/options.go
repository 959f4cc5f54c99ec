// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mirror copies the messages of normal topics to normal topics, and those
// of lite topics to lite topics, from one cluster to another.
package mirror

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/location"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/runnerflag"
)

// Cluster is one end of a mirror. Of lite topics, Address are the endpoints of
// proxies; of normal ones, name servers.
type Cluster struct {
	Address, Topic, Namespace string
	// Credentials is the resolver of the keys; empty: requests are not signed.
	Credentials string
	TLS         auth.TLS
}

// Options say what to copy, and how.
type Options struct {
	Lite     bool
	From, To Cluster
	// Group is the consumer group whose offsets are committed, or which receives.
	Group string
	// Tags and SQL select messages; at most one of them. Nil means all tags.
	Tags []string
	SQL  string
	// Start is committed, earliest, latest or an instant; Stop never, latest or an
	// instant. Of normal topics only.
	Start, Stop string
	// IdleTimeout ends the mirror of lite topics when nothing came for so long; 0:
	// never.
	IdleTimeout time.Duration
	// Guarantee is none or at-least-once.
	Guarantee string
	// BornProperty is the property that gets the instant at which a message was
	// made, in RFC 3339; empty: none.
	BornProperty string
	// InvisibleDuration is how long a delivery of a lite topic's message may take
	// to be copied.
	InvisibleDuration time.Duration
	Runner            runnerflag.Choice
}

// The values of options.
const (
	fromCommitted, fromEarliest, fromLatest = "committed", "earliest", "latest"
	toNever, toLatest                       = "never", "latest"
	guaranteeNone, guaranteeAtLeastOnce     = "none", "at-least-once"
)

// Defaults copy normal topics from what is committed on, or from their beginning,
// at least once and without end.
func Defaults() Options {
	return Options{Group: "beam-mirror", Start: fromCommitted, Stop: toNever, Guarantee: guaranteeAtLeastOnce, InvisibleDuration: time.Minute}
}

// Check refuses options that cannot work. Its error names each flag that is wrong.
func (o *Options) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if at, same := o.From.location(o.Lite).Same(o.To.location(o.Lite)); same {
		fault("--from and --to are both topic %q at %s: it would be copied for ever", o.To.Topic, at)
	}
	if len(o.Tags) > 0 && o.SQL != "" {
		fault("--tags %s and --sql %q: give one of them", strings.Join(o.Tags, ","), o.SQL)
	}
	if o.Tags != nil && (len(o.Tags) == 0 || slices.Contains(o.Tags, "")) {
		fault("--tags %q: a tag is empty; leave --tags out to copy all", strings.Join(o.Tags, ","))
	}
	switch o.Guarantee {
	case guaranteeNone, guaranteeAtLeastOnce:
	case "exactly-once":
		fault("--guarantee exactly-once: a mirror promises none or at-least-once; copies have the unique keys of their originals, by which consumers recognise repetitions")
	default:
		fault("--guarantee %q: want none or at-least-once", o.Guarantee)
	}
	faults = append(faults, o.checkEnds(), o.checkKind(), checkBorn(o.BornProperty), o.Runner.Check())
	return errors.Join(faults...)
}

// location is where the cluster's topic is.
func (c *Cluster) location(lite bool) location.Topic {
	return location.Topic{Lite: lite, Address: c.Address, Namespace: c.Namespace, Name: c.Topic}
}

// checkKind refuses what the kind of topic does not know.
func (o *Options) checkKind() error {
	d := Defaults()
	if !o.Lite {
		_, startErr := o.start()
		_, _, stopErr := o.stop()
		var idle error
		if o.IdleTimeout != 0 {
			idle = errors.New("--idle-timeout is for --lite: give --until")
		}
		if o.InvisibleDuration != d.InvisibleDuration {
			idle = errors.Join(idle, errors.New("--invisible-duration is for --lite: offsets have no leases"))
		}
		return errors.Join(startErr, stopErr, idle)
	}
	var faults []error
	if o.Start != d.Start || o.Stop != d.Stop {
		faults = append(faults, errors.New("--since and --until: lite topics have no positions to begin and end at; --idle-timeout ends"))
	}
	if o.SQL != "" {
		faults = append(faults, errors.New("--sql: lite topics are received whole; --tags selects"))
	}
	if o.Guarantee != guaranteeAtLeastOnce {
		faults = append(faults, errors.New("--guarantee: lite topics are copied at-least-once"))
	}
	if o.IdleTimeout != 0 && (o.IdleTimeout < 100*time.Millisecond || o.IdleTimeout > 24*time.Hour) {
		faults = append(faults, fmt.Errorf("--idle-timeout %v: want 100ms to 24h, or 0", o.IdleTimeout))
	}
	return errors.Join(faults...)
}

// instant reads an instant, unless text is one of the words.
func instant(flag, text string, words ...string) (time.Time, error) {
	if slices.Contains(words, text) {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%s %q: want %s or an instant such as 2026-01-31T08:00:00Z", flag, text, strings.Join(words, ", "))
	}
	return at, nil
}
