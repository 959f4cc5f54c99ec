// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// askTimeout bounds the question where a topic is.
const askTimeout = 3 * time.Second

// checkRoutes refuses a normal topic that is to be copied onto itself although
// --from and --to have no address in common: a host has many names, and a cluster
// several name servers. What cannot be found out is left to the pipeline, which
// tries for longer.
func (o *Options) checkRoutes(ctx context.Context) error {
	if o.Lite || o.From.Topic != o.To.Topic || o.From.Namespace != o.To.Namespace {
		return nil
	}
	from, to := o.From.brokers(ctx), o.To.brokers(ctx)
	for addr := range from {
		if to[addr] {
			return &RefusedError{fmt.Errorf("--from %s and --to %s are both topic %q at broker %s: it would be copied for ever",
				o.From.Address, o.To.Address, o.To.Topic, addr)}
		}
	}
	return nil
}

// brokers are the addresses of the brokers that have the topic.
func (c *Cluster) brokers(ctx context.Context) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	config := remoting.Config{NameServers: c.Address, Namespace: c.Namespace, TLS: c.TLS, Timeout: askTimeout}
	if c.Credentials != "" {
		config.Credentials = auth.Source{Resolver: c.Credentials}.Provider(c.Address)
	}
	client, err := remoting.NewClient(config)
	if err != nil {
		return nil
	}
	defer client.Close()
	route, err := client.Route(ctx, c.Topic)
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	for _, b := range route.Brokers {
		for _, addr := range b.Addrs {
			found[addr] = true
		}
	}
	return found
}
