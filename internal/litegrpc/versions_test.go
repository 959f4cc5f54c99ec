// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"strings"
	"testing"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// Lite topics came into the protocol with 5.1.4 of the clients' Go module. With an
// older one in go.mod this package does not compile; with other stubs in its place,
// this test says what they lack. (X22h)
func TestTheStubsKnowLiteTopics(t *testing.T) {
	file := v2.File_apache_rocketmq_v2_definition_proto
	if file.Enums().ByName("ClientType").Values().ByName("LITE_SIMPLE_CONSUMER") == nil {
		t.Error("no client type LITE_SIMPLE_CONSUMER: go.mod needs github.com/apache/rocketmq-clients/golang/v5 v5.1.4 or later")
	}
	service := v2.File_apache_rocketmq_v2_service_proto
	if service.Services().ByName("MessagingService").Methods().ByName("SyncLiteSubscription") == nil {
		t.Error("no call SyncLiteSubscription")
	}
	for message, field := range map[protoreflect.Name]protoreflect.Name{
		"ChangeInvisibleDurationRequest": "suspend", "AckMessageEntry": "lite_topic",
	} {
		if service.Messages().ByName(message).Fields().ByName(field) == nil {
			t.Errorf("%s has no field %s", message, field)
		}
	}
}

// Y31: what is too old for lite topics is an error at once that says which version
// is needed. Brokers have them, with subscriptions to all of a topic, from 5.5.0 on:
// the classes of 5.4.0 do not know the attribute lite.sub.wildcard.
func TestServersThatAreTooOldAreNamedAsSuch(t *testing.T) {
	refusal := func(code v2.Code) embedded.Reaction {
		return embedded.Answer(&v2.SyncLiteSubscriptionResponse{Status: &v2.Status{Code: code, Message: "no"}})
	}
	for name, reaction := range map[string]embedded.Reaction{
		"a proxy without the call":             embedded.Fail(status.Error(codes.Unimplemented, "unknown method SyncLiteSubscription")),
		"a broker without the request":         refusal(v2.Code_NOT_IMPLEMENTED),
		"a broker without the kind of group":   refusal(v2.Code_UNSUPPORTED),
		"a proxy that serves newer ones alone": refusal(v2.Code_VERSION_UNSUPPORTED),
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t)
			b.ControlAlways(embedded.SyncLiteSubscription, func(context.Context, *embedded.Request) embedded.Reaction { return reaction })
			c, err := NewConsumer(t.Context(), consumerConfig(t, b.Endpoints()))
			if err == nil {
				c.Close(t.Context())
				t.Fatal("it was accepted")
			}
			if ClassOf(err) != Permanent || !strings.Contains(err.Error(), "5.5 or later") {
				t.Errorf("got %v, want a permanent error that names the version", err)
			}
		})
	}
}
