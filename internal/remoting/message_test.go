// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	hostV4 = netip.MustParseAddrPort("10.1.2.3:4567")
	hostV6 = netip.MustParseAddrPort("[2001:db8::1]:10911")

	compareMessages = cmp.Options{cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }), cmpopts.EquateEmpty(), cmpopts.EquateErrors()}
)

func sample() Message {
	return Message{Topic: "t", QueueID: 3, QueueOffset: 1 << 40, PhysicalOffset: 1 << 41, Flag: 9,
		Born: time.UnixMilli(1700000000001), Stored: time.UnixMilli(1700000000002), BornHost: hostV4, StoreHost: hostV4,
		ReconsumeTimes: 2, PreparedOffset: 77, Properties: "TAGS\x01a\x02KEYS\x01k1 k2\x02UNIQ_KEY\x01id\x02", Body: []byte("body")}
}

func stored(messages ...Message) (b []byte) {
	for _, m := range messages {
		b = AppendMessage(b, &m)
	}
	return b
}

func TestMessagesReadBack(t *testing.T) {
	plain, v6, long, empty := sample(), sample(), sample(), Message{Born: time.UnixMilli(0), Stored: time.UnixMilli(0)}
	v6.BornHost, v6.StoreHost = hostV6, hostV6
	long.Topic = strings.Repeat("x", 200)
	messages := []Message{plain, v6, long, empty, plain}
	var d Decoder
	got, err := d.Messages(stored(messages...))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]Message(nil), messages...)
	want[1].SysFlag = sysBornV6 | sysStoreV6
	none := netip.AddrPortFrom(netip.AddrFrom4([4]byte{}), 0)
	want[3].BornHost, want[3].StoreHost = none, none
	if d := cmp.Diff(want, got, compareMessages); d != "" {
		t.Error(d)
	}
	if got, err := d.Messages(nil); len(got) != 0 || err != nil {
		t.Errorf("nothing: got %v, %v (W20)", got, err)
	}
	if m := got[0]; m.Tag() != "a" || m.UniqueKey() != "id" || !cmp.Equal(m.Keys(), []string{"k1", "k2"}) {
		t.Errorf("got tag %q, unique key %q, keys %q", m.Tag(), m.UniqueKey(), m.Keys())
	}
}

func TestOffsetIDs(t *testing.T) {
	for _, row := range []struct {
		host netip.AddrPort
		want string
	}{
		{netip.MustParseAddrPort("127.0.0.1:10911"), "7F00000100002A9F00000000000000FF"},
		{hostV6, "20010DB800000000000000000000000100002A9F00000000000000FF"},
	} {
		id := OffsetID(row.host, 255)
		host, physical, err := ParseOffsetID(id)
		if id != row.want || host != row.host || physical != 255 || err != nil {
			t.Errorf("got %s, which is %v, %d, %v; want %s", id, host, physical, err, row.want)
		}
	}
	for _, id := range []string{"", "7F", "zz", strings.Repeat("0", 40)} {
		if _, _, err := ParseOffsetID(id); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

func TestCompressedBodies(t *testing.T) {
	body := bytes.Repeat([]byte("all work and no play "), 1000)
	for _, kind := range []Compression{LZ4, Zstd, Zlib} {
		small, err := compress(kind, body)
		if err != nil {
			t.Fatal(err)
		}
		m := sample()
		m.SysFlag, m.Body = sysCompressed|int32(kind)<<sysCompressionPos, small
		random := m
		random.Body = []byte("this is not compressed at all")
		cut := m
		cut.Body = small[:len(small)/2]
		var d Decoder
		got, err := d.Messages(stored(m, random, cut, m))
		if err != nil || len(got) != 4 {
			t.Fatalf("%v: got %d messages, %v", kind, len(got), err)
		}
		for _, i := range []int{0, 3} {
			if !bytes.Equal(got[i].Body, body) || got[i].Err != nil || got[i].SysFlag != 0 {
				t.Errorf("%v: got %d bytes, flag %x, %v; want %d", kind, len(got[i].Body), got[i].SysFlag, got[i].Err, len(body))
			}
		}
		for i, want := range map[int]Message{1: random, 2: cut} {
			if got[i].Err == nil || !bytes.Equal(got[i].Body, want.Body) || got[i].SysFlag == 0 {
				t.Errorf("%v: message %d that cannot be decompressed: got body %q, flag %x, error %v", kind, i, got[i].Body, got[i].SysFlag, got[i].Err)
			}
		}
		bounded := Decoder{MaxBody: len(body) - 1}
		got, err = bounded.Messages(stored(m))
		if err != nil || !errors.Is(got[0].Err, errTooLarge) {
			t.Errorf("%v over the limit: got %v, %v", kind, got[0].Err, err)
		}
	}
	// As clients before 5.0 send it: zlib, and no kind.
	m := sample()
	m.Body, _ = compress(Zlib, body)
	m.SysFlag = sysCompressed
	var d Decoder
	if got, _ := d.Messages(stored(m)); !bytes.Equal(got[0].Body, body) {
		t.Errorf("zlib without a kind: %v", got[0].Err)
	}
	m.SysFlag = sysCompressed | 7<<sysCompressionPos
	if got, _ := d.Messages(stored(m)); got[0].Err == nil {
		t.Error("an unknown kind: no error")
	}
}

func TestBodyChecksum(t *testing.T) {
	b := stored(sample(), sample(), sample())
	one := len(b) / 3
	b[one+8]++ // the checksum of the second
	copy(b[2*one+8:], []byte{0, 0, 0, 0})
	var d Decoder
	got, err := d.Messages(b)
	if err != nil || len(got) != 3 {
		t.Fatal(len(got), err)
	}
	for i, wrong := range []bool{false, true, false} {
		if (got[i].Err != nil) != wrong || string(got[i].Body) != "body" {
			t.Errorf("message %d: error %v, body %q", i, got[i].Err, got[i].Body)
		}
	}
}

func TestBatchesStoredAsOne(t *testing.T) {
	m := sample()
	m.SysFlag = sysInnerBatch | sysNeedUnwrap
	m.Body = nil
	for i := range 3 {
		m.Body = AppendBatchEntry(m.Body, BatchEntry{Flag: int32(i), Body: []byte{'a' + byte(i)}, Properties: Properties(fmt.Sprintf("n\x01%d\x02", i))})
	}
	var d Decoder
	got, err := d.Messages(stored(sample(), m, sample()))
	if err != nil || len(got) != 5 {
		t.Fatalf("got %d messages, %v", len(got), err)
	}
	for i, in := range got[1:4] {
		if in.QueueOffset != m.QueueOffset+int64(i) || string(in.Body) != string(rune('a'+i)) || in.Properties.Get("n") != fmt.Sprint(i) ||
			in.Flag != int32(i) || in.StoreHost != m.StoreHost || in.SysFlag != 0 || in.Topic != "t" {
			t.Errorf("inner message %d: %+v", i, in)
		}
	}
	m.Body = append(m.Body, 0, 0, 0, 99)
	got, err = d.Messages(stored(sample(), m, sample()))
	if !errors.Is(err, ErrMalformed) || len(got) != 4 {
		t.Errorf("a broken batch: got %d messages, %v; want the 4 before the damage", len(got), err)
	}
	// Compressed as a whole.
	m.Body, _ = compress(LZ4, m.Body[:len(m.Body)-4])
	m.SysFlag |= sysCompressed | int32(LZ4)<<sysCompressionPos
	if got, err = d.Messages(stored(m)); err != nil || len(got) != 3 {
		t.Errorf("a compressed batch: got %d messages, %v", len(got), err)
	}
}

// hostileMessages change one good message into bytes that are none.
var hostileMessages = map[string]func(b []byte) []byte{
	"a length of 0":                     func(b []byte) []byte { return put32(b, 0, 0) },
	"a length of 4":                     func(b []byte) []byte { return put32(b, 0, 4) },
	"a negative length":                 func(b []byte) []byte { return put32(b, 0, 0xffffffff) },
	"a length beyond the end":           func(b []byte) []byte { return put32(b, 0, uint32(len(b)+1)) },
	"a length one too short":            func(b []byte) []byte { return put32(b, 0, uint32(len(b)-1)) },
	"no magic number":                   func(b []byte) []byte { return put32(b, 4, 0) },
	"the magic number of a file's end":  func(b []byte) []byte { return put32(b, 4, 0xcbd43194) },
	"a body of -1 bytes":                func(b []byte) []byte { return put32(b, 84, 0xffffffff) },
	"a body beyond the end":             func(b []byte) []byte { return put32(b, 84, 0x7fffffff) },
	"a topic beyond the end":            func(b []byte) []byte { b[92] = 0xff; return b },
	"properties beyond the end":         func(b []byte) []byte { b[94] = 0x7f; return b },
	"addresses of IPv6 where none are":  func(b []byte) []byte { return put32(b, 36, sysBornV6|sysStoreV6) },
	"three bytes":                       func(b []byte) []byte { return b[:3] },
	"a length and nothing else":         func(b []byte) []byte { return b[:4] },
	"a message cut within its topic":    func(b []byte) []byte { return put32(b[:93], 0, 93) },
	"a topic length of the second kind": func(b []byte) []byte { return put32(b, 4, magicV2) },
}

func put32(b []byte, at int, v uint32) []byte {
	binary.BigEndian.PutUint32(b[at:], v)
	return b
}

func TestHostileMessages(t *testing.T) {
	good := sample()
	for name, change := range hostileMessages {
		var d Decoder
		for n := range 3 {
			b := stored([]Message{good, good, good}[:n]...)
			got, err := d.Messages(append(b, change(stored(good))...))
			if !errors.Is(err, ErrMalformed) || len(got) != n {
				t.Errorf("%s behind %d good ones: got %d messages, %v", name, n, len(got), err)
			}
		}
	}
}

func FuzzMessages(f *testing.F) {
	good := sample()
	f.Add(stored(good, good))
	v6 := good
	v6.BornHost, v6.StoreHost, v6.Topic = hostV6, hostV6, strings.Repeat("t", 200)
	f.Add(stored(v6))
	batch := good
	batch.SysFlag = sysInnerBatch | sysNeedUnwrap
	batch.Body = AppendBatchEntry(nil, BatchEntry{Body: []byte("x"), Properties: "a\x01b\x02"})
	f.Add(stored(batch, good))
	for kind := NoCompression; kind <= Zlib; kind++ {
		m := good
		if kind != NoCompression {
			m.Body, _ = compress(kind, bytes.Repeat([]byte("x"), 1000))
		}
		m.SysFlag = sysCompressed | int32(kind)<<sysCompressionPos
		f.Add(stored(m))
	}
	for _, change := range hostileMessages {
		f.Add(change(stored(good)))
	}
	d := Decoder{MaxBody: 1 << 16}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := d.Messages(bytes.Clone(b))
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("%v is not ErrMalformed", err)
		}
		for _, m := range got {
			if len(m.Body) > max(len(b), d.MaxBody) {
				t.Fatalf("a body of %d bytes", len(m.Body))
			}
			m.Tag()
			m.Keys()
			m.OffsetID()
		}
		// What was decoded before an error decodes alike with more behind it.
		again, err2 := d.Messages(append(bytes.Clone(b), stored(good)...))
		if err == nil && (err2 != nil || len(again) != len(got)+1) {
			t.Fatalf("%d messages, then %d and %v with one more", len(got), len(again), err2)
		}
		for i := range min(len(got), len(again)) {
			if got[i].QueueOffset != again[i].QueueOffset || !bytes.Equal(got[i].Body, again[i].Body) || got[i].Properties != again[i].Properties {
				t.Fatalf("message %d: %+v, then %+v", i, got[i], again[i])
			}
		}
		if entries, err := DecodeBatch(b); err == nil {
			var back []byte
			for _, e := range entries {
				back = AppendBatchEntry(back, e)
			}
			if len(back) > len(b) {
				t.Fatalf("batch of %d bytes became %d", len(b), len(back))
			}
		}
	})
}

func TestProperties(t *testing.T) {
	p, err := NewProperties(map[string]string{"b": "2", "a": "1 = x", "gone": "", "grün": "日本"})
	if err != nil || p != "a\x011 = x\x02b\x012\x02grün\x01日本\x02" {
		t.Errorf("got %q, %v", p, err)
	}
	if d := cmp.Diff(map[string]string{"a": "1 = x", "b": "2", "grün": "日本"}, p.Map()); d != "" {
		t.Error(d)
	}
	for _, row := range []struct {
		name string
		p    Properties
		want map[string]string
	}{
		{"none", "", map[string]string{}},
		{"no end", "a\x01b", map[string]string{"a": "b"}},
		{"no name, no value, no separator", "\x01v\x02n\x01\x02x\x02\x02a\x01b\x02", map[string]string{"a": "b"}},
		{"a name twice: the later counts", "a\x011\x02a\x012\x02", map[string]string{"a": "2"}},
		{"a separator in a value", "a\x01b\x01c\x02", map[string]string{"a": "b\x01c"}},
	} {
		if d := cmp.Diff(row.want, row.p.Map()); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
		for k, v := range row.want {
			if got := row.p.Get(k); got != v {
				t.Errorf("%s: %s is %q, want %q", row.name, k, got, v)
			}
		}
	}
	for name, m := range map[string]map[string]string{
		"no name":                  {"": "x"},
		"separator in a name":      {"a\x01": "x"},
		"separator in a value":     {"a": "x\x02y"},
		"a value that is no UTF-8": {"a": "\xff"},
		"too long":                 {"a": strings.Repeat("x", 32767)},
	} {
		if p, err := NewProperties(m); err == nil {
			t.Errorf("%s: got %q, want an error", name, p)
		}
	}
}

func TestUniqueKeysAreUnique(t *testing.T) {
	u := newUniqueKeys()
	at := time.Date(2026, 2, 28, 23, 59, 59, 0, time.UTC)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50_000 { // many in one millisecond: the count runs over
				k := u.next(at)
				mu.Lock()
				if seen[k] || len(k) != 32 {
					t.Errorf("key %q again, or not of 32 digits", k)
				}
				seen[k] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for range 1000 { // a clock that goes back
		if k := u.next(at.Add(-time.Duration(rand.IntN(1e12)))); seen[k] {
			t.Fatalf("key %q again", k)
		}
	}
	// The tools read the time of the month from bytes 10 to 13.
	k := newUniqueKeys().next(at)
	if want := fmt.Sprintf("%08X", at.Sub(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)).Milliseconds()); k[20:28] != want {
		t.Errorf("key %s has time %s, want %s", k, k[20:28], want)
	}
}

func TestFilters(t *testing.T) {
	for _, row := range []struct {
		e          Expression
		kind, text string
		pass, fail []string
	}{
		{Expression{}, "TAG", "*", []string{"", "a"}, nil},
		{TagFilter(""), "TAG", "*", []string{"", "a"}, nil},
		{TagFilter("a || * "), "TAG", "*", []string{"", "b"}, nil},
		{TagFilter(" a||b ||a"), "TAG", "a || b", []string{"a", "b"}, []string{"", "c", "a || b"}},
		{SQLFilter("x > 1"), "SQL92", "x > 1", []string{"", "a"}, nil},
	} {
		if row.e.Type() != row.kind || row.e.String() != row.text {
			t.Errorf("got %s %q, want %s %q", row.e.Type(), row.e, row.kind, row.text)
		}
		for want, tags := range map[bool][]string{true: row.pass, false: row.fail} {
			for _, tag := range tags {
				p, err := NewProperties(map[string]string{PropertyTags: tag})
				if got := row.e.match(&Message{Properties: p}); got != want || err != nil {
					t.Errorf("%v of tag %q: got %v, want %v (%v)", row.e, tag, got, want, err)
				}
			}
		}
	}
	// As in Java: "Hello".hashCode(), and one that overflows.
	for s, want := range map[string]int32{"": 0, "Hello": 69609650, "polygenelubricants": -2147483648, "日": 26085} {
		if got := javaHash(s); got != want {
			t.Errorf("hash of %q: got %d, want %d", s, got, want)
		}
	}
}
