// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func newClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// eventually calls f until it says true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(20 * time.Second)
	for !f() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("after 20 s still not: %s", what)
		}
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantClass(t testing.TB, err error, want Class) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got error %v, want a *Error of class %v", err, want)
	}
	if e.Class != want {
		t.Fatalf("got class %v of %v, want %v", e.Class, err, want)
	}
	return e
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// awaitPending waits until n requests wait for an answer on one connection.
func awaitPending(t testing.TB, c *Client, n int) (found *conn) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d requests wait", n), func() bool {
		for _, conn := range c.connections() {
			if conn.waiting() == n {
				found = conn
				return true
			}
		}
		return false
	})
	return found
}

func (c *Client) connections() (out []*conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		p.mu.Lock()
		if p.conn != nil {
			out = append(out, p.conn)
		}
		p.mu.Unlock()
	}
	return out
}

func (c *conn) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}
