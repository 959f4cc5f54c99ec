// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// build makes the pipeline of a script. The transforms panic when they refuse a
// setting; here that is an error.
func (p *plan) build(o *Options) (pipeline *beam.Pipeline, err error) {
	defer func() {
		if r := recover(); r != nil {
			pipeline, err = nil, &ScriptError{fmt.Errorf("%v", r)}
		}
	}()
	pipeline, s := beam.NewPipelineWithRoot()
	for _, t := range p.script.Tables {
		inserts := p.inserts(t)
		if len(inserts) == 0 {
			continue
		}
		scope := s.Scope("table " + t.Name)
		if p.tracks(t) {
			p.tracked(s, scope, t, o)
			continue
		}
		messages := p.source(scope, p.sources[t.Name], o)
		for _, i := range inserts {
			p.insert(s.Scope(p.place(i)), i, messages)
		}
	}
	return pipeline, nil
}

// tracked runs the statements that read a table whose positions are committed when
// what they have written is there.
func (p *plan) tracked(s, read beam.Scope, t *script.Table, o *Options) {
	d, inserts := p.sources[t.Name], p.inserts(t)
	source := rocketmqio.ReadTableTracked(read, d.Statement(), readOptions(d, o)...)
	var notes []beam.PCollection
	for _, i := range inserts {
		s, sink := s.Scope(p.place(i)), p.sinks[i.Sink.Name]
		rows, seen := beam.ParDo2(s, &normalToNormalTrackedFn{*p.inserting(i)}, source.Messages)
		written := rocketmqio.WriteTable(s, sink.Statement(), rows)
		tellFailures(s, sink, written)
		notes = append(notes, seen, beam.ParDo(s, &storedFn{}, written))
	}
	rocketmqio.Commit(read, source, settledPositions(read, len(inserts), notes...))
}

func readOptions(d *table.Declared, o *Options) (opts []rocketmqio.ReadOption) {
	if o.Bounded && d.Config.Source.Stop.IsZero() {
		opts = append(opts, rocketmqio.ReadTo(rocketmqio.AtLatest()))
	}
	return opts
}

// inserting is a statement as it travels to workers.
func (p *plan) inserting(i *script.Insert) *inserting {
	return &inserting{
		Insert: table.Insert{Statement: i.Portable(), Source: p.sources[i.Source.Name].Side(), Sink: p.sinks[i.Sink.Name].Side()},
		Place:  p.place(i),
	}
}

// source reads a table, once for all statements.
func (p *plan) source(s beam.Scope, d *table.Declared, o *Options) beam.PCollection {
	if d.Config.Connector == connector.GRPC {
		var opts []litegrpcio.ReadOption
		if o.Bounded {
			opts = append(opts, litegrpcio.ReadIdleTimeout(o.IdleTimeout))
		}
		return litegrpcio.ReadTable(s, d.Statement(), opts...)
	}
	return rocketmqio.ReadTable(s, d.Statement(), readOptions(d, o)...)
}

// insert runs a statement on the messages of its source.
func (p *plan) insert(s beam.Scope, i *script.Insert, messages beam.PCollection) {
	source, sink := p.sources[i.Source.Name], p.sinks[i.Sink.Name]
	lite := source.Config.Connector == connector.GRPC
	at := p.inserting(i)
	if sink.Config.Connector == connector.GRPC {
		fn := any(&normalToLiteFn{*at})
		switch {
		case acks(source):
			fn = &liteToLiteAckFn{*at}
		case lite:
			fn = &liteToLiteFn{*at}
		}
		ack(s, source, litegrpcio.WriteTable(s, sink.Statement(), beam.ParDo(s, fn, messages)))
		return
	}
	fn := any(&normalToNormalFn{*at})
	switch {
	case acks(source):
		fn = &liteToNormalAckFn{*at}
	case lite:
		fn = &liteToNormalFn{*at}
	}
	written := rocketmqio.WriteTable(s, sink.Statement(), beam.ParDo(s, fn, messages))
	if !acks(source) {
		tellFailures(s, sink, written)
	}
	if p.transacts() && !acks(source) {
		beam.ParDo(s, &storedFn{}, written)
	}
	ack(s, source, written)
}

// tellFailures warns of messages that could not be written, where that is no error.
func tellFailures(s beam.Scope, sink *table.Declared, written beam.PCollection) {
	if sink.Config.Sink.Guarantee == connector.NoGuarantee {
		follow.Failures(s, written)
	}
}

// ack acknowledges what is written, if the table says so.
func ack(s beam.Scope, source *table.Declared, written beam.PCollection) {
	if !acks(source) {
		return
	}
	c := source.Config.Client
	opts := []ackfn.Option{ackfn.TLS(c.TLS), ackfn.RequestTimeout(c.RequestTimeout)}
	switch k := c.Credentials; {
	case k.Resolver != "":
		opts = append(opts, ackfn.Credentials(k.Resolver))
	case k.StaticAccessKey != "":
		opts = append(opts, ackfn.StaticCredentials(k.StaticAccessKey, k.StaticSecretKey))
	}
	ackfn.Ack(s, written, opts...)
}
