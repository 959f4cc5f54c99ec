// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"os"
	"slices"
	"strings"
)

// Tail returns the last lines of a file, or "". Of stack traces it leaves out
// where they were, so that what happened fits in.
func Tail(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return ""
	}
	lines := strings.Split(string(b), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "at ") })
	return strings.TrimSpace(lastLines(strings.Join(lines, "\n"), n))
}

// lastLines returns the last n lines of s.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// PortTaken tells from a server's last words whether it found its port taken.
func PortTaken(tail string) bool {
	for _, sign := range []string{"BindException", "Address already in use", "Failed to bind"} {
		if strings.Contains(tail, sign) {
			return true
		}
	}
	return false
}
