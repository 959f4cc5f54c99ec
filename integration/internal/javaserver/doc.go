// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package javaserver starts and ends servers written in Java, from jars that
// Maven fetches once into the user's cache folder. The servers end with the
// process that started them, on Linux also when it is killed by SIGKILL.
package javaserver
