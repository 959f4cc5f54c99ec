// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package realmq runs a real Apache RocketMQ 5.5.0 (name server, broker, and
// proxy in cluster mode) on free loopback ports, for tests, benchmarks and
// trials that must meet the real thing.
//
// It needs Java 17 or later and, the first time, Maven: the jars are taken
// from the Maven artifacts named in pom.xml and kept in the user's cache
// folder (about 100 MB). [Available] tells beforehand what is missing.
//
//	mq, err := realmq.Start(ctx)
//	if err != nil { … }
//	defer mq.Close()
//	err = mq.CreateTopic(ctx, "agent-bus", realmq.Lite)
//	err = mq.CreateGroup(ctx, "beam-agents", realmq.LiteBind("agent-bus"), realmq.Wildcard())
//	conn, err := grpc.NewClient(mq.Endpoints(), …)
//
// The name server and the broker listen on 127.0.0.1 only; the proxy has no
// setting for that and listens on all addresses of the machine.
//
// Each cluster has a scratch folder of its own, which Close removes. The
// servers die with the process that started them: on Linux also when it is
// killed by SIGKILL.
package realmq
