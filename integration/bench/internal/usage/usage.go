// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usage tells what this process has used of the machine.
package usage

import (
	"runtime"
	"time"
)

// Used is what this process has used since its start.
type Used struct {
	// CPU is the processor time; 0 where the system does not tell.
	CPU time.Duration
	// Allocations is how often memory was allocated, Bytes how much.
	Allocations, Bytes uint64
}

// Now is what was used until now.
func Now() Used {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Used{CPU: CPU(), Allocations: m.Mallocs, Bytes: m.TotalAlloc}
}

// Minus is what was used since o.
func (u Used) Minus(o Used) Used {
	return Used{CPU: u.CPU - o.CPU, Allocations: u.Allocations - o.Allocations, Bytes: u.Bytes - o.Bytes}
}
