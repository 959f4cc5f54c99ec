// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Snapshot returns the entries that have no outcome, in the order in which they
// were written: those in flight, too, which may be carried out all the same. A
// host that keeps state restores them after a failure with [Writer.Restore].
func (s *Sink[In, Entry, Ack]) Snapshot() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*item[In, Entry, Ack]
	for _, l := range s.lanes {
		for i := range l.waiting.len() {
			open = append(open, l.waiting.at(i))
		}
		open = append(open, l.later...)
	}
	for f := range s.flights {
		for _, it := range f.items {
			if !it.settled {
				open = append(open, it)
			}
		}
	}
	slices.SortFunc(open, func(a, b *item[In, Entry, Ack]) int { return cmp.Compare(a.seq, b.seq) })
	out := make([]Entry, len(open))
	for i, it := range open {
		out[i] = it.entry
	}
	return out
}

// Restore takes entries of a snapshot as if they had been written now. What is
// said of [Writer.Write] holds; an error leaves the entries out that have not
// been taken.
func (w *Writer[In, Entry, Ack]) Restore(ctx context.Context, entries []Entry) error {
	for i, e := range entries {
		it := &item[In, Entry, Ack]{entry: e, owner: w, size: w.sink.cfg.Size(e)}
		if err := w.enqueue(ctx, it); err != nil {
			return fmt.Errorf("restoring entry %d of %d: %w", i+1, len(entries), err)
		}
	}
	return nil
}

// Serializer writes and reads entries.
type Serializer[Entry any] interface {
	// Version is that of the form in which Encode writes.
	Version() uint32
	// Encode writes an entry.
	Encode(Entry) ([]byte, error)
	// Decode reads an entry that was written in the form of a version. It
	// refuses those that it does not know with an error that is [ErrStateVersion].
	Decode(version uint32, data []byte) (Entry, error)
}

// Errors of [DecodeState].
var (
	// ErrStateVersion: the state is of a version that this program does not know.
	ErrStateVersion = errors.New("unknown version of a sink's state")
	// ErrStateCorrupt: the bytes are no state of a sink, or not all of one.
	ErrStateCorrupt = errors.New("corrupt state of a sink")
)

// The form of a state: magic, version of the form, version of the entries, their
// number, each with its length, and a checksum of all that; numbers of 32 bits,
// big-endian.
const (
	stateMagic   = 0x524d5153
	stateVersion = 1
	stateHead    = 4 * 4
	stateTail    = 4
)

// EncodeState writes entries for a host that keeps state.
func EncodeState[Entry any](s Serializer[Entry], entries []Entry) ([]byte, error) {
	b := binary.BigEndian.AppendUint32(nil, stateMagic)
	b = binary.BigEndian.AppendUint32(b, stateVersion)
	b = binary.BigEndian.AppendUint32(b, s.Version())
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for i, e := range entries {
		data, err := s.Encode(e)
		if err != nil {
			return nil, fmt.Errorf("asyncsink: entry %d of the state: %w", i, err)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
		b = append(b, data...)
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

// DecodeState reads what [EncodeState] wrote. Its error is [ErrStateVersion] or
// [ErrStateCorrupt], and there are no entries then.
func DecodeState[Entry any](s Serializer[Entry], data []byte) ([]Entry, error) {
	if len(data) < stateHead+stateTail || binary.BigEndian.Uint32(data) != stateMagic {
		return nil, fmt.Errorf("asyncsink: %d bytes: %w", len(data), ErrStateCorrupt)
	}
	body, sum := data[:len(data)-stateTail], binary.BigEndian.Uint32(data[len(data)-stateTail:])
	if v := binary.BigEndian.Uint32(body[4:]); v != stateVersion {
		return nil, fmt.Errorf("asyncsink: state of form %d, this program knows %d: %w", v, stateVersion, ErrStateVersion)
	}
	if crc32.ChecksumIEEE(body) != sum {
		return nil, fmt.Errorf("asyncsink: the checksum does not match: %w", ErrStateCorrupt)
	}
	version, count, rest := binary.BigEndian.Uint32(body[8:]), binary.BigEndian.Uint32(body[12:]), body[stateHead:]
	var out []Entry
	for i := range count {
		if len(rest) < 4 || uint64(len(rest)-4) < uint64(binary.BigEndian.Uint32(rest)) {
			return nil, fmt.Errorf("asyncsink: entry %d of %d is not there as a whole: %w", i, count, ErrStateCorrupt)
		}
		size := binary.BigEndian.Uint32(rest)
		e, err := s.Decode(version, rest[4:4+size])
		if err != nil {
			if !errors.Is(err, ErrStateVersion) {
				err = fmt.Errorf("%w: %w", ErrStateCorrupt, err)
			}
			return nil, fmt.Errorf("asyncsink: entry %d of %d: %w", i, count, err)
		}
		out, rest = append(out, e), rest[4+size:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("asyncsink: %d bytes behind the last entry: %w", len(rest), ErrStateCorrupt)
	}
	return out, nil
}
