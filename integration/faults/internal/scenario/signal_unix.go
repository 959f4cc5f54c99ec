// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package scenario

import (
	"fmt"
	"syscall"
)

// freeze stops the worker where it stands; thaw lets it go on.
func (p *process) freeze() error { return p.signal(syscall.SIGSTOP) }

func (p *process) thaw() error { return p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%v to %s: %w", s, p.name, err)
	}
	return nil
}
