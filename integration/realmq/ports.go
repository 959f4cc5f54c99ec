// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
)

// Ports are taken from below the range that systems use for outgoing
// connections (from 32768 on Linux, 49152 elsewhere), so that a connection
// that comes and goes cannot take one between choosing and binding.
const (
	firstPort = 20000
	lastPort  = 32000
)

// ports are the listening ports of one cluster.
type ports struct {
	nameServer, broker, ha, grpc, remoting int
}

// choosePorts chooses free ports; broker is fixed unless it is 0.
func choosePorts(broker int) (ports, error) {
	p := ports{broker: broker}
	taken := map[int]bool{}
	free := func(needed ...int) (int, error) { return freePort(taken, needed...) }
	var err error
	if broker == 0 {
		// The broker also listens two ports below (the "fast" port for
		// producers), which no setting moves.
		p.broker, err = free(0, -2)
	}
	for _, one := range []*int{&p.nameServer, &p.ha, &p.grpc, &p.remoting} {
		if err == nil {
			*one, err = free(0)
		}
	}
	return p, err
}

// freePort returns a port of which all offsets are free, and marks them.
func freePort(taken map[int]bool, offsets ...int) (int, error) {
	for range 500 {
		port, ok := firstPort+rand.IntN(lastPort-firstPort), true
		for _, o := range offsets {
			ok = ok && !taken[port+o] && canListen(port+o)
		}
		if !ok {
			continue
		}
		for _, o := range offsets {
			taken[port+o] = true
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}

func canListen(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// serverOf is the name of the server that did not come up, or "".
func serverOf(err error) string {
	var failed *startError
	if errors.As(err, &failed) {
		return failed.server
	}
	return ""
}

// portTaken tells from a server's last words whether it found its port taken.
func portTaken(err error) bool {
	var failed *startError
	if !errors.As(err, &failed) {
		return false
	}
	for _, sign := range []string{"BindException", "Address already in use", "Failed to bind"} {
		if strings.Contains(failed.tail, sign) {
			return true
		}
	}
	return false
}
