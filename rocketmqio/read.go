// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/uuid"

	"github.com/rocketmq-beam/rocketmq-beam/internal/stageoutput"
)

// Read reads the queues of the topics and returns an unbounded
// PCollection<coders.Message>, with [ReadTo] one that ends all the same.
//
// nameServers is host:port[;host:port] of the name servers. group is the
// consumer group, whose committed offsets [Committed] starts from and the source
// commits to; the source does not join it, so it shares messages with nobody.
//
// Read panics if an argument or option is wrong, with a text that names it. A
// name server that cannot be reached, wrong credentials and a missing topic fail
// the pipeline within 10 seconds of its start; later faults that may pass are
// waited out, see [ReadStallTimeout].
func Read(s beam.Scope, nameServers, group string, topics []string, opts ...ReadOption) beam.PCollection {
	s = s.Scope("rocketmqio.Read")
	cfg, err := newReadConfig(nameServers, group, topics, opts)
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.Read: %v", err))
	}
	cfg.SourceID = uuid.NewString()
	queues := beam.ParDo(s, &discoverFn{Config: cfg}, beam.Impulse(s))
	messages, commits := beam.ParDo2(s, &readFn{queueSource{Config: cfg}}, queues)
	addCommits(s, cfg, commits)
	return messages
}

// ReadBounded is [Read] with a bounded result, for batches and for runners that
// know no unbounded sources, such as the direct runner. It needs [ReadTo], and
// looks for queues once.
func ReadBounded(s beam.Scope, nameServers, group string, topics []string, opts ...ReadOption) beam.PCollection {
	s = s.Scope("rocketmqio.ReadBounded")
	cfg, err := newReadConfig(nameServers, group, topics, opts)
	if err == nil && cfg.End.Mode == endNever {
		err = errors.New("no end: give one with ReadTo")
	}
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.ReadBounded: %v", err))
	}
	cfg.SourceID = uuid.NewString()
	queues := beam.ParDo(s, &discoverOnceFn{Config: cfg}, beam.Impulse(s))
	messages, commits := beam.ParDo2(s, &readBoundedFn{queueSource{Config: cfg}}, queues)
	addCommits(s, cfg, commits)
	return messages
}

// addCommits puts a shuffle between reading and committing: what is committed
// has left its bundle.
func addCommits(s beam.Scope, cfg readConfig, commits beam.PCollection) {
	if cfg.CommitInterval == 0 {
		return
	}
	stageoutput.Add(s, beam.ParDo(s, &commitFn{Config: cfg}, beam.Reshuffle(s, commits)))
}
