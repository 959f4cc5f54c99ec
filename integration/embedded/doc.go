// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package embedded is an in-process RocketMQ for tests and first steps.
//
// It speaks the gRPC MessagingService of RocketMQ 5.x over real TCP sockets on
// the loopback interface, so that any client can be pointed at it. Lite topics
// (FIFO per lite topic and group), normal and FIFO topics, long polling,
// invisibility, redelivery, dead letters, quotas, credentials and TLS behave as
// those of RocketMQ 5.5.0 do. Where the real broker has a quirk that a client
// can see, this one has it too; the comment beside it says so.
//
// Nothing here imports package testing: a program may start one as well.
//
//	mq := embedded.Start(ctx,
//		embedded.WithLiteTopic("agent-bus"),
//		embedded.WithWildcardGroup("beam-agents", "agent-bus"))
//	defer mq.Close()
//	mq.Publish("agent-bus", "tenant-7", []byte("hello"))
//
// Three kinds of tools steer and watch it. A Clock that a test moves by hand
// drives every timer of the broker. A control function (Control, ControlAlways)
// sees each request and may answer, delay, lose or fail it. Verbs (Restart,
// ExpireLeases, Busy, …) do in one call what would take an accident in
// production. Message, Messages, Sessions and Wait tell what the broker holds,
// so that a test asserts on the broker's side and never sleeps.
//
// The store and delivery engine (core and the store_* files) knows nothing of
// gRPC; the files grpc_* are a front end over it, one request a file.
package embedded
