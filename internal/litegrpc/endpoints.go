// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// Endpoints are the proxies of one cluster, in the order given.
type Endpoints []Address

// Address is one proxy.
type Address struct {
	Host string
	Port int
}

// String is host:port, as a dialer takes it.
func (a Address) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// String is host:port[;host:port…], as [ParseEndpoints] reads it.
func (e Endpoints) String() string {
	parts := make([]string, len(e))
	for i, a := range e {
		parts[i] = a.String()
	}
	return strings.Join(parts, ";")
}

// ParseEndpoints reads host:port[;host:port…]; a comma separates as well. The
// error names the part that is wrong.
func ParseEndpoints(s string) (Endpoints, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fmt.Errorf("endpoints are empty: want host:port[;host:port] of the RocketMQ proxies")
	}
	var out Endpoints
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == ',' }) {
		a, err := parseAddress(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("endpoints %q: %w", s, err)
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("endpoints %q name no proxy: want host:port[;host:port]", s)
	}
	return out, nil
}

func parseAddress(s string) (Address, error) {
	if i := strings.Index(s, "://"); i >= 0 {
		return Address{}, fmt.Errorf("%q begins with a scheme: want host:port, and TLS by its own option", s)
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not host:port: %w", s, err)
	}
	if host == "" || strings.ContainsAny(host, " \t/@?#") {
		return Address{}, fmt.Errorf("%q has no usable host", s)
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return Address{}, fmt.Errorf("%q has port %q: want a number from 1 to 65535", s, port)
	}
	return Address{Host: host, Port: n}, nil
}

// proto is the form that requests take. One request carries one scheme; a
// mixed list is sent as domain names, which addresses are too.
func (e Endpoints) proto() *v2.Endpoints {
	out := &v2.Endpoints{Scheme: v2.AddressScheme_DOMAIN_NAME}
	for i, a := range e {
		out.Addresses = append(out.Addresses, &v2.Address{Host: a.Host, Port: int32(a.Port)})
		if s := scheme(a.Host); i == 0 {
			out.Scheme = s
		} else if s != out.Scheme {
			out.Scheme = v2.AddressScheme_DOMAIN_NAME
		}
	}
	return out
}

func scheme(host string) v2.AddressScheme {
	ip := net.ParseIP(host)
	switch {
	case ip == nil:
		return v2.AddressScheme_DOMAIN_NAME
	case ip.To4() != nil:
		return v2.AddressScheme_IPv4
	default:
		return v2.AddressScheme_IPv6
	}
}

// hosts is the set of host names.
func (e Endpoints) hosts() map[string]bool {
	out := make(map[string]bool, len(e))
	for _, a := range e {
		out[a.Host] = true
	}
	return out
}
