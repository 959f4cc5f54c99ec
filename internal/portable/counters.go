// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"bytes"
	"maps"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
)

// counters sums what bundles report.
type counters struct {
	mu  sync.Mutex
	sum map[string]int64
}

var userCounter = metricsx.UrnToString(metricsx.UrnUserSumInt64)

// add adds the counters of a bundle that has ended.
func (c *counters) add(bundle *fnpb.ProcessBundleResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, info := range bundle.GetMonitoringInfos() {
		if info.GetUrn() != userCounter {
			continue
		}
		n, err := coder.DecodeVarInt(bytes.NewReader(info.GetPayload()))
		if err != nil {
			continue // of the same process; a figure less is no reason to fail
		}
		labels := info.GetLabels()
		c.sum[labels["NAMESPACE"]+"."+labels["NAME"]] += n
	}
}

func (c *counters) snapshot() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sum)
}
