// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
)

func init() {
	register.Function1x2(numberOf)
	register.Function1x2(numberIn)
	beam.RegisterDoFn(&collectRefusedFn{})
}

var errOdd = errors.New("odd")

func numberIn(body []byte) (int64, error) {
	if string(body) == "panic" {
		panic("no such number")
	}
	n, err := strconv.ParseInt(string(body), 10, 64)
	if err == nil && n%2 == 1 {
		err = fmt.Errorf("%d is %w", n, errOdd)
	}
	return n, err
}

func numberOf(m coders.Message) (int64, error) {
	n, err := numberIn(m.Body)
	return n*1000 + m.QueueOffset, err
}

// collectRefusedFn keeps the messages that were refused, with the error's text
// as their tag.
type collectRefusedFn struct{ Test string }

func (fn *collectRefusedFn) ProcessElement(ctx context.Context, fault string, m coders.Message) {
	m.Tag = fault
	(&collectFn{Test: fn.Test}).ProcessElement(ctx, m)
}

// These tests run on the direct runner, for Beam's harness races with itself
// when a job fails on prism.

// What the function refuses fails the bundle, is left out, or is handed out
// beside, as the policy says (W19).
func TestUndecodableMessagesFollowThePolicy(t *testing.T) {
	bodies := []string{"2", "3", "four", "6"}
	for _, tc := range []struct {
		policy  DecodeErrors
		fails   string
		refused map[string]string // body to the start of the error
	}{
		{FailUndecodable, "at offset 1 of queue 0 of topic orders on broker broker-a: 3 is odd", nil},
		{SkipUndecodable, "", nil},
		{DivertUndecodable, "", map[string]string{"3": "3 is odd", "four": "strconv.ParseInt"}},
	} {
		t.Run(string(tc.policy), func(t *testing.T) {
			b := startBroker(t, 1)
			for _, body := range bodies {
				b.PublishTo(queueNo(0), []byte(body))
			}
			c := newCollector(t)
			p, s := beam.NewPipelineWithRoot()
			msgs := ReadBounded(s, b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(Earliest()), ReadTo(AtLatest()))...)
			numbers, refused := Decode(s, msgs, numberOf, tc.policy)
			beam.ParDo0(s, &collectRefusedFn{Test: t.Name()}, refused)
			passert.Equals(s, numbers, int64(2000), int64(6003))
			_, err := direct.Execute(t.Context(), p)
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Fatalf("error %v, want one that says %q", err, tc.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := c.all()
			if len(got) != len(tc.refused) {
				t.Errorf("%d messages beside, want %d", len(got), len(tc.refused))
			}
			for _, m := range got {
				if want := tc.refused[string(m.Body)]; want == "" || !strings.HasPrefix(m.Tag, want) {
					t.Errorf("body %q was refused with %q, want %q", m.Body, m.Tag, want)
				}
			}
		})
	}
}

func TestAPanicInTheFunctionNamesTheMessage(t *testing.T) {
	b := startBroker(t, 1)
	b.PublishTo(queueNo(0), []byte("panic"))
	p, s := beam.NewPipelineWithRoot()
	msgs := ReadBounded(s, b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(Earliest()), ReadTo(AtLatest()))...)
	DecodeBody(s, msgs, numberIn, SkipUndecodable)
	_, err := direct.Execute(t.Context(), p)
	if want := "at offset 0 of queue 0 of topic orders on broker broker-a: the function panicked: no such number"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says %q", err, want)
	}
}

// The body alone, empty ones too.
func TestBodies(t *testing.T) {
	b := startBroker(t, 1)
	b.PublishTo(queueNo(0), []byte("x"))
	b.PublishTo(queueNo(0), nil)
	p, s := beam.NewPipelineWithRoot()
	msgs := ReadBounded(s, b.NameServer(), testGroup, []string{testTopic}, quick(ReadFrom(Earliest()), ReadTo(AtLatest()))...)
	passert.Equals(s, Bodies(s, msgs), []byte("x"), []byte{})
	if err := start(t, p).wait(t); err != nil {
		t.Fatal(err)
	}
}

func TestDecodeRefusesWrongArguments(t *testing.T) {
	for name, call := range map[string]func(beam.Scope, beam.PCollection){
		`policy "explode" is unknown`: func(s beam.Scope, c beam.PCollection) { Decode(s, c, numberOf, "explode") },
		"the function is nil":         func(s beam.Scope, c beam.PCollection) { DecodeBody[int64](s, c, nil, FailUndecodable) },
		"want coders.Message":         func(s beam.Scope, c beam.PCollection) { DecodeBody(s, beam.Impulse(s), numberIn, FailUndecodable) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), name) {
					t.Errorf("panic %v, want one that says %q", r, name)
				}
			}()
			_, s := beam.NewPipelineWithRoot()
			call(s, ReadBounded(s, "127.0.0.1:9876", testGroup, []string{testTopic}, ReadFrom(Earliest()), ReadTo(AtLatest())))
		})
	}
}
