// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"os/exec"
	"runtime"
	"sync"
)

// Spawner starts processes from one OS thread that it keeps until it is
// closed. On Linux a child can be told to die when its parent dies, but the
// kernel takes the thread that forked it for the parent: were a child started
// from any goroutine, the Go runtime could end that thread at any time, and
// the child with it.
type Spawner struct {
	work chan func()
	done chan struct{}
	once sync.Once
}

// NewSpawner makes a spawner, which must be closed.
func NewSpawner() *Spawner {
	s := &Spawner{work: make(chan func()), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *Spawner) run() {
	defer close(s.done)
	// Never unlocked: the thread ends with this goroutine.
	runtime.LockOSThread()
	for f := range s.work {
		f()
	}
}

// start starts cmd from the spawner's thread.
func (s *Spawner) start(cmd *exec.Cmd) error {
	err := make(chan error, 1)
	s.work <- func() { err <- cmd.Start() }
	return <-err
}

// Close ends the thread, which on Linux kills every child that still runs.
func (s *Spawner) Close() {
	s.once.Do(func() { close(s.work) })
	<-s.done
}
