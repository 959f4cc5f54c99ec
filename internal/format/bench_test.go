// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import "testing"

var benchBodies = map[string]struct {
	config Config
	body   string
}{
	"delimited": {Config{Kind: Delimited}, "1234567\x01a user's name\x0142"},
	"gbk":       {Config{Kind: Delimited, Charset: "GBK"}, "1234567\x01\xd6\xd0\xce\xc4\xd6\xd0\xce\xc4\x0142"},
	"csv":       {Config{Kind: CSV}, "1234567,\"a user's, name\",42"},
	"json":      {Config{Kind: JSON}, `{"id":1234567,"name":"a user's name","age":42}`},
}

func BenchmarkDecode(b *testing.B) {
	for what, c := range benchBodies {
		b.Run(what, func(b *testing.B) {
			f, body := format(b, c.config, people(b)), []byte(c.body)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if r := f.Decode(body); len(r.Rows) != 1 {
					b.Fatal(r.Faults)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for what, c := range benchBodies {
		b.Run(what, func(b *testing.B) {
			f := format(b, c.config, people(b))
			row := f.Decode([]byte(c.body)).Rows[0]
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Encode(row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeMebibyte(b *testing.B) {
	for what, c := range map[string]struct {
		config Config
		body   string
	}{
		"delimited": {Config{Kind: Delimited}, "1\x01" + mebibyte + "\x012"}, "json": {Config{Kind: JSON}, `{"id":1,"name":"` + mebibyte + `"}`},
	} {
		b.Run(what, func(b *testing.B) {
			f, body := format(b, c.config, people(b)), []byte(c.body)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if r := f.Decode(body); len(r.Rows) != 1 {
					b.Fatal(r.Faults)
				}
			}
		})
	}
}
