// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner starts processes from one OS thread that it keeps until it is
// closed. On Linux a child can be told to die when its parent dies, but the
// kernel takes the thread that forked it for the parent: were a child started
// from any goroutine, the Go runtime could end that thread at any time, and
// the child with it.
type spawner struct {
	work chan func()
	done chan struct{}
	once sync.Once
}

func newSpawner() *spawner {
	s := &spawner{work: make(chan func()), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *spawner) run() {
	defer close(s.done)
	// Never unlocked: the thread ends with this goroutine.
	runtime.LockOSThread()
	for f := range s.work {
		f()
	}
}

// start starts cmd from the spawner's thread.
func (s *spawner) start(cmd *exec.Cmd) error {
	err := make(chan error, 1)
	s.work <- func() { err <- cmd.Start() }
	return <-err
}

// close ends the thread, which on Linux kills every child that still runs.
func (s *spawner) close() {
	s.once.Do(func() { close(s.work) })
	<-s.done
}
