// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// GET_BROKER_CLUSTER_INFO asks a name server for all clusters and brokers.
// Vendors do not offer it.

// Brokers returns all brokers that the name servers know, ordered by name.
func (c *Client) Brokers(ctx context.Context) ([]BrokerData, error) {
	op := operation{verb: "reading the cluster's brokers", queue: -1}
	answer, err := c.askNames(ctx, request{op: op, code: codeCluster})
	if err != nil {
		return nil, err
	}
	var wire struct {
		Brokers map[string]BrokerData `json:"brokerAddrTable"`
	}
	if err := json.Unmarshal(quoteKeys(answer.Body), &wire); err != nil {
		return nil, &Error{Op: op.String(), Class: Transient, Err: malformed("cluster: %v", err)}
	}
	return slices.SortedFunc(maps.Values(wire.Brokers), func(a, b BrokerData) int { return strings.Compare(a.Name, b.Name) }), nil
}

// atMasters sends a request to each master of a cluster, or of all if it is "".
func (c *Client) atMasters(ctx context.Context, cluster string, r request) error {
	brokers, err := c.Brokers(ctx)
	if err != nil {
		return within(r.op, err)
	}
	asked := 0
	for _, b := range brokers {
		addr := b.Addrs[masterID]
		if addr == "" || cluster != "" && b.Cluster != cluster {
			continue
		}
		asked++
		at := r
		at.addr, at.op.broker = addr, b.Name
		at.fields = maps.Clone(r.fields) // signing adds to them
		if _, err := c.do(ctx, at); err != nil {
			return err
		}
	}
	if asked == 0 {
		return &Error{Op: r.op.String(), Class: NoRoute, Hint: "the name servers know no master of this cluster"}
	}
	return nil
}
