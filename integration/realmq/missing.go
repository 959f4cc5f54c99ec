// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import "github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"

// minJava is the oldest Java that RocketMQ 5.5.0's proxy runs on with the
// flags used here.
const minJava = 17

// Missing tells that a tool of this machine is missing or too old, so that no
// real RocketMQ can be started here.
type Missing = javaserver.Missing

// Available returns nil if a real RocketMQ can be started here, and a
// [*Missing] that names the first missing tool otherwise. Maven is needed only
// as long as the jars are not in the cache folder.
func Available() error {
	if _, err := javaserver.FindJava(jars.Server, minJava); err != nil {
		return err
	}
	return jars.Available()
}
