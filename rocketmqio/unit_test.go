// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

// B10: only the checkpoint may split a queue, wherever it stands.
func TestOnlyTheCheckpointSplitsAQueue(t *testing.T) {
	for name, c := range map[string]struct {
		claims   []int64
		fraction float64
		residual any
		done     bool
	}{
		"at the beginning":        {nil, 0, offsetRange{10, endless}, true},
		"after some messages":     {[]int64{10, 11, 14}, 0, offsetRange{15, endless}, true}, // O04: the first that is not claimed
		"half of an endless rest": {[]int64{10}, 0.5, nil, false},
		"nearly all":              {[]int64{10}, 0.999, nil, false},
		"all":                     {nil, 1, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTracker(offsetRange{10, endless})
			for _, offset := range c.claims {
				if !tr.TryClaim(offset) {
					t.Fatalf("claim of %d refused", offset)
				}
			}
			_, residual, err := tr.TrySplit(c.fraction)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.residual, residual); diff != "" {
				t.Errorf("residual (-want +got):\n%s", diff)
			}
			if tr.IsDone() != c.done || c.done && tr.TryClaim(int64(20)) {
				t.Errorf("done %v, want %v, and no claim after it", tr.IsDone(), c.done)
			}
		})
	}
}

func TestClaimsEndAtTheEndAndNeverGoBack(t *testing.T) {
	tr := newTracker(offsetRange{10, 13})
	for _, c := range []struct {
		offset int64
		want   bool
	}{{10, true}, {12, true}, {13, false}, {11, false}} {
		if got := tr.TryClaim(c.offset); got != c.want {
			t.Errorf("claim of %d: %v", c.offset, got)
		}
	}
	if !tr.IsDone() || tr.GetError() != nil {
		t.Errorf("done %v, error %v", tr.IsDone(), tr.GetError())
	}
	tr = newTracker(offsetRange{10, 13})
	tr.TryClaim(int64(11))
	if tr.TryClaim(int64(11)) || tr.GetError() == nil {
		t.Error("the same offset was claimed twice")
	}
	if tr := newTracker(offsetRange{10, 10}); !tr.IsDone() || !tr.IsBounded() {
		t.Error("an empty range is not done")
	}
}

func TestRecordsOfTheGraphSurviveTheirCoders(t *testing.T) {
	a := assignment{Queue: Queue{"t", "b", 3}, Start: 5, End: endless}
	data, err := encodeAssignment(a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeAssignment(data); err != nil || got != a {
		t.Errorf("got %+v, %v", got, err)
	}
	r := offsetRange{1 << 60, endless}
	if data, err = encodeRange(r); err != nil {
		t.Fatal(err)
	}
	if got, err := decodeRange(data); err != nil || got != r {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, err := range []error{second(decodeAssignment([]byte("{"))), second(decodeRange([]byte("{"))), second(decodeDiscovery([]byte("{"))), second(decodeCommitPoint([]byte("{")))} {
		if err == nil {
			t.Error("a broken record was read")
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The watermark of the source is that of its slowest queue, in whatever order
// the queues' bundles finish.
func TestTheWatermarkIsThatOfTheSlowestQueue(t *testing.T) {
	w := newWatermarks()
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	a, b, c := Queue{"t", "b", 0}, Queue{"t", "b", 1}, Queue{"t", "b", 2}
	w.expect(c, at(0))
	set := func(q Queue, to, now time.Time) time.Time {
		w.begin(q, to, now)
		return w.lowest(q, to, now)
	}
	steps := []struct {
		what string
		got  time.Time
		want time.Time
	}{
		{"a queue that is not known yet holds all", set(a, at(100), at(0)), time.Time{}},
		{"so it does after b", set(b, at(50), at(1)), time.Time{}},
		{"the slowest counts", set(c, at(70), at(2)), at(50)},
		{"it has moved", set(b, at(80), at(3)), at(70)},
		{"what a bundle under way has come to counts for itself only", w.lowest(c, at(90), at(3)), at(80)},
		{"and not for others", w.lowest(a, at(100), at(3)), at(70)},
	}
	step := func(what string, got, want time.Time) {
		steps = append(steps, struct {
			what string
			got  time.Time
			want time.Time
		}{what, got, want})
	}
	w.finish(c, 30, true, at(4))
	step("a queue that was read to its end counts while its bundle is not finished", set(b, at(90), at(5)), at(70))
	w.left(c, 29)
	step("also when an earlier one is", set(b, at(90), at(5)), at(70))
	w.left(c, 30)
	step("and no more when it is", set(b, at(90), at(5)), at(90))
	w.begin(c, at(70), at(6))
	w.finish(c, 30, true, at(6))
	step("or when nobody tells for long", set(b, at(91), at(60)), at(91))
	w.begin(c, at(70), at(61))
	w.finish(c, 30, false, at(61))
	step("one whose last bundle was empty does not count", set(b, at(92), at(62)), at(92))
	step("nor one that another worker has", set(b, at(200), at(1000)), at(200))
	for _, s := range steps {
		if !s.got.Equal(s.want) {
			t.Errorf("%s: got %v, want %v", s.what, s.got, s.want)
		}
	}
}

// Each wrong setting is refused while the pipeline is built, with its name and
// value (B08, F01, F02, O22, O23, X06e, X11a, Y07).
func TestWrongSettingsAreRefusedWithNameAndValue(t *testing.T) {
	read := func(servers, group string, topics []string, opts ...ReadOption) func() {
		return func() { _, s := beam.NewPipelineWithRoot(); Read(s, servers, group, topics, opts...) }
	}
	with := func(opts ...ReadOption) func() { return read("h:1", "g", []string{"t"}, opts...) }
	now := time.Now()
	queue := map[Queue]int64{{"t", "b", 0}: -1}
	for name, c := range map[string]struct {
		build func()
		want  []string
	}{
		"no name server":           {read("", "g", []string{"t"}), []string{"name server"}},
		"no topic":                 {read("h:1", "g", nil), []string{"no topic"}},
		"an empty topic":           {read("h:1", "g", []string{""}), []string{"topic is empty"}},
		"a long topic":             {read("h:1", "g", []string{strings.Repeat("t", 128)}), []string{"128"}},
		"a topic twice":            {read("h:1", "g", []string{"t", "t"}), []string{`"t" is named twice`}},
		"an empty group":           {read("h:1", "", []string{"t"}), []string{"group is empty"}},
		"a pattern of tags":        {with(ReadTags("x*")), []string{`"x*"`, "patterns"}},
		"tags in one text":         {with(ReadTags("a || b")), []string{`"a || b"`, "several tags"}},
		"no tags":                  {with(ReadTags()), []string{"no tag"}},
		"two kinds of filter":      {with(ReadTags("a"), ReadSQL("a > 1")), []string{`"a > 1"`, "one kind"}},
		"an empty SQL filter":      {with(ReadSQL(" ")), []string{"SQL filter is empty"}},
		"a negative start":         {with(ReadFrom(Specific(queue, Earliest()))), []string{"start offset -1", "t/b/0"}},
		"a start without fallback": {with(ReadFrom(Start{})), []string{"no start"}},
		"a start before 1970":      {with(ReadFrom(Timestamp(time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)))), []string{"1969"}},
		"a start after the end":    {with(ReadFrom(Timestamp(now)), ReadTo(AtTimestamp(now.Add(-time.Hour)))), []string{"is not before"}},
		"nothing to read":          {with(ReadTo(AtLatest())), []string{"nothing lies between"}},
		"a short discovery":        {with(ReadDiscoveryInterval(-time.Second)), []string{"ReadDiscoveryInterval: -1s"}},
		"no batch":                 {with(ReadPullBatchSize(0)), []string{"ReadPullBatchSize: 0"}},
		"thresholds crossed":       {with(ReadThresholds(10, 5)), []string{"10", "5"}},
		"an unknown policy":        {with(ReadOutOfRange("skip")), []string{`"skip"`}},
		"an unknown event time":    {with(ReadEventTime("wall", 0)), []string{`"wall"`}},
		"no rate":                  {with(ReadRateLimit(0)), []string{"ReadRateLimit: 0"}},
		"an endless rate":          {with(ReadRateLimit(math.Inf(1))), []string{"ReadRateLimit: +Inf"}},
		"an unknown resolver":      {with(ReadCredentials("vault")), []string{`"vault"`}},
		"a CA without TLS":         {with(ReadTLS(auth.TLS{CAFile: "x"})), []string{"TLS is off"}},
		"a namespace of lines":     {with(ReadNamespace("a\nb")), []string{"option ReadNamespace", `"a\nb"`}},
		"a literal as unique key": {func() {
			_, s := beam.NewPipelineWithRoot()
			Write(s, "h:1", beam.Create(s, OutgoingMessage{}), WriteTopic("t"), WriteExactlyOnce(func(OutgoingMessage) string { return "" }))
		}, []string{"rocketmqio.Write", "option WriteExactlyOnce", "function literal"}},
		"a literal that decodes": {func() {
			_, s := beam.NewPipelineWithRoot()
			Decode(s, beam.Create(s, coders.Message{}), func(coders.Message) (int64, error) { return 0, nil }, FailUndecodable)
		}, []string{"rocketmqio.Decode", "function literal"}},
		"a nil option": {with(nil), []string{"option 1 of 1 is nil"}},
		"bounded without an end": {func() {
			_, s := beam.NewPipelineWithRoot()
			ReadBounded(s, "h:1", "g", []string{"t"}, ReadFrom(Earliest()))
		}, []string{"rocketmqio.ReadBounded", "no end"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := panicText(c.build)
			if !strings.HasPrefix(text, "rocketmqio.") {
				t.Fatalf("got %q, want a panic that begins with rocketmqio", text)
			}
			for _, part := range c.want {
				if !strings.Contains(text, part) {
					t.Errorf("%q does not say %s", text, part)
				}
			}
		})
	}
}

// Each option that refuses a value says which option it is.
func TestOptionsAreNamedByTheirErrors(t *testing.T) {
	for name, faulty := range map[string]func() error{
		"ReadTags":        func() error { return ReadTags("a*")(&readConfig{}) },
		"ReadSQL":         func() error { return ReadSQL("")(&readConfig{}) },
		"ReadThresholds":  func() error { return ReadThresholds(0, 0)(&readConfig{}) },
		"ReadRateLimit":   func() error { return ReadRateLimit(0)(&readConfig{}) },
		"ReadEventTime":   func() error { return ReadEventTime("", 0)(&readConfig{}) },
		"ReadOutOfRange":  func() error { return ReadOutOfRange("")(&readConfig{}) },
		"WriteTopic":      func() error { return WriteTopic("")(&writeConfig{}) },
		"WriteNamespace":  func() error { return WriteNamespace("\x00")(&writeConfig{}) },
		"WriteUnsafe":     func() error { return WriteUnsafe("")(&writeConfig{}) },
		"WriteBatch":      func() error { return WriteBatch(0, 0)(&writeConfig{}) },
		"WriteCongestion": func() error { return WriteCongestion(0, 0, 0)(&writeConfig{}) },
		"WriteGuarantee":  func() error { return WriteGuarantee("")(&writeConfig{}) },
	} {
		if err := faulty(); err == nil || !strings.Contains(err.Error(), "option "+name+":") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func panicText(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// N03: the instance that a vendor's host names is the namespace.
func TestTheNamespaceOfAVendorsHostIsUsed(t *testing.T) {
	c, err := newReadConfig("http://MQ_INST_1_abc.region.example.com:80", "g", []string{"t"}, nil)
	if err != nil || c.Namespace != "MQ_INST_1_abc" {
		t.Errorf("namespace %q, %v", c.Namespace, err)
	}
}
