// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// panicText runs f and returns what it panicked with.
func panicText(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// Each wrong setting is refused while the pipeline is built, with its name and
// value (L23, L40, Y43: config of 0; L12: no patterns; X06e: empty names).
func TestWrongSettingsAreRefusedWithNameAndValue(t *testing.T) {
	read := func(endpoints, topic, group string, opts ...ReadOption) func() {
		return func() { _, s := beam.NewPipelineWithRoot(); Read(s, endpoints, topic, group, opts...) }
	}
	with := func(opts ...ReadOption) func() { return read("h:1", "t", "g", opts...) }
	for name, c := range map[string]struct {
		build func()
		want  []string
	}{
		"empty endpoints":       {read("", "t", "g"), []string{"endpoints are empty"}},
		"endpoints of only ;":   {read(";;", "t", "g"), []string{`";;"`}},
		"no port":               {read("host", "t", "g"), []string{`"host"`, "host:port"}},
		"a port of words":       {read("host:http", "t", "g"), []string{`"http"`}},
		"a port too large":      {read("host:65536", "t", "g"), []string{"65536"}},
		"a scheme":              {read("http://h:1", "t", "g"), []string{"scheme"}},
		"empty topic":           {read("h:1", "", "g"), []string{"topic is empty"}},
		"a pattern as topic":    {read("h:1", "pay-*", "g"), []string{`"pay-*"`, `'*'`}},
		"empty group":           {read("h:1", "t", ""), []string{"group is empty"}},
		"a long group":          {read("h:1", "t", strings.Repeat("g", 121)), []string{"121"}},
		"no concurrency":        {with(ReadFetchConcurrency(0)), []string{"ReadFetchConcurrency: 0"}},
		"a short lease":         {with(ReadInvisibleDuration(9 * time.Second)), []string{"ReadInvisibleDuration: 9s", "10s"}},
		"no lease":              {with(ReadInvisibleDuration(0)), []string{"ReadInvisibleDuration: 0s"}},
		"a long lease":          {with(ReadInvisibleDuration(13 * time.Hour)), []string{"13h"}},
		"a short await":         {with(ReadAwaitDuration(time.Second)), []string{"ReadAwaitDuration: 1s"}},
		"no messages":           {with(ReadMaxMessageNum(0)), []string{"ReadMaxMessageNum: 0"}},
		"a negative timeout":    {with(ReadRequestTimeout(-1)), []string{"ReadRequestTimeout: -1ns"}},
		"unknown resolver":      {with(ReadCredentials("vault")), []string{`"vault"`, "env", "file"}},
		"empty resolver":        {with(ReadCredentials("")), []string{"ReadCredentials: the resolver's name is empty"}},
		"half a static key":     {with(ReadStaticCredentials("AK", "")), []string{"secret key"}},
		"two kinds of keys":     {with(ReadCredentials("env"), ReadStaticCredentials("AKID", "SECRET")), []string{"choose one"}},
		"a CA without TLS":      {with(ReadTLS(auth.TLS{CAFile: "x"})), []string{"TLS is off"}},
		"a nil option":          {with(nil), []string{"option 1 of 1 is nil"}},
		"a nil policy":          {with(ReadRenewal(nil)), []string{"renewal policy is nil"}},
		"a literal policy":      {with(ReadRenewal(func(Queued) time.Duration { return 0 })), []string{"option ReadRenewal", "function literal"}},
		"a namespace of lines":  {with(ReadNamespace("a\nb")), []string{"option ReadNamespace", `"a\nb"`}},
		"renewal at once":       {with(ReadRenewal(RenewWhileQueued), ReadInvisibleDuration(10*time.Second), ReadRenewalAhead(10*time.Second)), []string{"renewal-ahead time 10s"}},
		"no shards":             {with(ReadShards(0)), []string{"ReadShards: 0"}},
		"two faults at once":    {read("", "", "g"), []string{"endpoints are empty", "topic is empty"}},
		"bounded without limit": {func() { _, s := beam.NewPipelineWithRoot(); ReadBounded(s, "h:1", "t", "g") }, []string{"litegrpcio.ReadBounded", "no limit"}},
		"bounded beyond leases": {func() {
			_, s := beam.NewPipelineWithRoot()
			ReadBounded(s, "h:1", "t", "g", ReadMaxDuration(time.Minute))
		}, []string{"max duration 1m0s"}},
		"writing strings": {func() { _, s := beam.NewPipelineWithRoot(); Write(s, "h:1", "t", beam.Create(s, "x")) }, []string{"litegrpcio.Write", "string"}},
		"writing nowhere": {func() { _, s := beam.NewPipelineWithRoot(); Write(s, "h:1", "", beam.Create(s, Message{})) }, []string{"topic is empty"}},
		"a wrong lite topic": {func() {
			_, s := beam.NewPipelineWithRoot()
			Write(s, "h:1", "t", beam.Create(s, Message{}), WriteLiteTopic("a b"))
		}, []string{`"a b"`}},
		"writing without tries": {func() {
			_, s := beam.NewPipelineWithRoot()
			Write(s, "h:1", "t", beam.Create(s, Message{}), WriteMaxAttempts(0))
		}, []string{"WriteMaxAttempts: 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := panicText(c.build)
			if !strings.HasPrefix(text, "litegrpcio.") {
				t.Fatalf("got %q, want a panic that begins with litegrpcio", text)
			}
			for _, part := range c.want {
				if !strings.Contains(text, part) {
					t.Errorf("%q does not say %s", text, part)
				}
			}
			if strings.Contains(text, "SECRET") {
				t.Errorf("the text tells a secret: %q", text)
			}
		})
	}
}

func TestTheDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	c, err := newReadConfig("h:1", "t", "g", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.FetchConcurrency, c.AwaitDuration, c.InvisibleDuration, c.MaxMessageNum, c.RenewalAhead, c.Renewal == nil)
	if want := "1 20s 1m0s 32 5s true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEachOptionReachesItsSetting(t *testing.T) {
	c, err := newReadConfig("h:1", "t", "g", []ReadOption{ReadStallTimeout(30 * time.Second), ReadAssumeWildcard(), ReadPublishTime(time.Minute)})
	if err != nil || c.StallTimeout != 30*time.Second || !c.AssumeWildcard || !c.PublishTime || c.MaxDisorder != time.Minute {
		t.Errorf("got %+v, %v", c, err)
	}
	w, err := newWriteConfig("h:1", "t", []WriteOption{WriteMaxInFlight(7)})
	if err != nil || w.MaxInFlight != 7 {
		t.Errorf("got %+v, %v", w, err)
	}
}
