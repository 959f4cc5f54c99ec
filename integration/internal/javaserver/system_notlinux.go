// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package javaserver

import "os/exec"

// dieWithParent does nothing: only Linux ends a child with its parent. A
// server outlives a killed parent here.
func dieWithParent(*exec.Cmd) {}
