// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

func init() { throttlefn.RegisterPolicy[spreadQuota]() }

// spreadQuota is throttlefn.Quota with deferrals of uneven length, half of Defer
// to one and a half of it. What exceeds the quota here is a whole backlog that
// arrived within one window: deferred by one and the same time it would come
// back in one window again, of which only one quota passes, and the windows
// between would stay empty.
type spreadQuota struct {
	PerWindow int
	Defer     time.Duration
}

// Check refuses values out of range.
func (q spreadQuota) Check() error {
	if q.PerWindow < 1 || q.Defer < minDefer {
		return fmt.Errorf("quota %d, defer %v: want at least 1 and %v", q.PerWindow, q.Defer, minDefer)
	}
	return nil
}

// minDefer keeps the shortest deferral at the second that is the least.
const minDefer = 2 * time.Second

// Start returns the deciding function, which keeps nothing.
func (q spreadQuota) Start() throttlefn.Decide {
	return func(_ coders.AckableMessage, at throttlefn.Position) throttlefn.Verdict {
		if at.Passed < q.PerWindow {
			return throttlefn.Pass()
		}
		return throttlefn.Defer(q.Defer/2 + time.Duration(rand.Int64N(int64(q.Defer))))
	}
}
