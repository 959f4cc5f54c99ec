// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// PeakRSS is the most physical memory that this process has had at any time, in
// bytes; 0 where the system does not tell.
func PeakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return peakIn(status)
}

// peakIn reads the line "VmHWM:   123 kB".
func peakIn(status []byte) int64 {
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), "VmHWM:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}
