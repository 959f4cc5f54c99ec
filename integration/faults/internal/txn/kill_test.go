// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"math/rand/v2"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

// TestMain is also what the worker processes of the tests run.
func TestMain(m *testing.M) {
	Run()
	goleak.VerifyTestMain(realmqtest.Wrap(m))
}

func options(t *testing.T, messages, kills int) Options {
	o := Options{Messages: messages, Kills: kills, Seed: uint64(rand.Uint32()), Log: t.Logf}
	t.Logf("seed %d", o.Seed)
	return o
}

// (X22a, Y13, T06)
func TestWorkersKilledAtEachStepWriteOnce(t *testing.T) {
	o := options(t, 1000, len(steps))
	if os.Getenv("CI") == "true" {
		o.Kills *= 2
	}
	v := Embedded(t.Context(), o)
	if !v.OK(false) || len(v.Kills) < len(steps)-1 {
		t.Errorf("got %+v", v)
	}
	t.Logf("%+v", v)
}

func TestWithRandomKeysNothingIsLost(t *testing.T) {
	o := options(t, 300, len(steps))
	o.Random = true
	v := Embedded(t.Context(), o)
	if !v.OK(true) || v.Twice == 0 {
		t.Errorf("got %+v, want nothing lost and something written again", v)
	}
}

func TestOnARealBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t)
	o := options(t, 1000, 4)
	if v := Real(t.Context(), mq, o); !v.OK(false) {
		t.Errorf("got %+v", v)
	} else {
		t.Logf("%+v", v)
	}
	o.RestartBroker = true
	if v := Real(t.Context(), mq, o); !v.OK(false) {
		t.Errorf("got %+v", v)
	} else {
		t.Logf("%+v", v)
	}
}
