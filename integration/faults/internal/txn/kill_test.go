// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"flag"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/rocketmq-beam/rocketmq-beam/integration/flink/flinktest"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

var (
	messages     = flag.Int("txn.messages", 1000, "how many, on the embedded broker")
	kills        = flag.Int("txn.kills", 14, "of workers, on the embedded broker")
	realMessages = flag.Int("txn.real-messages", 1000, "how many, on a real one")
	realKills    = flag.Int("txn.real-kills", 4, "of workers, on a real one")
	flinkKills   = flag.Int("txn.flink-kills", 3, "of workers on Flink, with as many messages as the embedded broker has")
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
	o := options(t, *messages, *kills)
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

// Processes that die with what they had prepared and not committed; Flink starts the
// job again, and other workers (X22a, Y13).
func TestWorkersKilledOnFlinkWriteOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts a JVM")
	}
	flinktest.Need(t)
	o := options(t, *messages, *flinkKills)
	v := FlinkKilled(t.Context(), o)
	if !v.OK(false) || len(v.Kills) != min(o.Kills, len(steps)) || v.Workers <= o.Kills {
		t.Errorf("got %+v", v)
	}
	t.Logf("%+v", v)
}

func TestOnARealBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t)
	o := options(t, *realMessages, *realKills)
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
