// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package security has no code, only tests: each transform, with right and wrong
// keys and certificates, against a real RocketMQ with access control and TLS, and
// against the embedded broker. They fail pipelines on prism, which under the race
// detector trips over races of Beam's own, so they run without it.
package security
