// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import "runtime"

// used is what this process has allocated since its start.
type used struct{ allocations, bytes uint64 }

func usage() used {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{allocations: m.Mallocs, bytes: m.TotalAlloc}
}

func (u used) minus(o used) used {
	return used{allocations: u.allocations - o.allocations, bytes: u.bytes - o.bytes}
}
