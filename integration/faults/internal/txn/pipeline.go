// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() {
	register.Function2x0(expand)
	register.Emitter1[rocketmqio.OutgoingMessage]()
	register.Function1x1(keyOf)
	register.DoFn1x0[rocketmqio.WriteResult](&writtenFn{})
}

// chunk is how many messages come of one element, and chunks are shuffled, so that
// bundles are many.
const chunk = 50

func build(c config) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	var chunks []int
	for from := 0; from < c.Messages; from += chunk {
		chunks = append(chunks, from)
	}
	numbers := beam.ParDo(s, expand, beam.Reshuffle(s, beam.CreateList(s, chunks)))
	opts := []rocketmqio.WriteOption{
		rocketmqio.WriteTopic(c.Topic), rocketmqio.WriteGroup(c.Group), rocketmqio.WriteSendTimeout(3 * time.Second),
		rocketmqio.WriteGuarantee(rocketmqio.ExactlyOnce), rocketmqio.WriteCommitSettle(c.Settle), rocketmqio.WriteRetries(10),
	}
	if !c.Random {
		opts = append(opts, rocketmqio.WriteExactlyOnce(keyOf))
	}
	beam.ParDo0(s, &writtenFn{}, rocketmqio.Write(s, c.NameServer, numbers, opts...))
	return p
}

// expand makes messages of the first number of a chunk.
func expand(from int, emit func(rocketmqio.OutgoingMessage)) {
	for i := range chunk {
		emit(rocketmqio.OutgoingMessage{Body: fmt.Append(nil, from+i)})
	}
}

// keyOf is the number.
func keyOf(m rocketmqio.OutgoingMessage) string { return "number-" + string(m.Body) }

type writtenFn struct{}

// ProcessElement takes a result. One with an error would have failed the bundle.
func (*writtenFn) ProcessElement(rocketmqio.WriteResult) {}
