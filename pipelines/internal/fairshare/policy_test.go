// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

func TestSpreadQuotaPassesTheQuotaAndDefersTheRest(t *testing.T) {
	q := spreadQuota{PerWindow: 3, Defer: 4 * time.Second}
	decide := q.Start()
	seen := map[throttlefn.Verdict]bool{}
	for passed := range 50 {
		v := decide(coders.AckableMessage{}, throttlefn.Position{Key: "noisy", Passed: min(passed, 3)})
		if (v == throttlefn.Pass()) != (passed < 3) {
			t.Errorf("with %d passed: got %+v", passed, v)
		}
		seen[v] = true
	}
	if len(seen) < 40 {
		t.Errorf("47 deferrals have %d different lengths: they would come back together", len(seen)-1)
	}
}

func TestSpreadQuotaRefusesWrongValues(t *testing.T) {
	for _, q := range []spreadQuota{{0, time.Minute}, {1, time.Second}} {
		if q.Check() == nil {
			t.Errorf("%+v was taken", q)
		}
	}
}
