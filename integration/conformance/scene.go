// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// The times that a case works with. The invisible duration is the least that a
// receive may ask for.
const (
	invisible = 10 * time.Second
	pollTime  = 5 * time.Second
	// slack is how much later than its deadline a message may come.
	slack = 3 * time.Second
)

// scene is what a case works with: a broker with a main topic and a wildcard
// group of its own.
type scene struct {
	*testing.T
	ctx    context.Context
	broker Broker
	topic  string
	group  string
	unique string
}

func newScene(t *testing.T, ctx context.Context) *scene {
	var b [4]byte
	_, _ = rand.Read(b[:])
	unique := short(t.Name()) + "-" + hex.EncodeToString(b[:])
	return &scene{T: t, ctx: ctx, topic: "T-" + unique, group: "G-" + unique, unique: unique}
}

// name makes a name that no other case uses.
func (s *scene) name(what string) string { return what + "-" + s.unique }

// dial returns a client with an id and a connection of its own. It has no
// session yet.
func (s *scene) dial() *client {
	s.Helper()
	conn, err := grpc.NewClient("passthrough:///"+s.broker.Endpoints(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	var b [8]byte
	_, _ = rand.Read(b[:])
	return &client{s: s, conn: conn, stub: v2.NewMessagingServiceClient(conn),
		id: "case@" + hex.EncodeToString(b[:]), language: "GO", group: s.group, topic: s.topic}
}

// consumer returns a client with a session and the wildcard subscription of
// the case's group.
func (s *scene) consumer() *client {
	s.Helper()
	c := s.dial()
	c.mustSession()
	c.mustSubscribe()
	return c
}

// pass lets d pass on the broker's clock.
func (s *scene) pass(d time.Duration) { s.broker.Advance(s.ctx, d) }

// wantStatus checks code and a part of the text of a status.
func (s *scene) wantStatus(what string, got *v2.Status, code v2.Code, part string) {
	s.Helper()
	if got.GetCode() != code || !strings.Contains(got.GetMessage(), part) {
		s.Errorf("%s: got status %s %q, want %s with %q", what, got.GetCode(), got.GetMessage(), code, part)
	}
}

// wantEntry checks the status of an ack with one entry. That of the request is
// then the entry's code, without its text.
func (s *scene) wantEntry(what string, got *v2.AckMessageResponse, code v2.Code, part string) {
	s.Helper()
	if len(got.GetEntries()) != 1 {
		s.Fatalf("%s: got %v, want one entry", what, got)
	}
	s.wantStatus(what, got.GetStatus(), code, code.String())
	s.wantStatus(what, got.GetEntries()[0].GetStatus(), code, part)
}

// wantError checks the gRPC code and a part of the text of an error.
func (s *scene) wantError(what string, err error, code codes.Code, part string) {
	s.Helper()
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), part) {
		s.Errorf("%s: got %v, want %s with %q", what, err, code, part)
	}
}

// wantBodies checks the bodies of messages and their order.
func (s *scene) wantBodies(what string, got []*v2.Message, want ...string) {
	s.Helper()
	if g, w := fmt.Sprint(bodies(got)), fmt.Sprint(want); g != w {
		s.Fatalf("%s: got messages %s, want %s", what, g, w)
	}
}

// wantAttempts checks the delivery attempts of messages.
func (s *scene) wantAttempts(what string, got []*v2.Message, want ...int32) {
	s.Helper()
	attempts := make([]int32, 0, len(got))
	for _, m := range got {
		attempts = append(attempts, m.GetSystemProperties().GetDeliveryAttempt())
	}
	if g, w := fmt.Sprint(attempts), fmt.Sprint(want); g != w {
		s.Errorf("%s: got delivery attempts %s, want %s", what, g, w)
	}
}

// wantWithin checks how long something took on the broker's clock.
func (s *scene) wantWithin(what string, took, least, most time.Duration) {
	s.Helper()
	if took < least || took > most {
		s.Errorf("%s: took %v, want %v to %v", what, took, least, most)
	}
}

func bodies(ms []*v2.Message) []string {
	out := make([]string, 0, len(ms))
	for _, m := range ms {
		out = append(out, string(m.GetBody()))
	}
	return out
}
