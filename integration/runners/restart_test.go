// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package runners

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() {
	beam.RegisterDoFn(&failOnceFn{})
}

// failed holds the tests whose DoFn has failed.
var failed sync.Map

// failOnceFn fails on the first sight of one message.
type failOnceFn struct{ Test, Body string }

func (fn *failOnceFn) ProcessElement(_ context.Context, m coders.Message) (coders.Message, error) {
	if string(m.Body) == fn.Body {
		if _, before := failed.LoadOrStore(fn.Test, true); !before {
			return m, errors.New("the first sight of this message is too much")
		}
	}
	return m, nil
}

// A message that fails a bundle once: Flink starts the job again from its last
// checkpoint, and every message is counted in its window.
func TestFlinkStartsAgainAfterAFailureAndLosesNothing(t *testing.T) {
	for _, on := range onFlink {
		t.Run(on.name, func(t *testing.T) {
			b := startBroker(t)
			tp := newTap(t)
			p, s := beam.NewPipelineWithRoot()
			const n = 100
			msgs := countInWindows(t, s, b)
			beam.ParDo0(s, &tapFn{t.Name()}, beam.ParDo(s, &failOnceFn{t.Name(), fmt.Sprint(n + n/2)}, msgs))
			publishOrders(b, 0, n)
			on.stream(t, p)
			// What was committed is not read again by a job that begins anew, and what
			// it held in windows is gone then: so not before they have fired, and the
			// job has a checkpoint to go back to.
			tp.await(t, "all before the failure", func(seen map[string]int) bool { return bodies(seen) == n && windowed(seen) == n })
			awaitCheckpoint(t, shared.job)
			publishOrders(b, n, n)
			tp.await(t, "all after the failure", func(seen map[string]int) bool { return bodies(seen) == 2*n && windowed(seen) == 2*n })
			if _, did := failed.Load(t.Name()); !did {
				t.Error("the job never failed")
			}
		})
	}
}
