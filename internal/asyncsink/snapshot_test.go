// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// decimal writes ints as text, in a version that the test sets.
type decimal uint32

func (d decimal) Version() uint32              { return uint32(d) }
func (d decimal) Encode(n int) ([]byte, error) { return strconv.AppendInt(nil, int64(n), 10), nil }
func (d decimal) Decode(version uint32, data []byte) (int, error) {
	if version != uint32(d) {
		return 0, fmt.Errorf("entries of version %d: %w", version, ErrStateVersion)
	}
	return strconv.Atoi(string(data))
}

func TestASnapshotHoldsWhatHasNoOutcomeInOrderAndIsRestored(t *testing.T) {
	cfg := testConfig{MaxBatch: 2, MaxInFlight: 1, Linger: time.Hour}
	var state []byte
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		w := s.NewWriter(t.Context())
		write(t, w, 1, 2, 3, 4, 5)
		srv.next(t, 1, 2).fault(map[int]error{2: errPasses})
		srv.next(t, 3, 4) // no answer
		synctest.Wait()
		if got := s.Snapshot(); !slices.Equal(got, []int{2, 3, 4, 5}) {
			t.Errorf("the snapshot holds %v, want all but 1", got)
		}
		var err error
		if state, err = EncodeState(decimal(1), s.Snapshot()); err != nil {
			t.Fatal(err)
		}
	})
	inBubble(t, cfg, func(t *testing.T, s *testSink, srv *server) {
		entries, err := DecodeState(decimal(1), state)
		if err != nil {
			t.Fatal(err)
		}
		w := s.NewWriter(t.Context())
		if err := w.Restore(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
		srv.next(t, 2, 3).ok()
		srv.next(t, 4, 5).ok()
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		for _, o := range w.Take() {
			if o.In != 0 || o.Entry == 0 {
				t.Errorf("got %+v, want an entry and no element", o)
			}
		}
	})
}

func TestStatesOfOtherVersionsAndDamagedOnesAreRefused(t *testing.T) {
	state, err := EncodeState(decimal(1), []int{10, 200, -3})
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(change func(b []byte) []byte) []byte { // with a checksum that matches
		b := change(slices.Clone(state[:len(state)-4]))
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":                     {nil, ErrStateCorrupt},
		"other bytes":                 {[]byte("this is no state of any sink at all"), ErrStateCorrupt},
		"the form of the future":      {sealed(func(b []byte) []byte { b[7] = 2; return b }), ErrStateVersion},
		"entries of the future":       {sealed(func(b []byte) []byte { b[11] = 2; return b }), ErrStateVersion},
		"more entries than are there": {sealed(func(b []byte) []byte { b[15] = 4; return b }), ErrStateCorrupt},
		"fewer":                       {sealed(func(b []byte) []byte { b[15] = 2; return b }), ErrStateCorrupt},
		"an absurd length":            {sealed(func(b []byte) []byte { b[16] = 0xff; return b }), ErrStateCorrupt},
		"an entry that is none":       {sealed(func(b []byte) []byte { b[20] = 'x'; return b }), ErrStateCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := DecodeState(decimal(1), c.data); !errors.Is(err, c.want) || got != nil {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
	for i := range state {
		damaged := slices.Clone(state)
		damaged[i] ^= 0x10
		if _, err := DecodeState(decimal(1), damaged); err == nil {
			t.Errorf("damage of byte %d was not noticed", i)
		}
		if _, err := DecodeState(decimal(1), state[:i]); !errors.Is(err, ErrStateCorrupt) {
			t.Errorf("cut at byte %d: %v", i, err)
		}
	}
}

func FuzzDecodeState(f *testing.F) {
	state, _ := EncodeState(decimal(1), []int{10, 200, -3})
	f.Add(state)
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := DecodeState(decimal(1), data)
		if err != nil {
			if !errors.Is(err, ErrStateCorrupt) && !errors.Is(err, ErrStateVersion) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		again, err := EncodeState(decimal(1), entries)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := DecodeState(decimal(1), again); err != nil || !slices.Equal(same, entries) {
			t.Fatalf("%v came back as %v, %v", entries, same, err)
		}
	})
}
