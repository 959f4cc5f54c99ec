// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

// Shutdown closes the sessions of this process that are not in use, without
// waiting for their idle time. For a program that runs a pipeline in its own
// process and is about to end.
func Shutdown() { sessions.CloseIdle() }
