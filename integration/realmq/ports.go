// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"errors"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

// ports are the listening ports of one cluster.
type ports struct {
	nameServer, broker, ha, grpc, remoting int
}

// choosePorts chooses free ports; broker is fixed unless it is 0.
func choosePorts(broker int) (ports, error) {
	p := ports{broker: broker}
	var free javaserver.Ports
	var err error
	if broker == 0 {
		// The broker also listens two ports below (the "fast" port for
		// producers), which no setting moves.
		p.broker, err = free.Free(0, -2)
	}
	for _, one := range []*int{&p.nameServer, &p.ha, &p.grpc, &p.remoting} {
		if err == nil {
			*one, err = free.Free(0)
		}
	}
	return p, err
}

func loopback(port int) string { return javaserver.Loopback(port) }

// serverOf is the name of the server that did not come up, or "".
func serverOf(err error) string {
	if failed, ok := errors.AsType[*startError](err); ok {
		return failed.server
	}
	return ""
}

// portTaken tells from a server's last words whether it found its port taken.
func portTaken(err error) bool {
	failed, ok := errors.AsType[*startError](err)
	return ok && javaserver.PortTaken(failed.tail)
}
