// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// build makes the pipeline. The transforms panic when they refuse a setting; here
// that is an error.
func (o *Options) build() (pipeline *beam.Pipeline, err error) {
	defer func() {
		if r := recover(); r != nil {
			pipeline, err = nil, &RefusedError{fmt.Errorf("%v", r)}
		}
	}()
	pipeline, s := beam.NewPipelineWithRoot()
	if o.Lite {
		o.lite(s)
	} else {
		o.normal(s)
	}
	return pipeline, nil
}

// RefusedError is a setting that a transform refused.
type RefusedError struct{ error }

// Unwrap gives what was wrong.
func (e *RefusedError) Unwrap() error { return e.error }

// start is where reading begins.
func (o *Options) start() (rocketmqio.Start, error) {
	at, err := instant("--since", o.Start, fromCommitted, fromEarliest, fromLatest)
	switch {
	case o.Start == fromEarliest:
		return rocketmqio.Earliest(), err
	case o.Start == fromLatest:
		return rocketmqio.Latest(), err
	case o.Start == fromCommitted:
		return rocketmqio.Committed(rocketmqio.Earliest()), err
	}
	return rocketmqio.Timestamp(at), err
}

// stop is where reading ends, if it does.
func (o *Options) stop() (end rocketmqio.End, ends bool, err error) {
	at, err := instant("--until", o.Stop, toNever, toLatest)
	switch {
	case o.Stop == toNever:
		return end, false, err
	case o.Stop == toLatest:
		return rocketmqio.AtLatest(), true, err
	}
	return rocketmqio.AtTimestamp(at), true, err
}

// normal copies a normal topic: what is written is committed, and nothing before
// it is.
func (o *Options) normal(s beam.Scope) {
	source := rocketmqio.ReadTracked(s, o.From.Address, o.Group, []string{o.From.Topic}, o.readOptions()...)
	copies := beam.ParDo(s, &copyFn{BornProperty: o.BornProperty}, source.Messages)
	written := rocketmqio.Write(s, o.To.Address, copies, o.writeOptions()...)
	if o.Guarantee == guaranteeNone {
		follow.Failures(s, written)
	}
	rocketmqio.Commit(s, source, written)
}

func (o *Options) readOptions() []rocketmqio.ReadOption {
	start, _ := o.start() // Check has judged both
	opts := []rocketmqio.ReadOption{rocketmqio.ReadFrom(start), rocketmqio.ReadNamespace(o.From.Namespace), rocketmqio.ReadTLS(o.From.TLS)}
	if end, ends, _ := o.stop(); ends {
		opts = append(opts, rocketmqio.ReadTo(end))
	}
	if len(o.Tags) > 0 {
		opts = append(opts, rocketmqio.ReadTags(o.Tags...))
	}
	if o.SQL != "" {
		opts = append(opts, rocketmqio.ReadSQL(o.SQL))
	}
	if o.From.Credentials != "" {
		opts = append(opts, rocketmqio.ReadCredentials(o.From.Credentials))
	}
	return opts
}

// mostBody is what one request to a broker may have. Whether a broker takes as much
// is up to its maxMessageSize.
const mostBody = 16 << 20

func (o *Options) writeOptions() []rocketmqio.WriteOption {
	guarantee := rocketmqio.AtLeastOnce
	if o.Guarantee == guaranteeNone {
		guarantee = rocketmqio.None
	}
	opts := []rocketmqio.WriteOption{rocketmqio.WriteTopic(o.To.Topic), rocketmqio.WriteNamespace(o.To.Namespace),
		rocketmqio.WriteTLS(o.To.TLS), rocketmqio.WriteGuarantee(guarantee), rocketmqio.WriteMaxBody(mostBody)}
	if o.To.Credentials != "" {
		opts = append(opts, rocketmqio.WriteCredentials(o.To.Credentials))
	}
	return opts
}

// liteRequestTimeout is for the acknowledgements, too.
const liteRequestTimeout = 5 * time.Second

// lite copies lite topics: a message is acknowledged when its copy is written.
func (o *Options) lite(s beam.Scope) {
	read := []litegrpcio.ReadOption{litegrpcio.ReadNamespace(o.From.Namespace), litegrpcio.ReadTLS(o.From.TLS),
		litegrpcio.ReadInvisibleDuration(o.InvisibleDuration), litegrpcio.ReadRequestTimeout(liteRequestTimeout)}
	write := []litegrpcio.WriteOption{litegrpcio.WriteNamespace(o.To.Namespace), litegrpcio.WriteTLS(o.To.TLS), litegrpcio.WriteRequestTimeout(liteRequestTimeout)}
	ack := []ackfn.Option{ackfn.TLS(o.From.TLS), ackfn.RequestTimeout(liteRequestTimeout)}
	if o.IdleTimeout > 0 {
		read = append(read, litegrpcio.ReadIdleTimeout(o.IdleTimeout))
	}
	if c := o.From.Credentials; c != "" {
		read, ack = append(read, litegrpcio.ReadCredentials(c)), append(ack, ackfn.Credentials(c))
	}
	if c := o.To.Credentials; c != "" {
		write = append(write, litegrpcio.WriteCredentials(c))
	}
	messages := litegrpcio.Read(s, o.From.Address, o.From.Topic, o.Group, read...)
	deliveries := beam.ParDo(s, &copyLiteFn{Tags: o.Tags, BornProperty: o.BornProperty}, messages)
	ackfn.Ack(s, litegrpcio.WriteDeliveries(s, o.To.Address, o.To.Topic, deliveries, write...), ack...)
}
