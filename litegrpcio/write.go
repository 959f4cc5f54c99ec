// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"github.com/rocketmq-beam/rocketmq-beam/internal/beamlog"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/pool"
)

// Write sends a PCollection<Message> to the lite topics below the main topic
// and returns a PCollection<WriteResult> with one result a message, in the
// global window, at the event time of its message. A bundle ends when all its
// messages are stored; one that cannot be stored fails it, with an error that
// names the message. At least once: what a failed bundle had stored is stored
// again when the runner retries it. Within a bundle, messages of one lite topic
// are sent in their order.
//
// Write panics if an argument, an option or the type of col is wrong, with a
// text that names it.
func Write(s beam.Scope, endpoints, topic string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	s = s.Scope("litegrpcio.Write")
	cfg, err := newWriteConfig(endpoints, topic, opts)
	if err == nil && col.Type().Type() != reflect.TypeFor[Message]() {
		err = fmt.Errorf("the input is a PCollection of %v: want litegrpcio.Message", col.Type())
	}
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.Write: %v", err))
	}
	// What a DoFn emits when its bundle finishes stands in the global window,
	// so that is where its input has to be.
	global := beam.WindowInto(s, window.NewGlobalWindows(), col)
	return beam.ParDo(s, &writeFn{Config: cfg}, global)
}

// producers are the producers of this process, by their configuration.
var producers = pool.New[string](
	func(*litegrpc.Producer) time.Duration { return DefaultIdleClose },
	func(p *litegrpc.Producer) {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		p.Close(ctx)
	},
)

func (c *writeConfig) poolKey() (string, error) {
	key, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("litegrpcio: configuration: %w", err)
	}
	return string(key), nil
}

func openProducer(ctx context.Context, c writeConfig) (*litegrpc.Producer, error) {
	base, err := c.Client.Config(c.Endpoints, c.Namespace, beamlog.Logger("rocketmq lite sink").With("topic", c.Topic), nil)
	if err != nil {
		return nil, err
	}
	p, err := litegrpc.NewProducer(ctx, litegrpc.ProducerConfig{Config: base, Topic: c.Topic})
	if err != nil {
		return nil, fmt.Errorf("litegrpcio.Write: %w", err)
	}
	return p, nil
}
