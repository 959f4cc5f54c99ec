// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
)

// cpuSamples tells how much processor time this process had used at a moment that
// is known only later: a pipeline tells of its first message when that has been
// acknowledged.
type cpuSamples struct {
	samples []cpuSample
	stop    chan struct{}
	running sync.WaitGroup
}

type cpuSample struct {
	at   int64 // ns since 1970
	used time.Duration
}

// sampleEvery is how exact that is. A sample costs a microsecond.
const sampleEvery = 5 * time.Millisecond

// sampleCPU takes samples from now until end.
func sampleCPU() *cpuSamples {
	s := &cpuSamples{stop: make(chan struct{})}
	s.take()
	s.running.Go(func() {
		t := time.NewTicker(sampleEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				s.take()
			case <-s.stop:
				return
			}
		}
	})
	return s
}

func (s *cpuSamples) take() {
	s.samples = append(s.samples, cpuSample{time.Now().UnixNano(), usage.CPU()})
}

// end must be called before usedAt.
func (s *cpuSamples) end() {
	close(s.stop)
	s.running.Wait()
}

// usedAt is the last sample before a time, or the first there is.
func (s *cpuSamples) usedAt(ns int64) time.Duration {
	used := s.samples[0].used
	for _, sample := range s.samples {
		if sample.at > ns {
			break
		}
		used = sample.used
	}
	return used
}
