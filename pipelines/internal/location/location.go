// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package location compares where topics are, as far as their addresses tell.
package location

import (
	"net"
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Topic is a topic and where it is. Of lite topics, Address are the endpoints of
// proxies; of normal ones, name servers.
type Topic struct {
	Lite                     bool
	Address, Namespace, Name string
}

// Same says whether both are one topic, and names an address that they share. A
// cluster that both reach by other addresses is not recognised.
func (t Topic) Same(o Topic) (at string, same bool) {
	if t.Lite != o.Lite || t.Namespace != o.Namespace || t.Name != o.Name || t.Name == "" {
		return "", false
	}
	theirs := o.addresses()
	for _, a := range t.addresses() {
		if slices.Contains(theirs, a) {
			return a, true
		}
	}
	return "", false
}

// addresses have one name for this machine. There are none if they are wrong,
// which others tell.
func (t Topic) addresses() (out []string) {
	var all []string
	if t.Lite {
		endpoints, _ := litegrpc.ParseEndpoints(t.Address)
		for _, e := range endpoints {
			all = append(all, e.String())
		}
	} else {
		all, _ = remoting.ParseNameServers(t.Address)
	}
	for _, a := range all {
		host, port, err := net.SplitHostPort(a)
		if err != nil {
			continue
		}
		if host = strings.ToLower(host); host == "localhost" || host == "::1" {
			host = "127.0.0.1"
		}
		out = append(out, net.JoinHostPort(host, port))
	}
	return out
}
