// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	. "github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// realTopic makes a topic and a client on the real broker.
func realTopic(t testing.TB, queues int, kind realmq.Kind, opts ...realmq.TopicOption) (*Client, []Queue) {
	t.Helper()
	mq := realmqtest.Shared(t)
	name := "remoting-" + strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())
	if err := mq.CreateTopic(background(t), name, kind, append(opts, realmq.Queues(queues))...); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Config{NameServers: mq.NameServer()})
	route := must[*Route](t)(c.Route(background(t), name))
	out := route.Writable()
	if len(out) != queues {
		t.Fatalf("route has %d writable queues, want %d: %+v", len(out), queues, route)
	}
	return c, out
}

func realGroup(t testing.TB, c *Client) string {
	t.Helper()
	name := "group-" + strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())
	if err := c.CreateGroup(background(t), GroupConfig{Name: name}); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRealBrokerKeepsWhatIsSent(t *testing.T) {
	c, queues := realTopic(t, 2, realmq.Normal)
	group := realGroup(t, c)
	ctx := background(t)
	q := queues[1]
	born := time.UnixMilli(1700000000123)
	long := bytes.Repeat([]byte("long and dull "), 500)
	sent := []*OutMessage{
		{Body: []byte("one"), Born: born, Flag: 7, Properties: PropertiesOf(PropertyTags, "a", PropertyKeys, "k1 k2", "colour", "grün")},
		{Body: long, Compression: Zlib},
		{Body: long, Compression: LZ4},
		{Body: long, Compression: Zstd},
	}
	for i, m := range sent {
		send := c.Send
		if i%2 == 1 {
			send = c.SendV2
		}
		r, err := send(ctx, q, "producers", m)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != SendOK || r.Offset != int64(i) || r.Queue != q || len(r.OffsetIDs) != 1 || len(r.UniqueKeys) != 1 {
			t.Errorf("send %d: got %+v, want offset %d of %+v", i, r, i, q)
		}
	}
	got, err := c.Pull(ctx, PullRequest{Queue: q, Group: group})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != Found || got.Next != 4 || got.Min != 0 || got.Max != 4 || len(got.Messages) != len(sent) {
		t.Fatalf("got %v, next %d, %d..%d, %d messages", got.Status, got.Next, got.Min, got.Max, len(got.Messages))
	}
	for i, m := range got.Messages {
		if m.Err != nil || !bytes.Equal(m.Body, sent[i].Body) || m.SysFlag != 0 {
			t.Errorf("message %d: body of %d bytes, flag %x, error %v; want %d bytes", i, len(m.Body), m.SysFlag, m.Err, len(sent[i].Body))
		}
		if m.Topic != q.Topic || m.Broker != q.Broker || m.QueueID != q.ID || m.QueueOffset != int64(i) {
			t.Errorf("message %d is at %v, want %v@%d", i, m.String(), q, i)
		}
	}
	m := got.Messages[0]
	if !m.Born.Equal(born) || m.Flag != 7 || m.Tag() != "a" || !cmp.Equal(m.Keys(), []string{"k1", "k2"}) || m.Properties.Get("colour") != "grün" {
		t.Errorf("got born %v, flag %d, properties %q", m.Born, m.Flag, m.Properties)
	}
	if time.Since(m.Stored).Abs() > time.Hour || !m.BornHost.Addr().IsLoopback() || !m.StoreHost.Addr().IsLoopback() || m.UniqueKey() == "" {
		t.Errorf("got stored %v, hosts %v and %v, unique key %q", m.Stored, m.BornHost, m.StoreHost, m.UniqueKey())
	}
}

func TestRealBrokerBatch(t *testing.T) {
	for _, kind := range []string{"SimpleCQ", "BatchCQ"} {
		t.Run("a batch comes apart in queues of type "+kind, func(t *testing.T) {
			c, queues := realTopic(t, 1, realmq.Normal, realmq.TopicAttribute("queue.type", kind))
			group := realGroup(t, c)
			ctx := background(t)
			var batch []*OutMessage
			for i := range 5 {
				batch = append(batch, &OutMessage{Body: fmt.Appendf(nil, "body %d", i),
					Properties: PropertiesOf(PropertyKeys, fmt.Sprint("key", i))})
			}
			for round := range 2 {
				r := must[*SendResult](t)(c.SendBatch(ctx, queues[0], "producers", batch))
				if r.Offset != int64(5*round) || len(r.UniqueKeys) != 5 {
					t.Errorf("got %+v, want offset %d", r, 5*round)
				}
			}
			// An offset within a batch.
			var got []string
			for offset := int64(2); offset < 10; {
				r := must[*PullResult](t)(c.Pull(ctx, PullRequest{Queue: queues[0], Group: group, Offset: offset, Suspend: time.Second}))
				for _, m := range r.Messages {
					if m.Err != nil {
						t.Error(m.Err)
					}
					got = append(got, fmt.Sprintf("%d %s %s", m.QueueOffset, m.Body, m.Keys()))
				}
				offset = r.Next
			}
			var want []string
			for i := 2; i < 10; i++ {
				want = append(want, fmt.Sprintf("%d body %d [key%d]", i, i%5, i%5))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRealBrokerOffsets(t *testing.T) {
	c, queues := realTopic(t, 2, realmq.Normal)
	ctx := background(t)
	q, empty := queues[0], queues[1]
	offset := must[int64](t)
	if got := offset(c.OffsetByTime(ctx, empty, time.Now())); got != 0 {
		t.Errorf("offset by time of an empty queue: got %d, want 0 (O19)", got)
	}
	var stored []time.Time
	for i := range 3 {
		must[*SendResult](t)(c.SendV2(ctx, q, "producers", &OutMessage{Body: []byte{byte(i)}}))
		// The broker's clock must move on between the messages.
		at := time.Now()
		eventually(t, "the next millisecond", func() bool { return time.Since(at) > 20*time.Millisecond })
	}
	r := must[*PullResult](t)(c.Pull(ctx, PullRequest{Queue: q, Group: realGroup(t, c), Suspend: time.Second}))
	for _, m := range r.Messages {
		stored = append(stored, m.Stored)
	}
	if len(stored) != 3 {
		t.Fatalf("got %d messages, want 3", len(stored))
	}
	if got := offset(c.MinOffset(ctx, q)); got != 0 {
		t.Errorf("min offset: got %d, want 0", got)
	}
	if got := offset(c.MaxOffset(ctx, q)); got != 3 {
		t.Errorf("max offset: got %d, want 3", got)
	}
	for _, row := range []struct {
		name string
		at   time.Time
		want int64
	}{
		{"the beginning of time (O21)", time.UnixMilli(0), 0},
		{"an hour before all (O21)", stored[0].Add(-time.Hour), 0},
		{"when the first was stored", stored[0], 0},
		{"when the second was stored, to the millisecond (O17)", stored[1], 1},
		{"a microsecond after the second", stored[1].Add(time.Microsecond), 2},
		{"when the last was stored", stored[2], 2},
		{"after the last", stored[2].Add(time.Millisecond), 3},
		{"an hour ahead (O19)", time.Now().Add(time.Hour), 3},
		{"another time zone (O18)", stored[1].In(time.FixedZone("", 8*3600)), 1},
	} {
		if got := offset(c.OffsetByTime(ctx, q, row.at)); got != row.want {
			t.Errorf("offset at %s: got %d, want %d", row.name, got, row.want)
		}
	}
}

func TestRealBrokerCommittedOffsets(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	ctx := background(t)
	q := queues[0]
	group := realGroup(t, c)
	must[*SendResult](t)(c.SendV2(ctx, q, "producers", &OutMessage{Body: []byte("x")}))
	// Without setZeroIfNotFound=false the broker would answer 0 here (O15).
	if offset, found, err := c.QueryCommitted(ctx, q, group); found || err != nil {
		t.Errorf("a group that never committed: got %d, %v, %v; want none", offset, found, err)
	}
	for _, offset := range []int64{1, 0, 42} {
		if err := c.Commit(ctx, q, group, offset); err != nil {
			t.Fatal(err)
		}
		if got, found, err := c.QueryCommitted(ctx, q, group); got != offset || !found || err != nil {
			t.Errorf("got %d, %v, %v; want %d (O34)", got, found, err, offset)
		}
	}
	wantClass(t, c.Commit(ctx, q, group, -1), Permanent) // (O27)
	if e := wantClass(t, c.Commit(ctx, q, "no-such-group", 1), NotFound); e.Code != CodeGroupNotExist || e.Hint == "" {
		t.Errorf("got %v, want SUBSCRIPTION_GROUP_NOT_EXIST and a hint", e)
	}
}

func TestRealBrokerPulls(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	ctx := background(t)
	q, group := queues[0], realGroup(t, c)
	pull := func(p PullRequest) (*PullResult, error) {
		p.Queue, p.Group = q, group
		return c.Pull(ctx, p)
	}
	if r := must[*PullResult](t)(pull(PullRequest{})); r.Status != NoNew || r.Next != 0 {
		t.Errorf("empty queue: got %+v", r)
	}
	for i := range 10 {
		tag := "even"
		if i%2 == 1 {
			tag = "odd"
		}
		must[*SendResult](t)(c.SendV2(ctx, q, "p", &OutMessage{Body: []byte{'0' + byte(i)},
			Properties: PropertiesOf(PropertyTags, tag, "n", fmt.Sprint(i))}))
	}
	bodies := func(r *PullResult) (out string) {
		for _, m := range r.Messages {
			out += string(m.Body)
		}
		return out
	}
	for _, row := range []struct {
		name string
		req  PullRequest
		want string
		next int64
	}{
		{"everything", PullRequest{}, "0123456789", 10},
		{"three from the fifth", PullRequest{Offset: 4, Max: 3}, "456", 7},
		{"one tag", PullRequest{Expression: TagFilter("odd")}, "13579", 10},
		{"two tags", PullRequest{Expression: TagFilter("odd||even")}, "0123456789", 10},
		{"SQL", PullRequest{Expression: SQLFilter("n BETWEEN 3 AND 5 AND TAGS = 'odd'")}, "35", 10},
		{"no match moves on (O26)", PullRequest{Expression: TagFilter("none")}, "", 10},
	} {
		eventually(t, "indexed", func() bool {
			r, err := pull(row.req)
			if err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			return r.Next == row.next
		})
		r := must[*PullResult](t)(pull(row.req))
		if got := bodies(r); got != row.want || r.Next != row.next {
			t.Errorf("%s: got %q, next %d (%v); want %q, next %d", row.name, got, r.Next, r.Status, row.want, row.next)
		}
	}
	r, err := pull(PullRequest{Offset: 4711})
	if wantClass(t, err, OffsetMoved); r == nil || r.Status != Moved || r.Min != 0 || r.Max != 10 {
		t.Errorf("beyond the end: got %+v, want 0..10", r)
	}
	// A broken expression is no error to a pull: everything comes.
	if r := must[*PullResult](t)(pull(PullRequest{Expression: SQLFilter("n BETWEEN")})); len(r.Messages) != 10 {
		t.Errorf("an SQL filter that is wrong: got %d messages; update the comments if this has become better", len(r.Messages))
	}
	wantClass(t, c.CheckFilter(ctx, q.Topic, group, SQLFilter("n BETWEEN")), Permanent)
	for _, good := range []Expression{{}, TagFilter("a"), SQLFilter("n > 1")} {
		if err := c.CheckFilter(ctx, q.Topic, group, good); err != nil {
			t.Errorf("filter %v: %v", good, err)
		}
	}
	_, err = pull(PullRequest{Offset: -1})
	wantClass(t, err, Permanent) // (X11a)
	_, err = c.Pull(ctx, PullRequest{Queue: Queue{Topic: q.Topic, Broker: q.Broker, ID: 99}, Group: group})
	wantClass(t, err, Permanent)
	_, err = c.Pull(ctx, PullRequest{Queue: q, Group: "no-such-group"})
	t.Logf("pull for an unknown group: %v", err)
}

// A tag with the hash code of another passes the broker's filter, not ours.
func TestRealBrokerTagsWithTheSameHash(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	ctx, group := background(t), realGroup(t, c)
	for _, tag := range []string{"Aa", "BB"} {
		must[*SendResult](t)(c.SendV2(ctx, queues[0], "p", &OutMessage{Body: []byte(tag), Properties: PropertiesOf(PropertyTags, tag)}))
	}
	if JavaHash("Aa") != JavaHash("BB") {
		t.Fatal("the tags have different hash codes")
	}
	eventually(t, "both seen", func() bool {
		r := must[*PullResult](t)(c.Pull(ctx, PullRequest{Queue: queues[0], Group: group, Expression: TagFilter("BB")}))
		if r.Next < 2 {
			return false
		}
		if len(r.Messages) != 1 || string(r.Messages[0].Body) != "BB" {
			t.Errorf("got %d messages, want one", len(r.Messages))
		}
		return true
	})
}

func TestRealBrokerLongPoll(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	q, group := queues[0], realGroup(t, c)
	req := PullRequest{Queue: q, Group: group, Suspend: 15 * time.Second}

	t.Run("ends at once when cancelled (X15)", func(t *testing.T) {
		ctx, cancel := context.WithCancel(background(t))
		done := make(chan error, 1)
		go func() {
			_, err := c.Pull(ctx, req)
			done <- err
		}()
		awaitPending(t, c, 1)
		at := time.Now()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || time.Since(at) > time.Second {
			t.Errorf("got %v after %v", err, time.Since(at))
		}
		if n := c.Waiting(); n != 0 {
			t.Errorf("%d requests are still pending (N09)", n)
		}
	})
	t.Run("ends when a message comes", func(t *testing.T) {
		type outcome struct {
			r   *PullResult
			err error
		}
		done := make(chan outcome, 1)
		go func() {
			r, err := c.Pull(background(t), req)
			done <- outcome{r, err}
		}()
		awaitPending(t, c, 1)
		must[*SendResult](t)(c.SendV2(background(t), q, "p", &OutMessage{Body: []byte("new")}))
		select {
		case got := <-done:
			if got.err != nil || len(got.r.Messages) != 1 {
				t.Errorf("got %+v, %v", got.r, got.err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the poll went on")
		}
	})
}

func TestRealBrokerQueriesByKey(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	ctx := background(t)
	r := must[*SendResult](t)(c.SendV2(ctx, queues[0], "p", &OutMessage{Body: []byte("x"),
		Properties: PropertiesOf(PropertyKeys, "order-1 order-2")}))
	for _, q := range []Query{
		{Key: "order-2"}, {Key: r.UniqueKeys[0], Unique: true},
		{Key: "order-1", Broker: queues[0].Broker, Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour), Max: 1},
	} {
		q.Topic = queues[0].Topic
		eventually(t, "indexed", func() bool {
			got := must[[]Message](t)(c.QueryMessages(ctx, q))
			return len(got) == 1 && string(got[0].Body) == "x" && got[0].OffsetID() == r.OffsetIDs[0]
		})
	}
	for _, q := range []Query{{Key: "nothing"}, {Key: "nothing", Unique: true}} {
		q.Topic = queues[0].Topic
		if got, err := c.QueryMessages(ctx, q); len(got) != 0 || err != nil {
			t.Errorf("got %d messages, %v; want none", len(got), err)
		}
	}
}

// The index has unique keys and ordinary ones in one table, and tells of the last 32
// messages. One that was written before is found all the same, and one that was not
// is not.
func TestRealBrokerFindsAUniqueKeyBehindManyThatHaveItAsAKey(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	ctx := background(t)
	q := queues[0]
	must[*SendResult](t)(c.SendV2(ctx, q, "p", &OutMessage{Body: []byte("wanted"), UniqueKey: "order-1"}))
	const rounds, each = 3, 50
	for round := range rounds {
		begin := time.Now()
		var batch []*OutMessage
		for i := range each {
			batch = append(batch, &OutMessage{Body: []byte("other"), UniqueKey: fmt.Sprintf("item-%d-%d", round, i), Properties: PropertiesOf(PropertyKeys, "order-1 order-2")})
		}
		must[*SendResult](t)(c.SendBatch(ctx, q, "p", batch))
		eventually(t, "the index begins another second", func() bool { return time.Since(begin) > indexSecond })
	}
	last := Query{Topic: q.Topic, Key: fmt.Sprintf("item-%d-%d", rounds-1, each-1), Unique: true}
	eventually(t, "all is indexed", func() bool { return len(must[[]Message](t)(c.QueryMessages(ctx, last))) == 1 })
	for key, want := range map[string]int{"order-1": 1, "order-2": 0} {
		found, err := c.QueryMessages(ctx, Query{Topic: q.Topic, Key: key, Unique: true})
		if err != nil || len(found) != want || want > 0 && string(found[0].Body) != "wanted" {
			t.Errorf("unique key %s: found %d messages, %v; want %d", key, len(found), err, want)
		}
	}
}

const indexSecond = 1100 * time.Millisecond

func TestRealNameServerOfAnUnknownTopic(t *testing.T) {
	c := newClient(t, Config{NameServers: realmqtest.Shared(t).NameServer()})
	_, err := c.Route(background(t), "no-such-topic")
	if e := wantClass(t, err, NoRoute); e.Code != CodeTopicNotExist || e.Hint == "" {
		t.Errorf("got %v, want TOPIC_NOT_EXIST and a hint", e)
	}
	_, err = c.MaxOffset(background(t), Queue{Topic: "no-such-topic", Broker: "b"})
	if wantClass(t, err, NoRoute); !strings.Contains(err.Error(), "no-such-topic") {
		t.Errorf("%q does not name the topic", err)
	}
	_, err = c.Route(background(t), RetryTopic("some-group"))
	if e := wantClass(t, err, NoRoute); !strings.Contains(e.Hint, "gives back") {
		t.Errorf("got hint %q of a retry topic (N03)", e.Hint)
	}
}

func TestRealBrokerCreatesTopicsInANamespace(t *testing.T) {
	mq := realmqtest.Shared(t)
	c := newClient(t, Config{NameServers: mq.NameServer(), Namespace: "MQ_INST_1_x"})
	plain := newClient(t, Config{NameServers: mq.NameServer()})
	ctx := background(t)
	if err := c.CreateTopic(ctx, TopicConfig{Name: "spaced", ReadQueues: 1, WriteQueues: 1, Attributes: map[string]string{"message.type": "NORMAL"}}); err != nil {
		t.Fatal(err)
	}
	group := realGroup(t, c)
	var route *Route
	eventually(t, "the name server knows the topic", func() (ok bool) {
		r, err := c.Route(ctx, "spaced")
		route = r
		return err == nil
	})
	q := route.Readable()[0]
	if q.Topic != "spaced" {
		t.Errorf("got queue %+v, want the topic without its namespace", q)
	}
	must[*SendResult](t)(c.SendV2(ctx, q, "p", &OutMessage{Body: []byte("x")}))
	r := must[*PullResult](t)(c.Pull(ctx, PullRequest{Queue: q, Group: group, Suspend: time.Second}))
	if len(r.Messages) != 1 || r.Messages[0].Topic != "spaced" {
		t.Fatalf("got %+v", r)
	}
	if err := c.Commit(ctx, q, group, 1); err != nil {
		t.Error(err)
	}
	// Whoever knows no namespaces sees the long names (N03).
	q.Topic = "MQ_INST_1_x%spaced"
	if got, found, err := plain.QueryCommitted(ctx, q, "MQ_INST_1_x%"+group); got != 1 || !found || err != nil {
		t.Errorf("got %d, %v, %v; want 1", got, found, err)
	}
}

// The broker takes TLS and plain text on the same port by default.
func TestRealBrokerOverTLS(t *testing.T) {
	mq := realmqtest.Shared(t)
	ctx := background(t)
	c := newClient(t, Config{NameServers: mq.NameServer(), TLS: auth.TLS{Enabled: true, SkipVerify: true}})
	if err := c.CreateTopic(ctx, TopicConfig{Name: "over-tls", ReadQueues: 1, WriteQueues: 1}); err != nil {
		t.Fatal(err)
	}
	strict := newClient(t, Config{NameServers: mq.NameServer(), TLS: auth.TLS{Enabled: true}})
	_, err := strict.Brokers(ctx)
	if e := wantClass(t, err, Permanent); !strings.Contains(e.Hint, "CA") {
		t.Errorf("got %v, want a hint about the CA (N08)", err)
	}
}

func TestRealBrokerThroughTheProxy(t *testing.T) {
	c, queues := realTopic(t, 1, realmq.Normal)
	ctx, group := background(t), realGroup(t, c)
	// The proxy answers as if it were the name server and the broker.
	p := newClient(t, Config{NameServers: realmqtest.Shared(t).ProxyRemotingAddr()})
	route := must[*Route](t)(p.Route(ctx, queues[0].Topic))
	t.Logf("the proxy's route: %+v", *route)
	q := route.Readable()[0]
	must[*SendResult](t)(p.SendV2(ctx, q, "p", &OutMessage{Body: []byte("x")}))
	r := must[*PullResult](t)(p.Pull(ctx, PullRequest{Queue: q, Group: group, Suspend: time.Second}))
	if len(r.Messages) != 1 {
		t.Errorf("got %d messages, want 1", len(r.Messages))
	}
	if got := must[int64](t)(p.MaxOffset(ctx, q)); got != 1 {
		t.Errorf("max offset: got %d, want 1", got)
	}
	if err := p.Commit(ctx, q, group, 1); err != nil {
		t.Error(err)
	}
	if got, found, err := p.QueryCommitted(ctx, q, group); got != 1 || !found || err != nil {
		t.Errorf("got %d, %v, %v; want 1", got, found, err)
	}
}
