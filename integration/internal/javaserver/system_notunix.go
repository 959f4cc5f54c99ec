// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package javaserver

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

// Without process groups and signals a server is killed by itself, cannot be
// frozen, and parallel first runs may fetch the jars twice.

func ownGroup(*exec.Cmd) {}

func terminateGroup(p *os.Process) { _ = p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }

// Freeze is not supported here.
func (p *Process) Freeze() error { return errors.ErrUnsupported }

// Thaw is not supported here.
func (p *Process) Thaw() error { return errors.ErrUnsupported }

func lockFile(context.Context, string) (func(), error) { return func() {}, nil }
