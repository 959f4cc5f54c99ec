// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "unicode/utf16"

// javaHash is what brokers compare tags by: the hash code of a Java string,
// over its UTF-16 units.
func javaHash(s string) (h int32) {
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}
