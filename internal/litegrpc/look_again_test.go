// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// A visitor that is refused says goodbye, too: the proxy would else keep a client, and
// what it holds for it, for each look.
func TestVisitorsThatAreRefusedLeaveNothingBehind(t *testing.T) {
	b := startBroker(t)
	cfg := consumerConfig(t, b.Endpoints())
	cfg.LookAgain = 20 * time.Millisecond
	c := startConsumer(t, cfg)
	b.ControlAlways(embedded.SyncLiteSubscription, func(context.Context, *embedded.Request) embedded.Reaction {
		return embedded.Fail(errors.New("not now"))
	})
	await := func(what string, f func(embedded.Snapshot) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := b.Wait(ctx, f); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	before := b.Requests(embedded.NotifyClientTermination)
	await("some visitors are gone", func(embedded.Snapshot) bool { return b.Requests(embedded.NotifyClientTermination) >= before+5 })
	if n := len(b.Sessions()); n > 3 { // the consumer's own, and a visitor that comes or goes
		t.Errorf("%d sessions", n)
	}
	c.Close(t.Context())
	await("all sessions end", func(s embedded.Snapshot) bool { return len(s.Sessions()) == 0 })
}
