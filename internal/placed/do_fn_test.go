// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package placed

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

var errRefused = errors.New("refused")

type parcelFn struct{}

// ProcessElement emits what it is given, unless that is empty.
func (*parcelFn) ProcessElement(_ context.Context, _ beam.PaneInfo, w beam.Window, t beam.EventTime, text string, emit emitParcel) error {
	if text == "" {
		return errRefused
	}
	emit(parcel{text: text, at: &Place{Window: w, Time: t}})
	return nil
}

func init() { RegisterDoFn[string, emitParcel](&parcelFn{}) }

func TestARegisteredDoFnIsCalledWithoutReflection(t *testing.T) {
	f := reflectx.MakeFunc((&parcelFn{}).ProcessElement)
	direct, ok := f.(reflectx.Func6x1)
	if !ok {
		t.Fatalf("Beam would call a %T", f)
	}
	var got []parcel
	emit := emitParcel(func(p parcel) { got = append(got, p) })
	w := window.GlobalWindow{}
	args := []any{context.Background(), typex.NoFiringPane(), typex.Window(w), mtime.ZeroTimestamp, "a", emit}
	if err := direct.Call6x1(args[0], args[1], args[2], args[3], args[4], args[5]); err != nil {
		t.Fatal(err)
	}
	args[4] = "b"
	if out := f.Call(args); len(out) != 1 || out[0] != nil {
		t.Fatalf("got %v, want no error", out)
	}
	args[4] = ""
	if err := direct.Call6x1(args[0], args[1], args[2], args[3], args[4], args[5]); err != errRefused {
		t.Fatalf("got %v, want the function's error", err)
	}
	if len(got) != 2 || got[0].text != "a" || got[1].text != "b" || !got[0].at.Window.Equals(w) || got[0].at.Time != mtime.ZeroTimestamp {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(f.Name(), "parcelFn") || f.Type().NumIn() != 6 {
		t.Errorf("it is called %q and has type %v", f.Name(), f.Type())
	}
}
