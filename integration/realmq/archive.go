// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"sync"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

// dumpArchives makes the missing archives of classes of all running servers at
// once.
func (c *Cluster) dumpArchives() {
	ctx, cancel := context.WithTimeout(context.Background(), javaserver.DumpTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range c.servers() {
		if s.proc != nil && s.proc.Running() {
			wg.Go(func() { s.archive.Dump(ctx, s.proc.PID()) })
		}
	}
	wg.Wait()
}
