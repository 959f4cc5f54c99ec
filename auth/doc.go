// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package auth says how the transforms of this module prove who they are to
// RocketMQ ([Source], [Keys]) and secure their connections ([TLS]).
//
// Keys never travel with records. A transform is told the name of a resolver,
// and the worker asks that resolver for the keys of the cluster it talks to:
//
//   - "env" reads the environment variables ROCKETMQ_ACCESS_KEY,
//     ROCKETMQ_SECRET_KEY and ROCKETMQ_SECURITY_TOKEN of the worker;
//   - "file:/path" reads a JSON file on the worker, see [Register];
//   - any name that the program gave to [Register], with its own argument
//     behind a colon.
package auth
