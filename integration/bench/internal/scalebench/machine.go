// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scalebench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine is where and when it was measured.
type Machine struct {
	When       string  `json:"when"`
	Processors int     `json:"processors"`
	System     string  `json:"system"`
	LoadBefore float64 `json:"load_before"`
}

func machineNow() Machine {
	return Machine{When: time.Now().UTC().Format(time.DateOnly), Processors: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, LoadBefore: loadAverage()}
}

// loadAverage is how many threads wanted to run over the last minute; 0 where the
// system does not tell.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return v
}
