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
// The same broker also speaks the remoting protocol of RocketMQ 4.x and 5.x, for
// normal topics: NameServer and BrokerAddr say where. It has routes, sends (single
// and batch, delay levels), pulls with long polling and tag filters, offsets by
// number and time, committed offsets, queries by key, heartbeats; several brokers,
// each with queues of its own (WithBrokers), and slaves (WithSlaves). Verbs make
// a topic grow, messages expire, brokers stop, fail over and send clients
// elsewhere; Pulls and Commits tell what clients did. Half messages are committed,
// rolled back, checked at their producers and put away as by the real broker;
// Halves, Checks and Ends tell of them. Over gRPC transactional messages are
// refused.
//
//	mq := embedded.Start(ctx, embedded.WithNormalTopic("orders"), embedded.WithQueues(4))
//	mq.PublishMany("orders", bodies)
//	mq.ExpireMessages(embedded.Queue{Topic: "orders", ID: 2}, 100)
//	mq.Control(embedded.RemotingPull, …)
//
// The store and delivery engine (core and the store_* files) knows no protocol;
// the files grpc_* and remoting_* are front ends over it, one request a file.
package embedded
