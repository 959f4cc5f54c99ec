// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package scenario

import "errors"

// freeze cannot be had here.
func (p *process) freeze() error { return errors.ErrUnsupported }

func (p *process) thaw() error { return errors.ErrUnsupported }
