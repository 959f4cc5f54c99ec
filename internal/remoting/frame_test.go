// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func header(kind byte, head string, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(kind)<<24|uint32(len(head)))
	return append(append(b, head...), body...)
}

func readAllCommands(b []byte) (out []*Command, err error) {
	r := NewReader(bytes.NewReader(b), DefaultMaxFrame)
	for {
		cmd, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, cmd)
	}
}

func TestFramesReadBack(t *testing.T) {
	for _, cmd := range []*Command{
		{},
		{Code: 310, Language: "GO", Version: 513, Opaque: -7, Flag: flagOneWay, Remark: "why \"not\"\n", Body: []byte{0, 1, 2}},
		{Code: 1, Language: "JAVA", Opaque: 1 << 30, Fields: map[string]string{"i": "TAGS\x01a\x02KEYS\x01<b>\x02", "empty": "", "grün": "日本"}},
		{Code: 30000, Language: "OTHER", Version: 65535, Body: bytes.Repeat([]byte("x"), 3<<20)},
	} {
		b, err := AppendCommand(nil, cmd, DefaultMaxFrame)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAllCommands(b)
		if d := cmp.Diff([]*Command{cmd}, got, cmp.Comparer(bytes.Equal)); d != "" || err != io.EOF {
			t.Errorf("JSON: %v %s", err, d)
		}
		want := *cmd
		if want.Language == "" {
			want.Language = "OTHER"
		}
		got, err = readAllCommands(header(headerBinary, string(appendBinaryHeader(nil, cmd)), string(cmd.Body)))
		if d := cmp.Diff([]*Command{&want}, got, cmp.Comparer(bytes.Equal)); d != "" || err != io.EOF {
			t.Errorf("binary: %v %s", err, d)
		}
	}
}

// A header as a Java server writes it, byte for byte.
func TestHeadersOfServers(t *testing.T) {
	want := []*Command{{Code: 19, Language: "JAVA", Version: 513, Opaque: 5, Flag: 1, Remark: "no",
		Fields: map[string]string{"maxOffset": "10"}, Body: []byte("xy")}}
	for name, b := range map[string][]byte{
		"JSON": header(headerJSON, `{"code":19,"extFields":{"maxOffset":"10"},"flag":1,"language":"JAVA","opaque":5,"remark":"no","serializeTypeCurrentRPC":"JSON","version":513}`, "xy"),
		"binary": header(headerBinary, "\x00\x13\x00\x02\x01\x00\x00\x00\x05\x00\x00\x00\x01\x00\x00\x00\x02no\x00\x00\x00\x11"+
			"\x00\x09maxOffset\x00\x00\x00\x0210", "xy"),
	} {
		got, err := readAllCommands(b)
		if d := cmp.Diff(want, got); d != "" || err != io.EOF {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// hostileFrames are refused.
var hostileFrames = map[string]string{
	"a length of 0":                          "\x00\x00\x00\x00",
	"a length of 3":                          "\x00\x00\x00\x03\x00\x00\x00",
	"a negative length":                      "\xff\xff\xff\xff\x00\x00\x00\x00",
	"a length over the limit":                "\x01\x00\x00\x01\x00\x00\x00\x00",
	"a header longer than the frame":         "\x00\x00\x00\x05\x00\x00\x00\x02{",
	"an empty header":                        "\x00\x00\x00\x04\x00\x00\x00\x00",
	"an unknown encoding":                    string(header(2, "{}", "")),
	"a header that is no object":             string(header(headerJSON, "[1]", "")),
	"a header cut short":                     string(header(headerJSON, `{"code":1`, "")),
	"a code that is a text":                  string(header(headerJSON, `{"code":"x"}`, "")),
	"an opaque over 32 bits":                 string(header(headerJSON, `{"opaque":4294967296}`, "")),
	"an empty binary header":                 string(header(headerBinary, "", "")),
	"a binary header cut short":              string(header(headerBinary, strings.Repeat("\x00", 20), "")),
	"a binary remark longer than its header": string(header(headerBinary, strings.Repeat("\x00", 13)+"\x00\x00\x00\x09no\x00\x00\x00\x00", "")),
	"a negative binary remark":               string(header(headerBinary, strings.Repeat("\x00", 13)+"\xff\xff\xff\xff\x00\x00\x00\x00", "")),
	"binary fields longer than their header": string(header(headerBinary, strings.Repeat("\x00", 17)+"\x00\x00\x00\x63", "")),
	"a binary field without value":           string(header(headerBinary, strings.Repeat("\x00", 17)+"\x00\x00\x00\x03\x00\x01a", "")),
	"a binary value of -1 bytes":             string(header(headerBinary, strings.Repeat("\x00", 17)+"\x00\x00\x00\x07\x00\x01a\xff\xff\xff\xff", "")),
}

func TestHostileFrames(t *testing.T) {
	for name, b := range hostileFrames {
		if got, err := readAllCommands([]byte(b)); !errors.Is(err, ErrMalformed) || len(got) != 0 {
			t.Errorf("%s: got %d commands, %v; want ErrMalformed", name, len(got), err)
		}
	}
	good := header(headerJSON, `{"code":1}`, "body")
	for n := range good {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, err := readAllCommands(good[:n]); err != want {
			t.Errorf("cut after %d bytes: got %v, want %v", n, err, want)
		}
	}
}

// A frame that claims 16 MiB and sends nothing must not cost them.
func TestClaimedLengthIsNotAllocated(t *testing.T) {
	b := append(binary.BigEndian.AppendUint32(nil, DefaultMaxFrame), 0, 0, 0, 2, '{', '}')
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := readAllCommands(b); err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 3<<20 {
		t.Errorf("each allocated %d bytes", each)
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	if _, err := AppendCommand(nil, &Command{Fields: map[string]string{"x": "\xff"}}, DefaultMaxFrame); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("got %v", err)
	}
	if _, err := AppendCommand(nil, &Command{Body: make([]byte, 100)}, 100); err == nil || !strings.Contains(err.Error(), "100") {
		t.Errorf("got %v", err)
	}
}

func FuzzFrame(f *testing.F) {
	for _, b := range hostileFrames {
		f.Add([]byte(b))
	}
	f.Add(header(headerJSON, `{"code":1,"extFields":{"a":"b"}}`, "body"))
	f.Add(header(headerBinary, string(appendBinaryHeader(nil, &Command{Code: 3, Remark: "r", Fields: map[string]string{"a": "b"}})), "body"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readAllCommands(b)
		if err == nil {
			t.Fatal("no error at the end")
		}
		// The same again with something behind it: the valid prefix decodes alike.
		again, _ := readAllCommands(append(bytes.Clone(b), "\x00\x00\x00\x00"...))
		if len(again) < len(got) {
			t.Fatalf("%d commands, and %d with bytes behind them", len(got), len(again))
		}
		if d := cmp.Diff(got, again[:len(got)], cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
		for _, cmd := range got {
			out, err := AppendCommand(nil, cmd, 1<<30)
			if err != nil {
				continue // text that is no UTF-8, from a binary header
			}
			back, err := readAllCommands(out)
			if len(back) != 1 || err != io.EOF && !errors.Is(err, ErrMalformed) {
				t.Fatalf("%+v reads back as %d commands, %v", cmd, len(back), err)
			}
			if back[0].Code != cmd.Code || back[0].Opaque != cmd.Opaque || !bytes.Equal(back[0].Body, cmd.Body) || len(back[0].Fields) != len(cmd.Fields) {
				t.Fatalf("%+v reads back as %+v", cmd, back[0])
			}
		}
	})
}
