// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"runtime"
	"time"
)

// used is what this process has used since its start.
type used struct {
	cpu                time.Duration
	allocations, bytes uint64
}

func usage() used {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{cpu: cpuTime(), allocations: m.Mallocs, bytes: m.TotalAlloc}
}

func (u used) minus(o used) used {
	return used{cpu: u.cpu - o.cpu, allocations: u.allocations - o.allocations, bytes: u.bytes - o.bytes}
}
