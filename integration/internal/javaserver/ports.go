// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range that systems use for outgoing
// connections (from 32768 on Linux, 49152 elsewhere), so that a connection
// that comes and goes cannot take one between choosing and binding.
const (
	firstPort = 20000
	lastPort  = 32000
)

// Ports chooses free ports, each once.
type Ports struct{ taken map[int]bool }

// Free returns a port of which all offsets are free, and marks them.
func (p *Ports) Free(offsets ...int) (int, error) {
	if p.taken == nil {
		p.taken = make(map[int]bool)
	}
	for range 500 {
		port, ok := firstPort+rand.IntN(lastPort-firstPort), true
		for _, o := range offsets {
			ok = ok && !p.taken[port+o] && canListen(port+o)
		}
		if !ok {
			continue
		}
		for _, o := range offsets {
			p.taken[port+o] = true
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}

func canListen(port int) bool {
	l, err := net.Listen("tcp", Loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Loopback is the address of a port on this machine.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
