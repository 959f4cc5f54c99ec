// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

// Permissions of a topic.
const (
	permWrite = 1 << 1
	permRead  = 1 << 2
)

// shape is what a topic is at one broker. A topic with no queues to read or
// write is not there.
type shape struct {
	reads, writes int
	perm          int
	order         bool
}

func (s shape) exists() bool { return s.reads > 0 || s.writes > 0 }

// at returns what the topic is at a broker.
func (t *topic) at(broker int) shape {
	if broker >= len(t.shapes) {
		return shape{}
	}
	return t.shapes[broker]
}

// reshape creates or changes the topic at a broker. Queues that are there stay,
// with their messages, even if there are to be fewer.
func (t *topic) reshape(broker int, s shape) {
	for len(t.shapes) <= broker {
		t.shapes = append(t.shapes, shape{})
	}
	t.shapes[broker] = s
	for number := t.count(broker); number < max(s.reads, s.writes); number++ {
		q := newQueue(t, "", int32(len(t.queues)))
		q.broker, q.number = broker, int32(number)
		t.queues = append(t.queues, q)
	}
}

// count is how many queues there have ever been at a broker.
func (t *topic) count(broker int) int {
	n := 0
	for _, q := range t.queues {
		if q.broker == broker {
			n++
		}
	}
	return n
}

// find returns a queue by its broker and its number there, nil if there is none.
func (t *topic) find(broker int, number int64) *queue {
	for _, q := range t.queues {
		if q.broker == broker && int64(q.number) == number {
			return q
		}
	}
	return nil
}
