// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() { RegisterPolicy[TokenBucket]() }

// TokenBucket lets messages of each key pass at a steady rate, with bursts. The
// buckets are kept per process: where a runner spreads windows of one key over
// several workers, each of them has its own, and a restart begins with full
// ones. Of the keys, the 100 000 seen last are remembered.
type TokenBucket struct {
	// PerSecond is the rate at which messages of a key pass; more than 0.
	PerSecond float64
	// Burst is how many may pass at once; at least 1.
	Burst int
	// Defer is when the rest is delivered again. Zero means: when the bucket of
	// the key will be full, but not within a second.
	Defer time.Duration
}

// Check refuses values out of range.
func (b TokenBucket) Check() error {
	switch {
	case !(b.PerSecond > 0) || math.IsInf(b.PerSecond, 0):
		return fmt.Errorf("PerSecond %v is out of range: want more than 0", b.PerSecond)
	case b.Burst < 1:
		return fmt.Errorf("Burst %d is out of range: want 1 or more", b.Burst)
	case b.Defer == 0:
		return nil
	}
	return checkDefer("Defer", b.Defer)
}

// bucketsKept bounds the memory for buckets: about 20 MB.
const bucketsKept = 100_000

// Start returns the deciding function with no bucket used yet.
func (b TokenBucket) Start() Decide {
	var mu sync.Mutex
	buckets := newRecent[string, *rate.Limiter](bucketsKept)
	return func(_ coders.AckableMessage, at Position) Verdict {
		mu.Lock()
		l, ok := buckets.get(at.Key)
		if !ok {
			l = rate.NewLimiter(rate.Limit(b.PerSecond), b.Burst)
			buckets.put(at.Key, l)
		}
		mu.Unlock()
		if l.AllowN(at.Now, 1) {
			return Pass()
		}
		if b.Defer > 0 {
			return Defer(b.Defer)
		}
		missing := float64(b.Burst) - l.TokensAt(at.Now)
		seconds := min(missing/b.PerSecond, maxDelayLimit.Seconds())
		return Defer(time.Duration(seconds * float64(time.Second)))
	}
}
