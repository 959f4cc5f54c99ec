// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// A cluster has several name servers, and each of them many names. What counts is
// where the topic is.
func TestATopicOntoItselfByAnotherNameServerIsRefused(t *testing.T) {
	b := embedded.Start(t.Context(), embedded.WithNormalTopic(topic), embedded.WithQueues(2))
	t.Cleanup(b.Close)
	o := normal(b.NameServer(), forward(t, b.NameServer()))
	o.To.Topic = topic
	if err := o.Check(); err != nil {
		t.Fatalf("the addresses have nothing in common: %v", err)
	}
	var out bytes.Buffer
	err := Run(t.Context(), o, &out)
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want it refused; printed %q", err, out.String())
	}
	for _, want := range []string{o.From.Address, o.To.Address, topic, "for ever"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// forward is another address of a server.
func forward(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", addr)
			if err != nil {
				near.Close()
				continue
			}
			all.Go(func() { defer far.Close(); _, _ = io.Copy(far, near) })
			all.Go(func() { defer near.Close(); _, _ = io.Copy(near, far) })
		}
	})
	return l.Addr().String()
}
