// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package profile takes profiles of parts of a run and adds them up, so that
// what lies between these parts is not in the way.
package profile

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/google/pprof/profile"
)

// Recorder adds up the profiles of all calls of Record. An empty file name
// stands for a profile that nobody wants.
type Recorder struct {
	cpuFile, memFile string
	cpu, mem         []*profile.Profile
}

// New makes a recorder that writes to these files.
func New(cpuFile, memFile string) *Recorder { return &Recorder{cpuFile: cpuFile, memFile: memFile} }

// Record profiles one call of do.
func (r *Recorder) Record(do func() error) error {
	before, err := r.allocations()
	if err != nil {
		return err
	}
	var cpu bytes.Buffer
	if r.cpuFile != "" {
		if err := pprof.StartCPUProfile(&cpu); err != nil {
			return err
		}
	}
	failed := do()
	if r.cpuFile != "" {
		pprof.StopCPUProfile()
		p, err := profile.Parse(&cpu)
		if err != nil {
			return fmt.Errorf("CPU profile: %w", err)
		}
		r.cpu = append(r.cpu, p)
	}
	if before != nil {
		after, err := r.allocations()
		if err != nil {
			return err
		}
		before.Scale(-1)
		r.mem = append(r.mem, before, after)
	}
	return failed
}

// allocations is what was allocated since the start of the process.
func (r *Recorder) allocations() (*profile.Profile, error) {
	if r.memFile == "" {
		return nil, nil
	}
	runtime.GC() // the profile is as old as the collection before the last
	runtime.GC()
	var out bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&out, 0); err != nil {
		return nil, fmt.Errorf("memory profile: %w", err)
	}
	return profile.Parse(&out)
}

// Write writes the files.
func (r *Recorder) Write() error {
	if err := write(r.cpuFile, r.cpu); err != nil {
		return err
	}
	return write(r.memFile, r.mem)
}

func write(name string, parts []*profile.Profile) error {
	if name == "" || len(parts) == 0 {
		return nil
	}
	sum, err := profile.Merge(parts)
	if err != nil {
		return fmt.Errorf("adding up profiles for %s: %w", name, err)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := sum.Write(f); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return f.Close()
}
