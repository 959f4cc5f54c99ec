// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runners proves that the transforms work on the runners that
// docs/runners.md names: prism, Flink and, for what is bounded, direct; and that
// a pipeline can be handed to Dataflow. It has tests only.
package runners
