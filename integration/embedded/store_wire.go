// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// wire is what the remoting protocol says of a message beyond its content.
type wire struct {
	flag       int32
	sysFlag    int32
	properties remoting.Properties
	bornHost   netip.AddrPort
	reconsumed int
	preparedAt int64 // where the half message of a committed one lies
	complete   bool  // all of it is filled in
	inner      int   // how many messages are in it, when it is a batch stored as one
}

// Bits of a message's system flag.
const (
	sysCompressed  = 1 << 0
	sysPrepared    = 1 << 2
	sysNeedUnwrap  = 1 << 6
	sysInnerBatch  = 1 << 7
	compressionPos = 8
)

// Properties that the broker itself reads or writes.
const (
	propertyCluster    = "CLUSTER"
	propertyPrepared   = "TRAN_MSG"
	propertyRealTopic  = "REAL_TOPIC"
	propertyRealQueue  = "REAL_QID"
	propertyTrace      = "TRACE_CONTEXT"
	propertyInnerCount = "INNER_NUM"
)

// clusterName is the one cluster that all brokers belong to.
const clusterName = "DefaultCluster"

// wireOf returns how a message looks to the remoting side, made when it is first
// asked for if the message came in some other way. The lock is held.
func (r *record) wireOf() *wire {
	if r.wire == nil || !r.wire.complete {
		w := wire{}
		if r.wire != nil {
			w = *r.wire // what options of Publish have set
		}
		r.content.fillWire(&w)
		w.complete = true
		r.wire = &w
	}
	return r.wire
}

func (c *content) fillWire(w *wire) {
	var b strings.Builder
	put := func(name, value string) {
		if value != "" {
			b.WriteString(name + "\x01" + value + "\x02")
		}
	}
	put(remoting.PropertyKeys, strings.Join(c.keys, " "))
	put(remoting.PropertyTags, c.tag)
	put(remoting.PropertyUniqueKey, c.id)
	put(remoting.PropertyShardingKey, c.messageGroup)
	put(propertyTrace, c.traceContext)
	put("__LITE_TOPIC", c.liteTopic)
	for _, k := range slices.Sorted(maps.Keys(c.properties)) {
		put(k, c.properties[k])
	}
	put(propertyCluster, clusterName)
	w.properties = remoting.Properties(b.String())
	if c.compressed {
		w.sysFlag |= sysCompressed | c.compression.bits()
	}
	if ap, err := netip.ParseAddrPort(c.bornHost); err == nil {
		w.bornHost = ap
	} else if a, err := netip.ParseAddr(c.bornHost); err == nil {
		w.bornHost = netip.AddrPortFrom(a, 0)
	}
}

// bits are the compression's in a system flag. Gzip, which remoting clients do
// not know, has none.
func (c Compression) bits() int32 {
	switch c {
	case LZ4:
		return 1 << compressionPos
	case Zstd:
		return 2 << compressionPos
	case Zlib:
		return 3 << compressionPos
	}
	return 0
}

// userProperties are those that the gRPC side shows beside tag, keys and id.
func userProperties(p remoting.Properties) map[string]string {
	m := p.Map()
	maps.DeleteFunc(m, func(k, _ string) bool { return systemProperties[k] || k == remoting.PropertyShardingKey })
	return m
}
