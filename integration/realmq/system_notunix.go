// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package realmq

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

func (p *process) freeze() error { return errors.ErrUnsupported }
func (p *process) thaw() error   { return errors.ErrUnsupported }

func lockFile(context.Context, string) (func(), error) { return func() {}, nil }
