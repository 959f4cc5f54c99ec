// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/stageoutput"
)

// Write sends a PCollection<Message> to the lite topics below the main topic
// and returns a PCollection<WriteResult> with one result a message, in the
// window and at the event time of its message. A bundle ends when all its
// messages are stored; one that cannot be stored fails it, with an error that
// names the message and says how many others were stored. At least once: what a
// failed bundle had stored is stored again when the runner retries it. Within a
// bundle, messages of one lite topic are sent in their order.
//
// While no proxy can be reached, or the broker asks to slow down, messages wait
// for up to 2 minutes before the bundle fails.
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
	return stageoutput.Add(s, beam.ParDo(s, &writeFn{Config: cfg}, col))
}
