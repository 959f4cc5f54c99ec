// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"slices"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// keyIndex finds the messages of a topic by key, unique key or tag. As in
// RocketMQ it knows only hash codes: who looks for a key gets what has another one
// of the same hash as well, and one that is a message's key and its unique key
// brings it twice. It is brought up to date when it is asked, so that those who
// never ask pay nothing.
type keyIndex struct {
	seen   int // how many of the topic's messages are in it
	byHash map[int32][]*record
}

// lookUp returns messages, at most most of them and the newest ones, in order of
// arrival. The lock is held.
func (c *core) lookUp(t *topic, broker int, key string, most int, from, to int64) []*record {
	t.index()
	var out []*record
	for _, r := range slices.Backward(t.keys.byHash[indexHash(t.name, key)]) {
		at := c.indexTime(r.stored)
		if len(out) < most && t.queues[r.queueID].broker == broker && at >= from && at <= to {
			out = append(out, r)
		}
	}
	slices.Reverse(out)
	return out
}

// indexTime is a time as the index has it: in whole seconds since its first
// message. So a message may seem stored up to a second before it was.
func (c *core) indexTime(stored time.Time) int64 {
	return c.firstStored + (stored.UnixMilli()-c.firstStored)/1000*1000
}

func (t *topic) index() {
	ix := &t.keys
	if ix.byHash == nil {
		ix.byHash = map[int32][]*record{}
	}
	add := func(key string, r *record) {
		h := indexHash(t.name, key)
		ix.byHash[h] = append(ix.byHash[h], r)
	}
	for _, r := range t.order[ix.seen:] {
		add(r.id, r)
		for _, k := range r.keys {
			add(k, r)
		}
		if tag := r.wireOf().properties.Get(remoting.PropertyTags); tag != "" {
			add(tagKey+tag, r)
		}
	}
	ix.seen = len(t.order)
}

// tagKey stands before a tag that is indexed.
const tagKey = "T#"

// indexHash is the hash code that a key of a topic is indexed by.
func indexHash(topic, key string) int32 {
	h := javaHash(topic + "#" + key)
	if h < 0 {
		h = max(-h, 0) // the least number has no positive
	}
	return h
}
