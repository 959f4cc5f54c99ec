// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package security has no code, only tests: each transform, with right and wrong
// keys and certificates, against a real RocketMQ with access control and TLS, and
// against the embedded broker. They fail pipelines on prism, where Beam races
// with itself: under the race detector they run only if Beam is left out of it, as by
// ./test.sh, which says so with the tag plainbeam.
package security
