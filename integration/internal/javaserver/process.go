// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Process is one server that runs, or ran. Its output goes to a file.
type Process struct {
	cmd   *exec.Cmd
	ready *readyLog
	done  chan struct{} // closed when it has ended
	err   error         // how it ended; read after done
}

// StartProcess starts cmd through the spawner. It is ready when its output
// contains the marker.
func StartProcess(sp *Spawner, cmd *exec.Cmd, logFile, marker string) (*Process, error) {
	f, err := openLog(logFile)
	if err != nil {
		return nil, fmt.Errorf("log of the server: %w", err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{}),
		ready: &readyLog{file: f, marker: []byte(marker), seen: make(chan struct{})}}
	cmd.Stdout, cmd.Stderr = p.ready, p.ready
	cmd.WaitDelay = 2 * time.Second
	ownGroup(cmd)
	dieWithParent(cmd)
	if err := sp.start(cmd); err != nil {
		f.Close()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
		f.Close()
	}()
	return p, nil
}

func openLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Running tells whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Ready is closed when the output contained the marker.
func (p *Process) Ready() <-chan struct{} { return p.ready.seen }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// End is how a process that is [Process.Done] ended.
func (p *Process) End() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}

// Stop asks the process to end, kills it after the grace period, and waits.
func (p *Process) Stop(grace time.Duration) {
	if p.Running() && grace > 0 {
		terminateGroup(p.cmd.Process)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
		}
	}
	if p.Running() {
		killGroup(p.cmd.Process)
	}
	<-p.done
}

// readyLog writes what the server prints to a file and watches for the marker.
type readyLog struct {
	mu     sync.Mutex
	file   *os.File
	marker []byte
	rest   []byte // the end of what was written, in case a write cuts the marker
	found  bool
	seen   chan struct{} // closed when the marker was seen
}

// Write implements io.Writer.
func (l *readyLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.found {
		l.rest = append(l.rest, b...)
		if bytes.Contains(l.rest, l.marker) {
			l.found, l.rest = true, nil
			close(l.seen)
		} else if n := len(l.rest) - len(l.marker); n > 0 {
			l.rest = append([]byte(nil), l.rest[n:]...)
		}
	}
	return l.file.Write(b)
}
