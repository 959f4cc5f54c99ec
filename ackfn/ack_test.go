// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
)

func TestAckEmitsOneResultAMessage(t *testing.T) {
	b := newBus(t)
	ids := b.publish(40, 5)
	p, s := beam.NewPipelineWithRoot()
	results := Ack(s, beam.CreateList(s, b.receive(40)))
	passert.Count(s, results, "results", 40)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	b.wantAcked(ids...)
}
