// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package idle

import (
	"testing"
	"time"
)

// B12: an idle source asks a runner for about one call a second; a message ends
// a wait at once, and only a short rest stands in its way.
func TestIdleCallsBecomeRareAndRestsStayShort(t *testing.T) {
	p := &Pause{}
	if p.Wait() != firstWait {
		t.Errorf("the first wait is %v", p.Wait())
	}
	calls, passed := 0, time.Duration(0)
	for passed < time.Hour {
		rest := p.After(0)
		if rest > longestRest {
			t.Fatalf("a rest of %v", rest)
		}
		passed += p.Wait() + rest
		calls++
	}
	if calls > 3600 {
		t.Errorf("%d calls in an idle hour", calls)
	}
	if d := p.After(1); d != 0 || p.Wait() != firstWait {
		t.Errorf("after a message: rest %v, wait %v", d, p.Wait())
	}
}
