// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"slices"
	"sync/atomic"
)

// body is a request's body in a buffer that serves one request after the other.
// Each part that reads it, the caller and the frames that carry it, holds it. A frame
// that is never taken off its queue gives nothing back; its buffer is garbage then.
type body struct {
	bytes  []byte
	holds  atomic.Int32
	client *Client
}

// newBody returns an empty body with room for size bytes, held once.
func (c *Client) newBody(size int) *body {
	b, _ := c.bodies.Get().(*body)
	if b == nil {
		b = &body{client: c}
	}
	b.bytes = slices.Grow(b.bytes[:0], size)
	b.holds.Store(1)
	return b
}

// hold and release do nothing for a body of any other kind, which is nil here.
func (b *body) hold() {
	if b != nil {
		b.holds.Add(1)
	}
}

func (b *body) release() {
	if b != nil && b.holds.Add(-1) == 0 {
		b.client.bodies.Put(b)
	}
}
