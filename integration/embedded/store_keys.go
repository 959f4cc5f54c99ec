// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "time"

// keyIndex finds the messages of a topic by key. It is brought up to date when
// it is asked, so that those who never ask pay nothing.
type keyIndex struct {
	seen   int // how many of the topic's messages are in it
	unique map[string][]*record
	keys   map[string][]*record
}

// lookUp returns messages with a key, at most most of them and the newest ones,
// in order of arrival. The lock is held.
func (t *topic) lookUp(broker int, key string, unique bool, most int, from, to time.Time) []*record {
	t.index()
	list := t.keys.keys[key]
	if unique {
		list = t.keys.unique[key]
	}
	var out []*record
	for _, r := range list {
		if t.queues[r.queueID].broker == broker && !r.stored.Before(from) && !r.stored.After(to) {
			out = append(out, r)
		}
	}
	return out[max(0, len(out)-most):]
}

func (t *topic) index() {
	ix := &t.keys
	if ix.seen == 0 {
		ix.unique, ix.keys = map[string][]*record{}, map[string][]*record{}
	}
	for _, r := range t.order[ix.seen:] {
		ix.unique[r.id] = append(ix.unique[r.id], r)
		for _, k := range r.keys {
			ix.keys[k] = append(ix.keys[k], r)
		}
	}
	ix.seen = len(t.order)
}
