// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race || plainbeam

package security

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"google.golang.org/protobuf/proto"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

func init() {
	beam.RegisterDoFn(&liteFn{})
	beam.RegisterDoFn(&normalFn{})
	beam.RegisterDoFn(&heldFn{})
	register.Emitter1[litegrpcio.Message]()
	register.Emitter1[rocketmqio.OutgoingMessage]()
	register.Emitter1[coders.AckableMessage]()
	beam.RegisterDoFn(&lookFn{})
	beam.RegisterDoFn(&lookNormalFn{})
	beam.RegisterDoFn(&lookResultFn{})
	beam.RegisterDoFn(&lookDeferralFn{})
	beam.RegisterDoFn(&lookWrittenFn{})
}

const (
	liteTopic, liteGroup     = "bus", "agents"
	normalTopic, normalGroup = "orders", "readers"
)

// place is where a pipeline connects to, and how.
type place struct {
	endpoints, nameServers string
	tls                    auth.TLS
	keys                   string // the resolver's argument
}

func (p place) resolver() string { return resolver + ":" + p.keys }

// transforms adds one of the project's transforms each to a pipeline.
var transforms = map[string]func(beam.Scope, place){
	"litegrpcio.Read": func(s beam.Scope, p place) {
		beam.ParDo0(s, &lookFn{}, readLite(s, p))
	},
	"litegrpcio.Write": func(s beam.Scope, p place) {
		litegrpcio.Write(s, p.endpoints, liteTopic, beam.ParDo(s, &liteFn{}, beam.Impulse(s)), litegrpcio.WriteCredentials(p.resolver()), litegrpcio.WriteTLS(p.tls))
	},
	"ackfn.Ack": func(s beam.Scope, p place) {
		ack(s, p, beam.ParDo(s, &heldFn{p.endpoints}, beam.Impulse(s)))
	},
	"throttlefn.Throttle": func(s beam.Scope, p place) {
		throttle(s, p, beam.ParDo(s, &heldFn{p.endpoints}, beam.Impulse(s)))
	},
	"rocketmqio.Read": func(s beam.Scope, p place) {
		beam.ParDo0(s, &lookNormalFn{}, rocketmqio.ReadBounded(s, p.nameServers, normalGroup, []string{normalTopic}, rocketmqio.ReadFrom(rocketmqio.Earliest()),
			rocketmqio.ReadTo(rocketmqio.AtLatest()), rocketmqio.ReadCredentials(p.resolver()), rocketmqio.ReadTLS(p.tls)))
	},
	"rocketmqio.Write": func(s beam.Scope, p place) {
		beam.ParDo0(s, &lookWrittenFn{}, rocketmqio.Write(s, p.nameServers, beam.ParDo(s, &normalFn{}, beam.Impulse(s)), rocketmqio.WriteTopic(normalTopic),
			rocketmqio.WriteCredentials(p.resolver()), rocketmqio.WriteTLS(p.tls)))
	},
}

func readLite(s beam.Scope, p place) beam.PCollection {
	return litegrpcio.Read(s, p.endpoints, liteTopic, liteGroup, litegrpcio.ReadMaxRecords(count), litegrpcio.ReadMaxDuration(time.Minute),
		litegrpcio.ReadAwaitDuration(5*time.Second), litegrpcio.ReadCredentials(p.resolver()), litegrpcio.ReadTLS(p.tls))
}

func ack(s beam.Scope, p place, msgs beam.PCollection) {
	beam.ParDo0(s, &lookResultFn{}, ackfn.Ack(s, msgs, ackfn.Credentials(p.resolver()), ackfn.TLS(p.tls)))
}

// throttle lets one message of each lite topic pass and returns those.
func throttle(s beam.Scope, p place, msgs beam.PCollection) beam.PCollection {
	groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(time.Second))
	out := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: 1, Defer: 10 * time.Second}, throttlefn.Credentials(p.resolver()), throttlefn.TLS(p.tls))
	beam.ParDo0(s, &lookDeferralFn{}, out.Deferred)
	return out.Passed
}

// count is how many messages are written, to two lite topics.
const count = 3

type liteFn struct{}

func (*liteFn) ProcessElement(_ []byte, emit func(litegrpcio.Message)) {
	for i := range count {
		emit(litegrpcio.Message{LiteTopic: []string{"a", "b"}[i%2], Body: []byte("x")})
	}
}

type normalFn struct{}

func (*normalFn) ProcessElement(_ []byte, emit func(rocketmqio.OutgoingMessage)) {
	for range count {
		emit(rocketmqio.OutgoingMessage{Body: []byte("x")})
	}
}

// heldFn makes messages that look as if they had been received: two of one lite
// topic, so that one is deferred.
type heldFn struct{ Endpoints string }

func (f *heldFn) ProcessElement(_ []byte, emit func(coders.AckableMessage)) {
	for i := range 2 {
		emit(coders.AckableMessage{Body: []byte("x"), Handle: coders.ReceiptHandle{Endpoints: f.Endpoints, ConsumerGroup: liteGroup, Topic: liteTopic,
			LiteTopic: "a", MessageID: fmt.Sprint("m", i), Handle: "0 1 2 3 4 5 6 7", DeliveryAttempt: 1, InvisibleUntil: time.Now().Add(time.Minute)}})
	}
}

// holdsNone wants the bytes of a record to hold no secret.
func holdsNone(record []byte, err error) error {
	for _, s := range secrets() {
		if bytes.Contains(record, []byte(s)) {
			return errors.New("a record holds a secret")
		}
	}
	return err
}

type lookFn struct{}

func (*lookFn) ProcessElement(m coders.AckableMessage) error {
	return holdsNone(coders.EncodeAckableMessage(m))
}

type lookNormalFn struct{}

func (*lookNormalFn) ProcessElement(m coders.Message) error {
	return holdsNone(coders.EncodeMessage(m))
}

type lookResultFn struct{}

func (*lookResultFn) ProcessElement(r ackfn.Result) error { return holdsNone(ackfn.EncodeResult(r)) }

type lookDeferralFn struct{}

func (*lookDeferralFn) ProcessElement(d throttlefn.Deferral) error {
	return holdsNone(coders.EncodeReceiptHandle(d.Handle))
}

type lookWrittenFn struct{}

func (*lookWrittenFn) ProcessElement(r rocketmqio.WriteResult) error {
	return holdsNone(rocketmqio.EncodeWriteResult(r))
}

// run runs a pipeline, after a look at its graph, and returns how long it
// took and its error.
func run(t *testing.T, build func(beam.Scope)) (time.Duration, error) {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	build(s)
	graph(t, p)
	begin := time.Now()
	ended := make(chan error, 1)
	go func() { _, err := prism.Execute(context.Background(), p); ended <- err }()
	const patience = 90 * time.Second
	select {
	case err := <-ended:
		return time.Since(begin), err
	case <-time.After(patience):
		t.Fatalf("the pipeline did not end in %v", patience)
		return 0, nil
	}
}

// graph wants no secret in what is sent to a runner.
func graph(t *testing.T, p *beam.Pipeline) {
	t.Helper()
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	environment, err := graphx.CreateEnvironment(t.Context(), graphx.URNEnvExternal, func(context.Context) string { return "localhost:1" })
	if err != nil {
		t.Fatal(err)
	}
	model, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(model)
	if err := holdsNone(data, err); err != nil {
		t.Errorf("the graph: %v", err)
	}
}
