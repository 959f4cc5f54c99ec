// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"testing"
)

// What the tests with a real broker share with the others. They are a package
// of their own, so that what starts that broker may import this package.

func NewTestClient(t testing.TB, cfg Config) *Client      { t.Helper(); return newClient(t, cfg) }
func Eventually(t testing.TB, what string, f func() bool) { t.Helper(); eventually(t, what, f) }
func Must[T any](t testing.TB) func(T, error) T           { return must[T](t) }
func WantClass(t testing.TB, err error, want Class) *Error {
	t.Helper()
	return wantClass(t, err, want)
}
func Background(t testing.TB) context.Context     { return background(t) }
func AwaitPending(t testing.TB, c *Client, n int) { t.Helper(); awaitPending(t, c, n) }
func JavaHash(s string) int32                     { return javaHash(s) }

// Waiting is the number of requests without an answer, over all connections.
func (c *Client) Waiting() (n int) {
	for _, conn := range c.connections() {
		n += conn.waiting()
	}
	return n
}
