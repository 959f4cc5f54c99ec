// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "unicode/utf16"

// javaHash is String.hashCode of Java.
func javaHash(s string) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

// consistentBucket maps a sharding key to one of n queues the way the proxy does
// (jump consistent hash over the 32-bit hash code, widened with its sign).
func consistentBucket(key string, n int) int32 {
	state := uint64(int64(javaHash(key)))
	candidate := 0
	for {
		state = 2862933555777941757*state + 1
		unit := float64(int32(state>>33)+1) / float64(uint64(1)<<31)
		next := int(float64(candidate+1) / unit)
		if next < 0 || next >= n {
			return int32(candidate)
		}
		candidate = next
	}
}
