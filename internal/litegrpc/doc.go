// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package litegrpc is a RocketMQ 5.x client for lite topics, written on the
// public gRPC stubs: sessions ([Consumer], [Acker], [Producer]) and one file
// for each call they make.
//
// A session keeps a link to each proxy that it has to talk to. A link owns a
// connection, the telemetry stream on which settings were agreed, the
// heartbeats and, for a consumer, the wildcard subscription; it is opened
// again whenever the proxy turns out to have forgotten it. What a call
// answered is judged in one place (status.go): each error is an *[Error] whose
// [Class] says what helps.
//
// The package imports the stubs only and not the Go SDK, whose root package
// writes log files below $HOME and switches TLS for the whole process.
package litegrpc
