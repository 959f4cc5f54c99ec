// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"testing"
)

// Loops of pulls that end each other, as in an errgroup, end with the error of
// one of them: one queue's moved offset ended the pull of another queue, whose
// answer was then looked for although there was none.
func TestAPullThatEndsBecauseOfAnotherQueuesMovedOffset(t *testing.T) {
	c := newClient(t, Config{NameServers: "127.0.0.1:1"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&Error{Op: "pulling", Class: OffsetMoved})
	r, err := c.Pull(ctx, PullRequest{Queue: testQueue, Group: "g"})
	if r != nil || err == nil {
		t.Errorf("got %+v, %v; want an error and no result", r, err)
	}
}
