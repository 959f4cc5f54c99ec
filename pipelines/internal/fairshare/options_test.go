// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

func TestDefaultsAreGoodAndShowSomething(t *testing.T) {
	o := Defaults()
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	if doubts := o.Doubts(); len(doubts) > 0 {
		t.Errorf("doubts about the defaults: %q", doubts)
	}
	if o.Load.NoisyRate <= o.Capacity() {
		t.Errorf("the noisy tenant's %v msg/s are not more than the capacity of %v", o.Load.NoisyRate, o.Capacity())
	}
	if o.CalmRate() > o.Capacity()/3 {
		t.Errorf("the calm tenants' %v msg/s are no small part of the capacity of %v", o.CalmRate(), o.Capacity())
	}
}

func TestCheckNamesFlagAndValue(t *testing.T) {
	tests := []struct {
		name string
		set  func(*Options)
		want []string
	}{
		{"endpoints without a port", func(o *Options) { o.Endpoints = "proxy" }, []string{"--endpoints", `"proxy"`}},
		{"endpoints with a scheme", func(o *Options) { o.Endpoints = "http://proxy:8081" }, []string{"--endpoints", "http://proxy:8081"}},
		{"no topic", func(o *Options) { o.Topic = "" }, []string{"--topic", "empty"}},
		{"a topic that RocketMQ refuses", func(o *Options) { o.Topic = "a b" }, []string{"--topic", `"a b"`}},
		{"no group", func(o *Options) { o.Group = "" }, []string{"--group", "empty"}},
		{"an unknown resolver", func(o *Options) { o.Connection.Credentials.Resolver = "vault" }, []string{"--credentials", `"vault"`}},
		{"TLS without a cluster", func(o *Options) { o.Connection.TLS.Enabled = true }, []string{"--tls", "--endpoints"}},
		{"a CA file without TLS", func(o *Options) { o.Endpoints, o.Connection.TLS = "p:1", auth.TLS{CAFile: "ca.pem"} }, []string{"--tls-ca", "TLS is off"}},
		{"a CA file that is missing", func(o *Options) { o.Endpoints, o.Connection.TLS = "p:1", auth.TLS{Enabled: true, CAFile: "/no/ca.pem"} }, []string{"--tls-ca", "/no/ca.pem"}},
		{"no tenants", func(o *Options) { o.Load.Tenants = 0 }, []string{"--tenants 0"}},
		{"no sessions", func(o *Options) { o.Load.Sessions = -1 }, []string{"--sessions -1"}},
		{"no noisy sessions", func(o *Options) { o.Load.NoisySessions = 0 }, []string{"--noisy-sessions 0"}},
		{"a negative rate", func(o *Options) { o.Load.CalmRate = -3 }, []string{"--calm-rate -3"}},
		{"a noisy rate of nothing", func(o *Options) { o.Load.NoisyRate = 0 }, []string{"--noisy-rate 0"}},
		{"a short duration", func(o *Options) { o.Load.Duration = time.Millisecond }, []string{"--duration 1ms"}},
		{"no work", func(o *Options) { o.Work = 0 }, []string{"--work 0s"}},
		{"no workers", func(o *Options) { o.Workers = 0 }, []string{"--workers 0"}},
		{"no quota", func(o *Options) { o.Quota = 0 }, []string{"--quota 0"}},
		{"a window of nothing", func(o *Options) { o.Window = 0 }, []string{"--window 0s"}},
		{"a short deferral", func(o *Options) { o.Defer = time.Second }, []string{"--defer 1s"}},
		{"a short lease", func(o *Options) { o.InvisibleDuration = time.Second }, []string{"--invisible-duration 1s"}},
		{"no drain timeout", func(o *Options) { o.DrainTimeout = 0 }, []string{"--drain-timeout 0s"}},
		{"an unknown leg", func(o *Options) { o.Legs = []string{"none", "half"} }, []string{"--legs", `"half"`}},
		{"a leg twice", func(o *Options) { o.Legs = []string{"none", "none"} }, []string{"--legs", "none,none"}},
		{"no leg", func(o *Options) { o.Legs = nil }, []string{"--legs"}},
		{"a plot nowhere", func(o *Options) { o.Plot = "/no/where.svg" }, []string{"--plot", "/no/where.svg"}},
		{"a plot that is a folder", func(o *Options) { o.Plot = os.TempDir() }, []string{"--plot", os.TempDir()}},
		{"a plot without a name", func(o *Options) { o.Plot = "" }, []string{"--plot"}},
		{"too many messages", func(o *Options) { o.Load.NoisyRate, o.Load.Duration = 1e5, time.Hour }, []string{"--noisy-rate 100000", "--duration 1h0m0s"}},
		{"two at once", func(o *Options) { o.Topic, o.Quota = "", -1 }, []string{"--topic", "--quota -1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Defaults()
			tt.set(&o)
			err := o.Check()
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to name %q", err, want)
				}
			}
		})
	}
}

func TestCheckTakesARealCluster(t *testing.T) {
	o := Defaults()
	o.Endpoints, o.Connection.TLS = "a:8081;[::1]:8081", auth.TLS{Enabled: true, ServerName: "proxy"}
	o.Connection.Credentials.Resolver = "env"
	o.Plot = filepath.Join(t.TempDir(), "x.svg")
	if err := o.Check(); err != nil {
		t.Error(err)
	}
}

func TestDoubts(t *testing.T) {
	tests := []struct {
		name string
		set  func(*Options)
		want string
	}{
		{"everything fits", func(o *Options) { o.Load.NoisyRate = 1 }, "nothing to be fair about"},
		{"the calm ones are too many", func(o *Options) { o.Load.CalmRate = 100 }, "no policy can help"},
		{"the quota is above the capacity", func(o *Options) { o.Quota = 1000 }, "--quota"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Defaults()
			tt.set(&o)
			if got := strings.Join(o.Doubts(), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
