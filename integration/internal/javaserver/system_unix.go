// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package javaserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup puts the process into a process group of its own, so that it can
// be ended with all that it starts, and without what started it.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

func signalGroup(p *os.Process, sig syscall.Signal) error { return syscall.Kill(-p.Pid, sig) }

func terminateGroup(p *os.Process) { _ = signalGroup(p, syscall.SIGTERM) }

func killGroup(p *os.Process) { _ = signalGroup(p, syscall.SIGKILL) }

// Freeze stops the process where it stands, as a machine that hangs does:
// connections stay open and nothing answers.
func (p *Process) Freeze() error { return signalGroup(p.cmd.Process, syscall.SIGSTOP) }

// Thaw lets the process go on.
func (p *Process) Thaw() error { return signalGroup(p.cmd.Process, syscall.SIGCONT) }

// lockFile takes a lock that other processes see, and returns its release.
func lockFile(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			// Closing the file releases the lock.
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}
