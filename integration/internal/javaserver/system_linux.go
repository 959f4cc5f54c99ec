// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package javaserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the process when the thread that
// started it ends; see [Spawner].
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
