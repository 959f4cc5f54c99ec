// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package ackfn

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// reaction is what the package does about an answer.
type reaction string

const (
	done      reaction = "done"
	expired   reaction = "outcome expired"
	malform   reaction = "outcome malformed"
	retried   reaction = "retried, attempts"
	waits     reaction = "retried, flow control"
	permanent reaction = "fails at once"
)

// reactions is the table in the package's documentation.
var reactions = map[v2.Code]reaction{
	v2.Code_OK: done,

	v2.Code_INVALID_RECEIPT_HANDLE: expired,
	v2.Code_MESSAGE_NOT_FOUND:      expired,

	v2.Code_TOO_MANY_REQUESTS:                waits,
	v2.Code_LITE_TOPIC_QUOTA_EXCEEDED:        waits,
	v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED: waits,

	v2.Code_CODE_UNSPECIFIED:                retried,
	v2.Code_INVALID_TRANSACTION_ID:          retried,
	v2.Code_UNRECOGNIZED_CLIENT_TYPE:        retried,
	v2.Code_MESSAGE_CORRUPTED:               retried,
	v2.Code_ILLEGAL_POLLING_TIME:            retried,
	v2.Code_ILLEGAL_OFFSET:                  retried,
	v2.Code_OFFSET_NOT_FOUND:                retried,
	v2.Code_REQUEST_TIMEOUT:                 retried,
	v2.Code_INTERNAL_ERROR:                  retried,
	v2.Code_INTERNAL_SERVER_ERROR:           retried,
	v2.Code_HA_NOT_AVAILABLE:                retried,
	v2.Code_PROXY_TIMEOUT:                   retried,
	v2.Code_MASTER_PERSISTENCE_TIMEOUT:      retried,
	v2.Code_SLAVE_PERSISTENCE_TIMEOUT:       retried,
	v2.Code_VERIFY_FIFO_MESSAGE_UNSUPPORTED: retried,
	v2.Code_FAILED_TO_CONSUME_MESSAGE:       retried,

	v2.Code_BAD_REQUEST:                         permanent,
	v2.Code_ILLEGAL_ACCESS_POINT:                permanent,
	v2.Code_ILLEGAL_TOPIC:                       permanent,
	v2.Code_ILLEGAL_CONSUMER_GROUP:              permanent,
	v2.Code_ILLEGAL_MESSAGE_TAG:                 permanent,
	v2.Code_ILLEGAL_MESSAGE_KEY:                 permanent,
	v2.Code_ILLEGAL_MESSAGE_GROUP:               permanent,
	v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY:        permanent,
	v2.Code_ILLEGAL_MESSAGE_ID:                  permanent,
	v2.Code_ILLEGAL_FILTER_EXPRESSION:           permanent,
	v2.Code_ILLEGAL_INVISIBLE_TIME:              permanent,
	v2.Code_ILLEGAL_DELIVERY_TIME:               permanent,
	v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE: permanent,
	v2.Code_CLIENT_ID_REQUIRED:                  permanent,
	v2.Code_ILLEGAL_LITE_TOPIC:                  permanent,
	v2.Code_UNAUTHORIZED:                        permanent,
	v2.Code_PAYMENT_REQUIRED:                    permanent,
	v2.Code_FORBIDDEN:                           permanent,
	v2.Code_NOT_FOUND:                           permanent,
	v2.Code_TOPIC_NOT_FOUND:                     retried, // so the proxy says while its only broker restarts
	v2.Code_CONSUMER_GROUP_NOT_FOUND:            retried, // the same
	v2.Code_PAYLOAD_TOO_LARGE:                   permanent,
	v2.Code_MESSAGE_BODY_TOO_LARGE:              permanent,
	v2.Code_MESSAGE_BODY_EMPTY:                  permanent,
	v2.Code_PRECONDITION_FAILED:                 permanent,
	v2.Code_REQUEST_HEADER_FIELDS_TOO_LARGE:     permanent,
	v2.Code_MESSAGE_PROPERTIES_TOO_LARGE:        permanent,
	v2.Code_NOT_IMPLEMENTED:                     permanent,
	v2.Code_UNSUPPORTED:                         permanent,
	v2.Code_VERSION_UNSUPPORTED:                 permanent,
}

// texts are the answers whose code does not tell what happened.
var texts = []struct {
	code v2.Code
	text string
	want reaction
}{
	{v2.Code_INTERNAL_SERVER_ERROR, "Parse failed. IllegalArgumentException", malform},
	{v2.Code_INTERNAL_SERVER_ERROR, "ack failed: status is abnormal", expired},
	{v2.Code_INTERNAL_SERVER_ERROR, "Cannot invoke because it is null. NullPointerException", retried},
	{v2.Code_FORBIDDEN, "too many unacked", waits},
}

// grpcReactions are the answers of the transport, for all entries at once.
var grpcReactions = map[codes.Code]reaction{
	codes.Unavailable:       retried,
	codes.Unknown:           retried,
	codes.Aborted:           retried,
	codes.ResourceExhausted: waits,
	codes.Unimplemented:     permanent,
	codes.Unauthenticated:   permanent,
	codes.PermissionDenied:  permanent,
	codes.InvalidArgument:   permanent,
}

// L26: what is retried, what is final and what fails the bundle, for each code,
// on an acknowledgement and on a deferral.
func TestEachCodeOfTheProtocolHasItsReaction(t *testing.T) {
	b := newBus(t)
	for _, number := range slices.Sorted(maps.Keys(v2.Code_name)) {
		code := v2.Code(number)
		if code == v2.Code_MULTIPLE_RESULTS {
			continue // of a whole answer only; its entries speak for themselves
		}
		want, listed := reactions[code]
		if !listed {
			t.Errorf("%v is missing in the table", code)
			continue
		}
		t.Run("ack_"+code.String(), func(t *testing.T) { checkAck(t, b, &v2.Status{Code: code, Message: code.String()}, want) })
		t.Run("defer_"+code.String(), func(t *testing.T) { checkDefer(t, b, &v2.Status{Code: code, Message: code.String()}, want) })
	}
	for _, c := range texts {
		t.Run("ack_"+c.text, func(t *testing.T) { checkAck(t, b, &v2.Status{Code: c.code, Message: c.text}, c.want) })
		t.Run("defer_"+c.text, func(t *testing.T) { checkDefer(t, b, &v2.Status{Code: c.code, Message: c.text}, c.want) })
	}
}

func checkAck(t *testing.T, b *bus, answer *v2.Status, want reaction) {
	h := b.one(t)
	b.Control(embedded.AckMessage, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		e := r.Ack().GetEntries()[0]
		return embedded.Answer(&v2.AckMessageResponse{Status: answer, Entries: []*v2.AckMessageResultEntry{
			{MessageId: e.GetMessageId(), ReceiptHandle: e.GetReceiptHandle(), Status: answer},
		}})
	})
	c, pauses := client(t)
	before := b.Requests(embedded.AckMessage)
	results, err := c.Ack(t.Context(), h)
	checkReaction(t, results, err, b.Requests(embedded.AckMessage)-before, len(*pauses), Acked, want)
}

func checkDefer(t *testing.T, b *bus, answer *v2.Status, want reaction) {
	h := b.one(t)
	b.Control(embedded.ChangeInvisibleDuration, func(_ context.Context, r *embedded.Request) embedded.Reaction {
		return embedded.Answer(&v2.ChangeInvisibleDurationResponse{Status: answer, ReceiptHandle: "new"})
	})
	c, pauses := client(t)
	before := b.Requests(embedded.ChangeInvisibleDuration)
	result, err := c.ChangeInvisibleDuration(t.Context(), h, 20e9)
	checkReaction(t, []Result{result}, err, b.Requests(embedded.ChangeInvisibleDuration)-before, len(*pauses), Deferred, want)
	if want != done && want != retried && want != waits && result.Handle.Handle != h.Handle {
		t.Errorf("the handle became %q although nothing was deferred", result.Handle.Handle)
	}
}

// one publishes and receives a message in a lite topic of its own.
func (b *bus) one(t *testing.T) coders.ReceiptHandle {
	t.Helper()
	b.next++
	b.Publish(testTopic, fmt.Sprintf("own-%d", b.next), []byte("x"))
	return b.receive(1)[0].Handle
}

func checkReaction(t *testing.T, results []Result, err error, requests, pauses int, wished Outcome, want reaction) {
	t.Helper()
	outcome, wantRequests, fails := wished, 1, false
	switch want {
	case expired:
		outcome = Expired
	case malform:
		outcome = Malformed
	case permanent:
		outcome, fails = Failed, true
	case retried, waits:
		wantRequests = 2
	}
	wantOutcomes(t, results, outcome)
	if requests != wantRequests || pauses != wantRequests-1 {
		t.Errorf("%d requests and %d pauses, want %d and %d", requests, pauses, wantRequests, wantRequests-1)
	}
	if (err != nil) != fails {
		t.Errorf("error %v, want one: %v", err, fails)
	}
}

func TestEachCodeOfTheTransportHasItsReaction(t *testing.T) {
	b := newBus(t)
	for code, want := range grpcReactions {
		t.Run(code.String(), func(t *testing.T) {
			h := b.one(t)
			b.Control(embedded.AckMessage, func(context.Context, *embedded.Request) embedded.Reaction {
				return embedded.Fail(status.Error(code, "no"))
			})
			c, pauses := client(t)
			before := b.Requests(embedded.AckMessage)
			results, err := c.Ack(t.Context(), h)
			checkReaction(t, results, err, b.Requests(embedded.AckMessage)-before, len(*pauses), Acked, want)
		})
	}
}

// The documentation's table is the one that is tested.
func TestTheDocumentationListsEachCode(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range reactions {
		if want != retried && !strings.Contains(string(doc), code.String()) {
			t.Errorf("doc.go does not name %v", code)
		}
	}
}
