// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package portable submits pipelines to runners that speak Beam's job service:
// Flink's job server, or prism inside the program. Beam's own universal runner
// passes no options of the runner, cannot cancel, and shows no metrics before
// the end; this package does.
//
// The workers live in the submitting process (the environment that Beam calls
// LOOPBACK): the runner calls back for them, so it must reach this process, and
// the pipeline lasts as long as it does.
//
//	portable.Init(os.Stderr, false)
//	flink, err := portable.Dial(ctx, "localhost:8099")
//	if err != nil { … }
//	defer flink.Close()
//	err = flink.Run(ctx, "orders", p, portable.Options{Streaming: true, CheckpointingInterval: time.Second})
package portable
