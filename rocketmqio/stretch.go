// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"cmp"
	"slices"
)

// stretch is the offsets from its first number on, up to its second one.
type stretch [2]int64

// mergeSpans sorts spans and joins those that touch.
func mergeSpans(all []stretch) []stretch {
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a[0], b[0]) })
	var out []stretch
	for _, s := range all {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// spansOf are those of single offsets.
func spansOf(offsets []int64) []stretch {
	slices.Sort(offsets)
	var out []stretch
	for _, o := range offsets {
		if n := len(out); n > 0 && o <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], o+1)
			continue
		}
		out = append(out, stretch{o, o + 1})
	}
	return out
}

// advance is how far at comes over the spans, and which of them lie behind that.
// They are sorted and do not touch.
func advance(at int64, spans []stretch) (int64, []stretch) {
	for len(spans) > 0 && spans[0][0] <= at {
		at = max(at, spans[0][1])
		spans = spans[1:]
	}
	return at, spans
}
