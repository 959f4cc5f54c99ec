// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// cluster answers GET_BROKER_CLUSTER_INFO (106).
func (c *remotingCall) cluster() *remoting.Command {
	b := c.at.b
	var info struct {
		Brokers  map[string]routeBroker `json:"brokerAddrTable"`
		Clusters map[string][]string    `json:"clusterAddrTable"`
	}
	info.Brokers, info.Clusters = map[string]routeBroker{}, map[string][]string{}
	for i, name := range b.cfg.brokers {
		if addrs := b.routeAddrs(i); len(addrs) > 0 {
			info.Brokers[name] = routeBroker{Addrs: addrs, Name: name, Cluster: clusterName}
			info.Clusters[clusterName] = append(info.Clusters[clusterName], name)
		}
	}
	body, err := json.Marshal(info)
	if err != nil {
		return c.refuse(remoting.CodeSystemError, "%v", err)
	}
	return &remoting.Command{Body: body}
}
