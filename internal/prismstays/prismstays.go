// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package prismstays says to tests that look for leaks which goroutines Beam leaves
// behind when pipelines were run on prism in their process, some of them cancelled.
package prismstays

import "go.uber.org/goleak"

// Options except goroutines which cannot be stopped: a server of prism for each
// start, the connection to it that its constructor opens and nobody can close, and
// jobs that were cancelled; and those of the harness that read the streams of such
// jobs, two of which lock each other out when a stream breaks while a bundle closes
// it. Whatever runs this module's code is not among them.
func Options() (stays []goleak.Option) {
	const beam = "github.com/apache/beam/sdks/v2/go/pkg/beam/"
	const prism, harness, grpc = beam + "runners/prism/internal/", beam + "core/runtime/harness.", "google.golang.org/grpc/internal/"
	for _, f := range []string{
		harness + "(*DataChannelManager).closeInstruction", harness + "(*DataChannel).terminateStreamOnError",
		harness + "(*DataChannel).read", harness + "(*StateChannel).read", harness + "(*StateChannel).write",
		prism + "jobservices.(*Server).Serve", prism + "engine.(*ElementManager).Bundles.func1",
		grpc + "grpcsync.(*CallbackSerializer).run", grpc + "transport.(*controlBuffer).get",
		grpc + "transport.(*http2Client).reader", grpc + "transport.(*http2Server).HandleStreams", grpc + "transport.(*http2Server).keepalive",
	} {
		stays = append(stays, goleak.IgnoreAnyFunction(f))
	}
	return stays
}
