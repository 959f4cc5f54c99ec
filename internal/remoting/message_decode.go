// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"fmt"
	"hash/crc32"
	"net/netip"
	"time"
)

// The first word after a stored message's length. With the second, topics may
// be longer than 127 bytes.
const (
	magicV1 = 0xdaa320a7
	magicV2 = 0xdaa320ab
)

// DefaultMaxBody bounds a decompressed body.
const DefaultMaxBody = 64 << 20

// Decoder decodes stored messages. The zero value is ready, and any number of
// goroutines may use it.
type Decoder struct {
	// MaxBody bounds a decompressed body, in bytes; 0 means [DefaultMaxBody]. A
	// message that would grow over it has its Err set.
	MaxBody int

	inflater inflater
}

// Messages decodes stored messages that stand one after the other, as in the
// body of a pull's answer. Batches that are stored as one come apart. Bodies
// are parts of b unless they were compressed. When b is broken somewhere, the
// messages before that are returned with an error that is [ErrMalformed].
func (d *Decoder) Messages(b []byte) ([]Message, error) {
	out := make([]Message, 0, countMessages(b))
	for len(b) > 0 {
		c := cursor{b: b}
		size := int64(int32(c.uint32()))
		if size < 4 || size > int64(len(b)) {
			return out, malformed("message of %d bytes where %d are left, after %d messages", size, len(b), len(out))
		}
		topic := ""
		if len(out) > 0 {
			topic = out[len(out)-1].Topic
		}
		out = append(out, Message{})
		if err := d.decode(&out[len(out)-1], b[4:size], topic); err != nil {
			return out[:len(out)-1], fmt.Errorf("message %d: %w", len(out)-1, err)
		}
		b = b[size:]
		if m := out[len(out)-1]; m.SysFlag&(sysInnerBatch|sysNeedUnwrap) == sysInnerBatch|sysNeedUnwrap && m.Err == nil {
			var err error
			if out, err = unwrap(out[:len(out)-1], m); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// countMessages says how many messages b seems to hold; what it says is
// bounded by b's length.
func countMessages(b []byte) (n int) {
	const least = 91 // a message without body, topic and properties
	for len(b) >= least {
		c := cursor{b: b}
		size := int64(int32(c.uint32()))
		if size < least || size > int64(len(b)) {
			return n
		}
		b, n = b[size:], n+1
	}
	return n
}

// decode reads one message, b being what follows its length. topic is that of
// the message before, to share its string.
func (d *Decoder) decode(m *Message, b []byte, topic string) error {
	c := cursor{b: b}
	magic := c.uint32()
	if magic != magicV1 && magic != magicV2 {
		return malformed("magic number %08x", magic)
	}
	sum := c.uint32()
	m.QueueID = int(int32(c.uint32()))
	m.Flag = int32(c.uint32())
	m.QueueOffset = int64(c.uint64())
	m.PhysicalOffset = int64(c.uint64())
	m.SysFlag = int32(c.uint32())
	m.Born = time.UnixMilli(int64(c.uint64()))
	m.BornHost = c.host(m.SysFlag&sysBornV6 != 0)
	m.Stored = time.UnixMilli(int64(c.uint64()))
	m.StoreHost = c.host(m.SysFlag&sysStoreV6 != 0)
	m.ReconsumeTimes = int(int32(c.uint32()))
	m.PreparedOffset = int64(c.uint64())
	m.Body = c.bytes(int64(int32(c.uint32())))
	n := int64(0)
	if magic == magicV2 {
		n = int64(c.uint16())
	} else {
		n = int64(c.uint8())
	}
	name := c.bytes(n)
	properties := c.bytes(int64(c.uint16()))
	if c.bad {
		return malformed("message ends before its fields do")
	}
	if m.Topic = topic; string(name) != topic {
		m.Topic = string(name)
	}
	m.Properties = Properties(properties)
	d.body(m, sum)
	return nil
}

// host reads an address and a port.
func (c *cursor) host(v6 bool) netip.AddrPort {
	n := int64(4)
	if v6 {
		n = 16
	}
	addr, _ := netip.AddrFromSlice(c.bytes(n))
	return netip.AddrPortFrom(addr, uint16(c.uint32()))
}

// body checks the stored body and decompresses it. A sum of zero is none.
func (d *Decoder) body(m *Message, sum uint32) {
	if got := crc32.ChecksumIEEE(m.Body) & 0x7fffffff; sum != 0 && got != sum {
		m.Err = malformed("body checksum is %08x, the message says %08x", got, sum)
		return
	}
	if m.SysFlag&sysCompressed == 0 {
		return
	}
	limit := d.MaxBody
	if limit <= 0 {
		limit = DefaultMaxBody
	}
	kind := Compression(m.SysFlag & sysCompression >> sysCompressionPos)
	body, err := d.inflater.decompress(kind, m.Body, limit)
	if err != nil {
		m.Err = fmt.Errorf("%w: compressed body: %w", ErrMalformed, err)
		return
	}
	m.Body = body
	m.SysFlag &^= sysCompressed | sysCompression
}

// unwrap appends the messages of a batch that is stored as one message. They
// have consecutive queue offsets from that of the batch on.
func unwrap(out []Message, batch Message) ([]Message, error) {
	entries, err := DecodeBatch(batch.Body)
	for i, e := range entries {
		m := batch
		m.SysFlag &^= sysInnerBatch | sysNeedUnwrap
		m.QueueOffset += int64(i)
		m.Flag, m.Properties, m.Body = e.Flag, e.Properties, e.Body
		out = append(out, m)
	}
	if err != nil {
		return out, fmt.Errorf("batch at queue offset %d: %w", batch.QueueOffset, err)
	}
	return out, nil
}

// BatchEntry is a message within a batch.
type BatchEntry struct {
	Flag       int32
	Properties Properties
	Body       []byte
}

// DecodeBatch decodes the body of a batch. Bodies are parts of b. When b is
// broken somewhere, the entries before that are returned with an error.
func DecodeBatch(b []byte) ([]BatchEntry, error) {
	var out []BatchEntry
	for len(b) > 0 {
		c := cursor{b: b}
		size := int64(int32(c.uint32()))
		if size < 4 || size > int64(len(b)) {
			return out, malformed("batch entry %d of %d bytes where %d are left", len(out), size, len(b))
		}
		c.b = b[4:size]
		c.bytes(8) // magic number and checksum, both unused
		var e BatchEntry
		e.Flag = int32(c.uint32())
		e.Body = c.bytes(int64(int32(c.uint32())))
		e.Properties = Properties(c.bytes(int64(c.uint16())))
		if c.bad {
			return out, malformed("batch entry %d ends before its fields do", len(out))
		}
		out, b = append(out, e), b[size:]
	}
	return out, nil
}
