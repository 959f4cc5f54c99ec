// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// brokerConfig answers GET_BROKER_CONFIG (26): the settings that mean something
// here, with RocketMQ's names for them and its own values where there is nothing to
// set.
func (c *remotingCall) brokerConfig() *remoting.Command {
	cfg := c.at.b.cfg
	var body strings.Builder
	for _, s := range []struct {
		name  string
		value any
	}{
		{"brokerName", c.at.b.cfg.brokers[c.at.broker]}, {"brokerClusterName", clusterName}, {"brokerId", c.at.slave},
		{"autoCreateTopicEnable", cfg.autoCreateTopic}, {"enablePropertyFilter", cfg.sql != nil},
		{"transactionCheckInterval", cfg.transactions.interval.Milliseconds()}, {"transactionTimeOut", cfg.transactions.timeout.Milliseconds()},
		{"transactionCheckMax", cfg.transactions.checks}, {"transactionOpBatchInterval", opDelay.Milliseconds()},
		{"rejectTransactionMessage", false}, {"waitTimeMillsInTransactionQueue", 3000},
		{"messageIndexEnable", true}, {"messageIndexSafe", true}, {"fileReservedTime", 72},
	} {
		fmt.Fprintf(&body, "%s=%v\n", s.name, s.value)
	}
	return &remoting.Command{Fields: map[string]string{"version": `{"counter":1,"stateVersion":0,"timestamp":0}`}, Body: []byte(body.String())}
}
