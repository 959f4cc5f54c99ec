// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package location

import "testing"

func TestWhatIsTheSameTopic(t *testing.T) {
	one := Topic{Address: "127.0.0.1:9876;ns:9876", Name: "orders"}
	for _, tt := range []struct {
		name  string
		other Topic
		at    string
	}{
		{"all the same", one, "127.0.0.1:9876"},
		{"another name of this machine", Topic{Address: "http://LocalHost:9876", Name: "orders"}, "127.0.0.1:9876"},
		{"a name server of several", Topic{Address: "other:9876;NS:9876", Name: "orders"}, "ns:9876"},
		{"another port", Topic{Address: "ns:9877", Name: "orders"}, ""},
		{"another topic", Topic{Address: one.Address, Name: "paid"}, ""},
		{"another namespace", Topic{Address: one.Address, Namespace: "i", Name: "orders"}, ""},
		{"lite topics", Topic{Lite: true, Address: "ns:9876", Name: "orders"}, ""},
		{"addresses that are none", Topic{Address: "ns", Name: "orders"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, pair := range [][2]Topic{{one, tt.other}, {tt.other, one}} {
				if at, same := pair[0].Same(pair[1]); at != tt.at || same != (tt.at != "") {
					t.Errorf("got %q, %v; want %q", at, same, tt.at)
				}
			}
		})
	}
	if at, same := (Topic{Lite: true, Address: "proxy:8081", Name: "bus"}).Same(Topic{Lite: true, Address: "a:1;proxy:8081", Name: "bus"}); !same || at != "proxy:8081" {
		t.Errorf("lite topics: got %q, %v", at, same)
	}
}
