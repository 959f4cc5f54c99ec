// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"runtime"
	"testing"
)

func TestThePeakIsReadFromTheStatusOfTheProcess(t *testing.T) {
	for _, c := range []struct {
		name, status string
		want         int64
	}{
		{"among other lines", "Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t   12 kB\nVmRSS:\t 3 kB\n", 12 << 10},
		{"a kernel that does not tell", "Name:\tx\n", 0},
		{"something else than a number", "VmHWM:\t? kB\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := peakIn([]byte(c.status)); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestWhatIsAllocatedShows(t *testing.T) {
	const size = 64 << 20
	before := Now()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i)
	}
	spent := Now().Minus(before)
	runtime.KeepAlive(data)
	if spent.Bytes < size || spent.Allocations == 0 || spent.CPU <= 0 {
		t.Errorf("got %+v for %d bytes that were written to", spent, size)
	}
	if peak := PeakRSS(); peak < size {
		t.Errorf("got a peak of %d bytes, want at least %d", peak, size)
	}
}
