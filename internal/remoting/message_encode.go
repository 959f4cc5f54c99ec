// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"net/netip"
)

// AppendBatchEntry appends e as an entry of a batch's body.
func AppendBatchEntry(b []byte, e BatchEntry) []byte {
	return append(appendEntry(b, e, len(e.Properties)), e.Properties...)
}

// appendEntry appends an entry without its properties, which are of that length and
// to follow.
func appendEntry(b []byte, e BatchEntry, properties int) []byte {
	size := 4 + 4 + 4 + 4 + 4 + len(e.Body) + 2 + properties
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = binary.BigEndian.AppendUint32(b, 0) // magic number, unused
	b = binary.BigEndian.AppendUint32(b, 0) // checksum, unused
	b = binary.BigEndian.AppendUint32(b, uint32(e.Flag))
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.Body)))
	b = append(b, e.Body...)
	return binary.BigEndian.AppendUint16(b, uint16(properties))
}

// AppendMessage appends m as a broker stores it, with the body as it is: the
// inverse of [Decoder.Messages], for servers in tests.
func AppendMessage(b []byte, m *Message) []byte {
	start := len(b)
	flag := m.SysFlag &^ (sysBornV6 | sysStoreV6)
	if m.BornHost.Addr().Is6() {
		flag |= sysBornV6
	}
	if m.StoreHost.Addr().Is6() {
		flag |= sysStoreV6
	}
	magic := uint32(magicV1)
	if len(m.Topic) > math.MaxInt8 {
		magic = magicV2
	}
	b = binary.BigEndian.AppendUint32(b, 0) // the length, below
	b = binary.BigEndian.AppendUint32(b, magic)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(m.Body)&0x7fffffff)
	b = binary.BigEndian.AppendUint32(b, uint32(m.QueueID))
	b = binary.BigEndian.AppendUint32(b, uint32(m.Flag))
	b = binary.BigEndian.AppendUint64(b, uint64(m.QueueOffset))
	b = binary.BigEndian.AppendUint64(b, uint64(m.PhysicalOffset))
	b = binary.BigEndian.AppendUint32(b, uint32(flag))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Born.UnixMilli()))
	b = appendHost(b, m.BornHost)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Stored.UnixMilli()))
	b = appendHost(b, m.StoreHost)
	b = binary.BigEndian.AppendUint32(b, uint32(m.ReconsumeTimes))
	b = binary.BigEndian.AppendUint64(b, uint64(m.PreparedOffset))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Body)))
	b = append(b, m.Body...)
	if magic == magicV2 {
		b = binary.BigEndian.AppendUint16(b, uint16(len(m.Topic)))
	} else {
		b = append(b, byte(len(m.Topic)))
	}
	b = append(b, m.Topic...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.Properties)))
	b = append(b, m.Properties...)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start))
	return b
}

// appendHost appends an address and a port; no address is 0.0.0.0.
func appendHost(b []byte, h netip.AddrPort) []byte {
	if h.Addr().Is6() {
		b = append(b, h.Addr().AsSlice()...)
	} else if h.Addr().Is4() {
		b = append(b, h.Addr().AsSlice()...)
	} else {
		b = append(b, 0, 0, 0, 0)
	}
	return binary.BigEndian.AppendUint32(b, uint32(h.Port()))
}
