// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
	"github.com/rocketmq-beam/rocketmq-beam/internal/userfunc"
)

func init() {
	register.Function1x2(byLiteTopic)
	beam.RegisterDoFn(&keyByFn{})
	register.Function1x2((&keyByFn{}).ProcessElement)
}

// A GroupOption configures [GroupByLiteTopic] and [GroupBy].
type GroupOption func(*grouping) error

type grouping struct{ every, lateness time.Duration }

// DefaultGroupEvery is the length of a window.
const DefaultGroupEvery = time.Second

// GroupEvery is the length of the windows in which messages are grouped, from
// 10 ms to 1 h. A message waits for the end of its window, half of it on the
// average, with its lease running. Default 1 s.
func GroupEvery(d time.Duration) GroupOption {
	return func(g *grouping) error {
		if d < 10*time.Millisecond || d > time.Hour {
			return fmt.Errorf("option GroupEvery: %v is out of range: want 10ms to 1h", d)
		}
		g.every = d
		return nil
	}
}

// GroupLateness is for how long after its window has ended a message is still
// taken, in a group of its own; up to 24 h. What comes later is dropped by Beam
// and delivered again when its lease ends, just as late. Default 0, which suits
// event times of arrival: then nothing is ever late. With event times of
// publishing give the longest time for which a message may wait to be
// delivered, deferrals included.
func GroupLateness(d time.Duration) GroupOption {
	return func(g *grouping) error {
		if d < 0 || d > 24*time.Hour {
			return fmt.Errorf("option GroupLateness: %v is out of range: want 0 to 24h", d)
		}
		g.lateness = d
		return nil
	}
}

// GroupByLiteTopic collects messages by lite topic, in fixed windows. The
// result, of type KV<string, Iter<AckableMessage>>, is what [Throttle] takes.
func GroupByLiteTopic(s beam.Scope, msgs beam.PCollection, opts ...GroupOption) beam.PCollection {
	s = s.Scope("throttlefn.GroupByLiteTopic")
	g := mustGroup("throttlefn.GroupByLiteTopic", msgs, opts)
	return g.group(s, msgs, func(col beam.PCollection) beam.PCollection { return beam.ParDo(s, byLiteTopic, col) })
}

func byLiteTopic(m coders.AckableMessage) (string, coders.AckableMessage) { return m.LiteTopic(), m }

// GroupBy is [GroupByLiteTopic] with a key of the user's own, for instance the
// tenant that is a part of the lite topic's name. key must be a named function,
// registered with Beam (register.Function1x1).
func GroupBy(s beam.Scope, msgs beam.PCollection, key func(coders.AckableMessage) string, opts ...GroupOption) beam.PCollection {
	s = s.Scope("throttlefn.GroupBy")
	g := mustGroup("throttlefn.GroupBy", msgs, opts)
	fn := &keyByFn{}
	if key != nil {
		fn.Key.Fn = reflectx.MakeFunc(key)
	}
	if err := userfunc.Check("key", fn.Key.Fn); err != nil {
		panic("throttlefn.GroupBy: " + err.Error())
	}
	return g.group(s, msgs, func(col beam.PCollection) beam.PCollection { return beam.ParDo(s, fn, col) })
}

func mustGroup(caller string, msgs beam.PCollection, opts []GroupOption) grouping {
	g := grouping{every: DefaultGroupEvery}
	if err := option.Apply(&g, opts); err != nil {
		panic(fmt.Sprintf("%s: %v", caller, err))
	}
	if !msgs.IsValid() {
		panic(caller + ": the input is no PCollection of this pipeline")
	}
	if t := msgs.Type(); t.Type() != reflect.TypeFor[coders.AckableMessage]() {
		panic(fmt.Sprintf("%s: the input is of type %v: want coders.AckableMessage", caller, t))
	}
	return g
}

func (g grouping) group(s beam.Scope, msgs beam.PCollection, keyed func(beam.PCollection) beam.PCollection) beam.PCollection {
	windowed := beam.WindowInto(s, window.NewFixedWindows(g.every), msgs, beam.AllowedLateness(g.lateness), beam.PanesDiscard())
	return beam.GroupByKey(s, keyed(windowed))
}

// keyByFn gives each message the key that a user's function finds.
type keyByFn struct {
	Key beam.EncodedFunc

	find reflectx.Func1x1
}

// Setup finds the function.
func (f *keyByFn) Setup() { f.find = reflectx.ToFunc1x1(f.Key.Fn) }

// ProcessElement asks it.
func (f *keyByFn) ProcessElement(m coders.AckableMessage) (string, coders.AckableMessage) {
	return f.find.Call1x1(m).(string), m
}
