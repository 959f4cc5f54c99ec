// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Bits of a message's system flag.
const (
	sysCompressed     = 1 << 0
	sysPrepared       = 1 << 2
	sysBornV6         = 1 << 4
	sysStoreV6        = 1 << 5
	sysNeedUnwrap     = 1 << 6
	sysInnerBatch     = 1 << 7
	sysCompressionPos = 8
	sysCompression    = 7 << sysCompressionPos
)

// Message is a message as a broker stores it.
type Message struct {
	// Topic is without the namespace when a [Client] returned the message.
	Topic string
	// Broker is the name of the broker, when a Client returned the message.
	Broker string
	// QueueID and QueueOffset say where in the topic it is.
	QueueID     int
	QueueOffset int64
	// PhysicalOffset is the message's place in the broker's commit log.
	PhysicalOffset int64
	// Flag is the sender's own.
	Flag int32
	// SysFlag are the system's bits, without those that decoding has undone.
	SysFlag int32
	// Born is when the sender made it, Stored when the broker wrote it, both to
	// the millisecond.
	Born, Stored time.Time
	// BornHost is the sender, StoreHost the broker.
	BornHost, StoreHost netip.AddrPort
	// ReconsumeTimes counts how often a consumer gave it back.
	ReconsumeTimes int
	// PreparedOffset is that of the half message in the commit log, for a
	// message of a transaction.
	PreparedOffset int64
	// Properties are all of them, the system's among them.
	Properties Properties
	// Body is decompressed. It is part of the answer it came in: whoever keeps
	// one message of a pull for long should copy it.
	Body []byte
	// Err says why Body is not what was sent: a checksum that does not match, a
	// compression that cannot be undone. Body is then as it was stored. Other
	// messages of the same answer are not touched by it.
	Err error
}

// UniqueKey is the id that the sender gave the message, the same for each of
// its copies. Empty if it gave none.
func (m *Message) UniqueKey() string { return m.Properties.Get(PropertyUniqueKey) }

// Tag is the message's tag, mostly one.
func (m *Message) Tag() string { return m.Properties.Get(PropertyTags) }

// Keys are the message's keys.
func (m *Message) Keys() []string { return SplitKeys(m.Properties.Get(PropertyKeys)) }

// KeySeparator stands between keys: a blank, and no other white space.
const KeySeparator = " "

// SplitKeys takes a list of keys apart, as brokers do for their index.
func SplitKeys(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ' ' })
}

// OffsetID names the stored message: the broker's address and the place in its
// commit log.
func (m *Message) OffsetID() string { return OffsetID(m.StoreHost, m.PhysicalOffset) }

// OffsetID makes an offset message id: 32 hexadecimal digits, or 56 with an
// address of IPv6.
func OffsetID(store netip.AddrPort, physical int64) string {
	return string(AppendOffsetID(nil, store, physical))
}

// AppendOffsetID appends an offset message id, for those who make many.
func AppendOffsetID(text []byte, store netip.AddrPort, physical int64) []byte {
	if !store.IsValid() {
		return text
	}
	var raw [28]byte
	b := raw[:0]
	if a := store.Addr(); a.Is4() {
		host := a.As4()
		b = append(b, host[:]...)
	} else {
		host := a.As16()
		b = append(b, host[:]...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(store.Port()))
	b = binary.BigEndian.AppendUint64(b, uint64(physical))
	const digits = "0123456789ABCDEF"
	for _, v := range b {
		text = append(text, digits[v>>4], digits[v&15])
	}
	return text
}

// ParseOffsetID takes an offset message id apart.
func ParseOffsetID(id string) (store netip.AddrPort, physical int64, err error) {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != 16 && len(b) != 28 {
		return netip.AddrPort{}, 0, malformed("offset message id %q: want 32 or 56 hexadecimal digits", id)
	}
	c := cursor{b: b}
	addr, _ := netip.AddrFromSlice(c.bytes(int64(len(b) - 12)))
	store = netip.AddrPortFrom(addr, uint16(c.uint32()))
	return store, int64(c.uint64()), nil
}

func (m *Message) String() string {
	return fmt.Sprintf("%s/%s/%d@%d", m.Topic, m.Broker, m.QueueID, m.QueueOffset)
}
