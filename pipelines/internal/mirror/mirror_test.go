// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

func TestWrongOptionsNameTheFlag(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Options)
		want []string
	}{
		{"no topic", func(o *Options) { o.To.Topic = "" }, []string{"--to-topic"}},
		{"a topic onto itself", func(o *Options) { o.To = o.From }, []string{"--from", "--to", topic}},
		{"a topic onto itself, by another name of the server", func(o *Options) {
			o.From.Address, o.To.Address, o.To.Topic = "127.0.0.1:9876", "ns2:9876;http://LocalHost:9876", o.From.Topic
		}, []string{"--from", "--to", topic, "127.0.0.1:9876"}},
		{"two filters", func(o *Options) { o.Tags, o.SQL = []string{"a"}, "a > 1" }, []string{"--tags", "--sql"}},
		{"no tag", func(o *Options) { o.Tags = []string{} }, []string{"--tags"}},
		{"an empty tag", func(o *Options) { o.Tags = []string{"a", ""} }, []string{`--tags "a,"`}},
		{"exactly once", func(o *Options) { o.Guarantee = "exactly-once" }, []string{"--guarantee exactly-once"}},
		{"another guarantee", func(o *Options) { o.Guarantee = "twice" }, []string{`--guarantee "twice"`}},
		{"a start that is none", func(o *Options) { o.Start = "yesterday" }, []string{`--since "yesterday"`, "earliest"}},
		{"an end that is none", func(o *Options) { o.Stop = "committed" }, []string{`--until "committed"`}},
		{"an end for idle normal topics", func(o *Options) { o.IdleTimeout = time.Second }, []string{"--idle-timeout"}},
		{"a start for lite topics", func(o *Options) { o.Lite, o.Stop = true, toNever; o.Start = fromLatest }, []string{"--since"}},
		{"SQL for lite topics", func(o *Options) { o.Lite, o.Stop = true, toNever; o.SQL = "a > 1" }, []string{"--sql"}},
		{"a property of RocketMQ's own", func(o *Options) { o.BornProperty = "TAGS" }, []string{`--born-property "TAGS"`}},
		{"a property that is never stored", func(o *Options) { o.BornProperty = "__RMQ.TRANSIENT.x" }, []string{`--born-property "__RMQ.TRANSIENT.x"`}},
		{"a property with a control character", func(o *Options) { o.BornProperty = "a\tb" }, []string{`--born-property "a\tb"`, "control character"}},
		{"a property that is no UTF-8", func(o *Options) { o.BornProperty = "\xa4" }, []string{`--born-property "\xa4"`}},
		{"options of Flink without it", func(o *Options) { o.Runner.Options.Parallelism = 2 }, []string{"--flink"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := normal("ns1:9876", "ns2:9876")
			if err := o.Check(); err != nil {
				t.Fatalf("without the fault: %v", err)
			}
			c.set(&o)
			err := o.Check()
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want an error with %q", err, want)
				}
			}
		})
	}
}

func TestCopiesOfANormalTopicAreLikeTheirOriginals(t *testing.T) {
	from, to := clusters(t)
	born := time.UnixMilli(1_700_000_000_123)
	from.PublishTo(embedded.Queue{Topic: topic}, []byte("first"), embedded.PublishKeys("k1", "k2"), embedded.PublishTag("paid"),
		embedded.PublishProperty("colour", "red"), embedded.PublishBorn(born))
	fill(from, 0, 99)
	o := normal(from.NameServer(), to.NameServer())
	o.BornProperty = "born"
	got, err := run(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Read != 100 || got.Written != 100 || got.Failed != 0 || got.Commits == 0 || got.Interrupted || got.Aborted {
		t.Errorf("summary %+v", got)
	}
	if n := len(bodiesOf(to, copied)); n != 100 || len(to.Messages(copied)) != 100 {
		t.Errorf("%d copies of %d messages, want 100 of 100", len(to.Messages(copied)), n)
	}
	i := slices.IndexFunc(to.Messages(copied), func(m embedded.Message) bool { return string(m.Body) == "first" })
	m := to.Messages(copied)[i]
	if !slices.Equal(m.Keys, []string{"k1", "k2"}) || m.Tag != "paid" || m.Properties["colour"] != "red" || m.Properties["born"] != "2023-11-14T22:13:20.123Z" {
		t.Errorf("got keys %q, tag %q, properties %v", m.Keys, m.Tag, m.Properties)
	}
	for id, want := range []int64{51, 49} {
		if at, _ := from.Committed(group, embedded.Queue{Topic: topic, ID: id}); at != want {
			t.Errorf("queue %d: committed %d, want %d", id, at, want)
		}
	}
	// What is copied is not copied again.
	fill(from, 99, 109)
	if got, err = run(t.Context(), t, o); err != nil || got.Read != 10 || got.Written != 10 {
		t.Errorf("the next run: %+v, %v; want the 10 new ones", got, err)
	}
}

// Brokers store what no consumer can select by; it is no reason to stand still.
func TestWhatNoConsumerCouldSelectIsCopiedAsItIs(t *testing.T) {
	for _, guarantee := range []string{guaranteeAtLeastOnce, guaranteeNone} {
		t.Run(guarantee, func(t *testing.T) {
			from, to := clusters(t)
			tags := []string{"ok", "a|b", " x ", "*", "a\tb"}
			for _, tag := range tags {
				from.PublishTo(embedded.Queue{Topic: topic}, []byte(tag), embedded.PublishTag(tag))
			}
			o := normal(from.NameServer(), to.NameServer())
			o.Guarantee = guarantee
			if got, err := run(t.Context(), t, o); err != nil || got.Written != int64(len(tags)) || got.Failed != 0 {
				t.Errorf("%+v, %v", got, err)
			}
			copies := to.Messages(copied)
			for _, m := range copies {
				if m.Tag != string(m.Body) {
					t.Errorf("the copy of %q has tag %q", m.Body, m.Tag)
				}
			}
			if len(copies) != len(tags) {
				t.Errorf("%d copies, want %d", len(copies), len(tags))
			}
		})
	}
}

// What cannot be written is counted with the guarantee none. That nothing could be is
// a failure.
func TestAMirrorThatWritesNothingFails(t *testing.T) {
	from, _ := clusters(t)
	to := embedded.Start(t.Context(), embedded.WithNormalTopic(copied), embedded.WithMaxBodySize(10))
	t.Cleanup(to.Close)
	large := func() {
		from.PublishTo(embedded.Queue{Topic: topic}, []byte("more than ten bytes"))
	}
	o := normal(from.NameServer(), to.NameServer())
	o.Guarantee = guaranteeNone
	large()
	got, err := run(t.Context(), t, o)
	if err == nil || !strings.Contains(err.Error(), "none of 1 messages could be written") || got.Failed != 1 || got.Aborted || got.Interrupted {
		t.Errorf("%+v, %v; want it to fail at its end", got, err)
	}
	large()
	fill(from, 0, 10)
	if got, err = run(t.Context(), t, o); err != nil || got.Failed != 1 || got.Written != 10 {
		t.Errorf("%+v, %v; want one that is counted", got, err)
	}
}

func TestOnlyWhatIsWantedIsCopied(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"tags": func(o *Options) { o.Tags = []string{"paid", "shipped"} },
		"SQL":  func(o *Options) { o.SQL = costly },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := clusters(t)
			for i := range 30 {
				from.PublishTo(embedded.Queue{Topic: topic}, fmt.Appendf(nil, "m-%d", i),
					embedded.PublishTag([]string{"paid", "open", "shipped"}[i%3]), embedded.PublishProperty("price", fmt.Sprint([]int{9, 1, 7}[i%3])))
			}
			o := normal(from.NameServer(), to.NameServer())
			set(&o)
			got, err := run(t.Context(), t, o)
			if err != nil || got.Written != 20 {
				t.Fatalf("%+v, %v", got, err)
			}
			for body := range bodiesOf(to, copied) {
				var i int
				if fmt.Sscanf(body, "m-%d", &i); i%3 == 1 {
					t.Errorf("%s is copied", body)
				}
			}
			if at, _ := from.Committed(group, embedded.Queue{Topic: topic}); at != 30 {
				t.Errorf("committed %d, want 30", at)
			}
		})
	}
}

func TestCopiesOfLiteTopicsAreLikeTheirOriginals(t *testing.T) {
	from, to := clusters(t)
	for i := range 60 {
		from.Publish("bus", fmt.Sprint("tenant-", i%6), fmt.Appendf(nil, "m-%d", i), embedded.PublishKeys(fmt.Sprint("k-", i)),
			embedded.PublishTag([]string{"a", "b", "c"}[i%3]), embedded.PublishProperty("n", fmt.Sprint(i)))
	}
	o := lite(from.Endpoints(), to.Endpoints())
	o.Tags = []string{"a", "b"}
	got, err := run(t.Context(), t, o)
	if err != nil || got.Written != 40 || got.Filtered != 20 || got.Acked != 60 {
		t.Fatalf("%+v, %v; want 40 written, 20 filtered, 60 acked", got, err)
	}
	for _, m := range to.Messages("bus") {
		var i int
		fmt.Sscanf(string(m.Body), "m-%d", &i)
		if m.LiteTopic != fmt.Sprint("tenant-", i%6) || !slices.Equal(m.Keys, []string{fmt.Sprint("k-", i)}) || m.Tag != []string{"a", "b", "c"}[i%3] || m.Properties["n"] != fmt.Sprint(i) {
			t.Errorf("%s: lite topic %q, keys %q, tag %q, properties %v", m.Body, m.LiteTopic, m.Keys, m.Tag, m.Properties)
		}
	}
	if n := from.Pending("bus"); n != 0 || len(to.Messages("bus")) != 40 {
		t.Errorf("%d are pending, %d copied; want 0 and 40", n, len(to.Messages("bus")))
	}
}
