// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/report"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

// How the source receives: a few polls at a time, so that a message seldom waits
// for one.
const (
	fetchConcurrency = 4
	ackInFlight      = 8
	deferInFlight    = 64
)

// build makes the pipeline of a leg. Both legs are the same but for the step
// between grouping and work. The transforms panic when they refuse a setting;
// here that is an error.
func build(o *Options, name, id string) (p *beam.Pipeline, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("building the pipeline: %v", r)
		}
	}()
	p, s := beam.NewPipelineWithRoot()
	in := member{Leg: id}

	msgs := litegrpcio.Read(s, o.Endpoints, o.Topic, o.Group, o.readOptions()...)
	own, foreign := beam.ParDo2(s, &arriveFn{in}, msgs)
	groups := throttlefn.GroupBy(s, own, tenant, throttlefn.GroupEvery(o.Window))
	passed := o.share(s, in, name, groups)
	done := beam.ParDo(s, handleOf, beam.ParDo(s, &workFn{member: in, Work: o.Work}, passed))
	results := ackfn.Ack(s, done, o.ackOptions()...)
	beam.ParDo0(s, &ackedFn{in}, results)
	ackfn.Ack(s.Scope("foreign"), foreign, o.ackOptions()...)
	return p, nil
}

// share is what the legs differ in.
func (o *Options) share(s beam.Scope, in member, name string, groups beam.PCollection) beam.PCollection {
	if name == report.NameNone {
		return beam.ParDo(s, &ungroupFn{}, groups)
	}
	fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: o.Quota, Defer: o.Defer, Spread: 0.5}, o.throttleOptions()...)
	beam.ParDo0(s, &deferredFn{in}, fair.Deferred)
	beam.ParDo0(s, &valveFn{in}, fair.Valve)
	return fair.Passed
}

func (o *Options) readOptions() []litegrpcio.ReadOption {
	opts := []litegrpcio.ReadOption{
		litegrpcio.ReadFetchConcurrency(fetchConcurrency), litegrpcio.ReadInvisibleDuration(o.InvisibleDuration),
		litegrpcio.ReadNamespace(o.Namespace), litegrpcio.ReadTLS(o.Connection.TLS),
	}
	if r := o.Connection.Credentials.Resolver; r != "" {
		opts = append(opts, litegrpcio.ReadCredentials(r))
	}
	return opts
}

func (o *Options) ackOptions() []ackfn.Option {
	opts := []ackfn.Option{ackfn.TLS(o.Connection.TLS), ackfn.MaxInFlight(ackInFlight)}
	if r := o.Connection.Credentials.Resolver; r != "" {
		opts = append(opts, ackfn.Credentials(r))
	}
	return opts
}

func (o *Options) throttleOptions() []throttlefn.Option {
	opts := []throttlefn.Option{throttlefn.TLS(o.Connection.TLS), throttlefn.MaxInFlight(deferInFlight)}
	if r := o.Connection.Credentials.Resolver; r != "" {
		opts = append(opts, throttlefn.Credentials(r))
	}
	return opts
}
