// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flink runs Beam's job server for Apache Flink 1.19 on a free loopback
// port, with the Flink clusters that it makes inside itself, one a job.
//
// It needs Java 17 or later and, the first time, Maven: the jars are taken from
// the Maven artifacts named in pom.xml and kept in the user's cache folder (about
// 150 MB). [Available] tells beforehand what is missing.
//
//	server, err := flink.Start(ctx)
//	if err != nil { … }
//	defer server.Close()
//	jobs, err := portable.Dial(ctx, server.Endpoint())
//
// Each server has a scratch folder of its own, which Close removes. It dies with
// the process that started it: on Linux also when that is killed by SIGKILL.
package flink
