// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package worker is a worker process: a pipeline on prism that reads, works a
// little, throttles if asked to, and acknowledges, or one that reads the queues
// of a normal topic, or one that writes. It is a process of its own so that it can be killed, frozen
// and started again.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// Variable is the environment variable that makes a program, which calls [Run]
// first of all, a worker; it holds a [Config] in JSON.
const Variable = "ROCKETMQ_BEAM_FAULTS_WORKER"

// Config is what a worker does.
type Config struct {
	Endpoints string `json:"endpoints"`
	Topic     string `json:"topic"`
	Group     string `json:"group"`
	// Lease is the invisible duration, Work how long the work on one message
	// takes.
	Lease time.Duration `json:"lease"`
	Work  time.Duration `json:"work"`
	// Fetch is the fetch concurrency, Batch the max message num.
	Fetch int `json:"fetch"`
	Batch int `json:"batch"`
	// Timeout is the request timeout of source, throttle and ack.
	Timeout time.Duration `json:"timeout"`
	// Throttle puts the grouping and a quota between reading and work, if not
	// nil.
	Throttle *Throttle `json:"throttle,omitempty"`
	// Queues makes it a reader of a normal topic, if not nil: of the rest only
	// Topic, Group and Timeout then mean something.
	Queues *Queues `json:"queues,omitempty"`
	// Sink makes it write, if not nil: of the rest only Endpoints, Topic, Timeout,
	// Credentials and TLS then mean something.
	Sink *Sink `json:"sink,omitempty"`
	// Credentials is a resolver's name, see package auth; TLS secures the
	// connections.
	Credentials string   `json:"credentials,omitempty"`
	TLS         auth.TLS `json:"tls"`
}

// Throttle is a quota: so many messages of a lite topic pass in each window, the
// rest is deferred.
type Throttle struct {
	PerWindow int           `json:"per_window"`
	Every     time.Duration `json:"every"`
	Defer     time.Duration `json:"defer"`
}

// Run does nothing unless the environment asks for a worker. Then it works until
// standard input ends, and ends the process: with status 1 if the pipeline
// failed. Every main and TestMain of a program that starts workers calls it
// first.
func Run() {
	text, asked := os.LookupEnv(Variable)
	if !asked {
		return
	}
	var c Config
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		beam.Init()
		err = run(c, os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run runs the pipeline until in ends.
//
// Then the process ends where it stands. To end the pipeline first would be
// nicer to the proxy, but Beam 2.77 has data races in the end of a harness that
// has work, and what is under test here is what remains of a process that is
// gone.
func run(c Config, in io.Reader) error {
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(0)
	}()
	pipeline := build
	switch {
	case c.Queues != nil:
		pipeline = buildQueues
	case c.Sink != nil:
		pipeline = buildSink
	}
	if _, err := prism.Execute(context.Background(), pipeline(c)); err != nil {
		return err
	}
	if c.Sink != nil {
		return nil
	}
	return errors.New("the pipeline ended by itself")
}
