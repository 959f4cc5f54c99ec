// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "testing"

// The queues are those that Guava's consistentHash gives for Java's hash codes.
func TestShardingKeysGoToTheQueuesOfTheRealProxy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key            string
		of3, of8, of16 int32
	}{
		{"l1", 0, 5, 5},
		{"t1", 1, 4, 14},
		{"tenant-7", 0, 4, 15},
		{"warm", 2, 2, 9},
		{"ünï", 2, 4, 4},
		{"a-very-long-lite-topic-name-0123456789", 0, 0, 0},
	} {
		for n, want := range map[int]int32{1: 0, 3: tc.of3, 8: tc.of8, 16: tc.of16} {
			if got := consistentBucket(tc.key, n); got != want {
				t.Errorf("%q over %d queues: %d, want %d", tc.key, n, got, want)
			}
		}
	}
}
