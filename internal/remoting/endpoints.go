// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// ParseNameServers takes a list of name servers apart: host:port, with ";" or
// "," between them. Hosts may be names, and a leading "http://", as vendors
// print their endpoints, is dropped.
func ParseNameServers(list string) ([]string, error) {
	var out []string
	for _, addr := range splitEndpoints(list) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, fmt.Errorf("name server %q: want host:port, several with ; between them", addr)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
			return nil, fmt.Errorf("name server %q: want a host and a port from 1 to 65535", addr)
		}
		if !slices.Contains(out, addr) {
			out = append(out, addr)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no name server is given: want host:port, several with ; between them")
	}
	return out, nil
}

func splitEndpoints(list string) (out []string) {
	for _, addr := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' }) {
		addr = strings.TrimSpace(addr)
		addr = strings.TrimPrefix(strings.TrimPrefix(addr, "http://"), "https://")
		if addr = strings.TrimSuffix(addr, "/"); addr != "" {
			out = append(out, addr)
		}
	}
	return out
}
