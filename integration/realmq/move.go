// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// MoveBroker stops the broker gracefully and starts it on another port with its
// old store, as if another host had taken over its name.
func (c *Cluster) MoveBroker(ctx context.Context) error {
	return c.changeStopped(ctx, func() error {
		p, err := choosePorts(0)
		if err != nil {
			return err
		}
		moved := c.ports
		moved.broker, moved.ha = p.broker, p.ha
		if err := writeSettings(c.m.dir, moved, c.cfg); err != nil {
			return err
		}
		c.broker.Store(int32(p.broker))
		return nil
	})
}

// DropOldestMessages stops the broker gracefully, removes the oldest files of its
// commit log, so many of them, and starts it again: what a broker does by itself
// when the retention of messages is over, which it looks at a minute after its
// start at the earliest. Queues then begin at what is left. How large a file is
// says the broker's property mappedFileSizeCommitLog.
func (c *Cluster) DropOldestMessages(ctx context.Context, files int) error {
	return c.changeStopped(ctx, func() error {
		dir := filepath.Join(c.m.dir, "store", "commitlog")
		all, err := os.ReadDir(dir) // sorted by name: that is, by offset
		if err != nil {
			return err
		}
		if len(all) < files+2 {
			return fmt.Errorf("the commit log has %d files, too few to remove %d", len(all), files)
		}
		for _, f := range all[:files] {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
		return err
	})
}

// changeStopped does something while the broker is stopped.
func (c *Cluster) changeStopped(ctx context.Context, change func() error) error {
	if err := c.StopBroker(); err != nil {
		return err
	}
	c.mu.Lock()
	err := change()
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("realmq: %w", errors.Join(err, c.StartBroker(ctx)))
	}
	return c.StartBroker(ctx)
}
