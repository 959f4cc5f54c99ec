// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	_ "embed"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

//go:embed pom.xml
var pom []byte

// jars are those of RocketMQ. The version is part of the folder's name: another
// one gets its own.
var jars = &javaserver.Jars{Server: "RocketMQ", Folder: "rocketmq-5.5.0", POM: pom, Sign: "rocketmq-proxy-*.jar"}
