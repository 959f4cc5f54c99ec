// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package usage

// PeakRSS is not known here.
func PeakRSS() int64 { return 0 }
