// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn_test

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
)

func init() {
	register.Function2x2(callModel)
	register.DoFn2x1[context.Context, coders.AckableMessage, error](&triageFn{})
}

// callModel is the work on a message.
func callModel(_ context.Context, m coders.AckableMessage) (coders.AckableMessage, error) {
	return m, nil
}

// Acknowledge each message after the work on it.
func ExampleAck() {
	p, s := beam.NewPipelineWithRoot()
	msgs := litegrpcio.Read(s, "proxy:8081", "agent-bus", "beam-agents")
	done := beam.ParDo(s, callModel, msgs)
	results := ackfn.Ack(s, done, ackfn.Credentials("env"))
	_ = results // of type ackfn.Result: count the expired ones, or leave it
	_ = p
}

// triageFn decides by itself which messages it acknowledges and which it has
// delivered again later.
type triageFn struct{ client *ackfn.Client }

func (f *triageFn) Setup(ctx context.Context) (err error) {
	f.client, err = ackfn.Acquire(ctx, ackfn.Credentials("env"), ackfn.RequestTimeout(5*time.Second))
	return err
}

func (f *triageFn) ProcessElement(ctx context.Context, m coders.AckableMessage) error {
	if len(m.Body) == 0 {
		_, err := f.client.Ack(ctx, m.Handle)
		return err
	}
	result, err := f.client.ChangeInvisibleDuration(ctx, m.Handle, 20*time.Second)
	if err != nil {
		return err
	}
	if result.Outcome == ackfn.Deferred {
		fmt.Println("from now on to be used:", result.Handle)
	}
	return nil
}

// Acknowledge and defer from within a DoFn.
func ExampleClient() {
	_, s := beam.NewPipelineWithRoot()
	msgs := litegrpcio.Read(s, "proxy:8081", "agent-bus", "beam-agents")
	beam.ParDo0(s, &triageFn{}, msgs)
}
