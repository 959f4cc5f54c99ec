// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

// stopGrace is what a server gets to end by itself when it is stopped alone:
// a broker writes down what it holds in memory.
const stopGrace = 15 * time.Second

// errClosed is returned by everything after Close.
var errClosed = errors.New("realmq: the cluster is closed")

// RestartProxy stops and starts the proxy on its old ports: all sessions and
// the proxy's memory are lost, messages are not.
func (c *Cluster) RestartProxy(ctx context.Context) error {
	if err := c.KillProxy(); err != nil {
		return err
	}
	return c.StartProxy(ctx)
}

// StopProxy stops the proxy as an operator would. Its graceful end takes up
// to 15 s; KillProxy is the quick one.
func (c *Cluster) StopProxy() error { return c.stop(c.px, stopGrace) }

// KillProxy ends the proxy by SIGKILL.
func (c *Cluster) KillProxy() error { return c.stop(c.px, 0) }

// StartProxy starts a stopped proxy on its old ports and waits until it takes
// requests.
func (c *Cluster) StartProxy(ctx context.Context) error {
	return c.start(ctx, c.px, c.awaitProxy)
}

// RestartBroker stops the broker gracefully and starts it on its old port and
// store: messages, offsets and the invisibility of messages survive.
func (c *Cluster) RestartBroker(ctx context.Context) error {
	if err := c.StopBroker(); err != nil {
		return err
	}
	return c.StartBroker(ctx)
}

// StopBroker stops the broker gracefully: it stores what it holds in memory.
func (c *Cluster) StopBroker() error { return c.stop(c.bk, stopGrace) }

// KillBroker ends the broker by SIGKILL. What it had not yet written from its
// memory to a file, such as acknowledgements of the last seconds, is lost.
func (c *Cluster) KillBroker() error { return c.stop(c.bk, 0) }

// StartBroker starts a stopped broker on its old port and store, and waits
// until the name server and the proxy know it.
func (c *Cluster) StartBroker(ctx context.Context) error {
	return c.start(ctx, c.bk, func(ctx context.Context) error {
		if err := c.awaitBroker(ctx); err != nil {
			return err
		}
		if c.px.proc == nil || !c.px.proc.Running() {
			return nil
		}
		return c.awaitProxy(ctx)
	})
}

// StopNameServer stops the name server. Broker and proxy go on with what they
// know.
func (c *Cluster) StopNameServer() error { return c.stop(c.ns, stopGrace) }

// StartNameServer starts a stopped name server on its old port and waits until
// the broker is registered at it.
func (c *Cluster) StartNameServer(ctx context.Context) error {
	return c.start(ctx, c.ns, c.awaitBroker)
}

// FreezeProxy stops the proxy where it stands (SIGSTOP), as a machine that
// hangs: connections stay open and nothing answers. ThawProxy ends that.
func (c *Cluster) FreezeProxy() error { return c.signal(c.px, (*javaserver.Process).Freeze) }

// ThawProxy lets a frozen proxy go on.
func (c *Cluster) ThawProxy() error { return c.signal(c.px, (*javaserver.Process).Thaw) }

// FreezeBroker stops the broker where it stands. ThawBroker ends that.
func (c *Cluster) FreezeBroker() error { return c.signal(c.bk, (*javaserver.Process).Freeze) }

// ThawBroker lets a frozen broker go on.
func (c *Cluster) ThawBroker() error { return c.signal(c.bk, (*javaserver.Process).Thaw) }

func (c *Cluster) stop(s *server, grace time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	s.proc.Stop(grace)
	return nil
}

func (c *Cluster) start(ctx context.Context, s *server, ready func(context.Context) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	if s.proc.Running() {
		return fmt.Errorf("realmq: %s runs already", s.name)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.start(ctx, c.m); err != nil {
		return err
	}
	return ready(ctx)
}

func (c *Cluster) signal(s *server, f func(*javaserver.Process) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !s.proc.Running() {
		return fmt.Errorf("realmq: %s does not run", s.name)
	}
	return f(s.proc)
}
