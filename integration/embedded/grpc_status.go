// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"errors"
	"fmt"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/proto"
)

// grpcFault is a refusal of the front end itself, with the code of its protocol.
type grpcFault struct {
	code v2.Code
	text string
}

func (f *grpcFault) Error() string { return f.text }

func fault(code v2.Code, format string, args ...any) error {
	return &grpcFault{code, fmt.Sprintf(format, args...)}
}

// nullPointer is how the proxy answers when it needs settings that it has not:
// an internal error with the text of a Java exception and its first frame.
func nullPointer(call, variable, frame string) error {
	return fault(v2.Code_INTERNAL_SERVER_ERROR, "Cannot invoke %q because %q is null. NullPointerException. org.apache.rocketmq.proxy.%s", call, variable, frame)
}

const (
	frameOfReceive  = "grpc.v2.consumer.ReceiveMessageActivity.receiveMessage(ReceiveMessageActivity.java:68)"
	frameOfDeadline = "grpc.v2.consumer.ReceiveMessageActivity.receiveMessage(ReceiveMessageActivity.java:89)"
	frameOfChannel  = "common.ReceiptHandleGroupKey.getChannelId(ReceiptHandleGroupKey.java:34)"
)

var codeOf = map[reason]v2.Code{
	reasonInternal:              v2.Code_INTERNAL_SERVER_ERROR,
	reasonTopicNotFound:         v2.Code_TOPIC_NOT_FOUND,
	reasonGroupNotFound:         v2.Code_CONSUMER_GROUP_NOT_FOUND,
	reasonIllegalGroup:          v2.Code_ILLEGAL_CONSUMER_GROUP,
	reasonIllegalTopic:          v2.Code_ILLEGAL_TOPIC,
	reasonIllegalFilter:         v2.Code_ILLEGAL_FILTER_EXPRESSION,
	reasonExpiredHandle:         v2.Code_INVALID_RECEIPT_HANDLE,
	reasonForbidden:             v2.Code_FORBIDDEN,
	reasonLiteTopicQuota:        v2.Code_LITE_TOPIC_QUOTA_EXCEEDED,
	reasonLiteSubscriptionQuota: v2.Code_LITE_SUBSCRIPTION_QUOTA_EXCEEDED,
	reasonWrongMessageType:      v2.Code_MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
	reasonAbnormalAck:           v2.Code_INTERNAL_SERVER_ERROR,
}

// statusOf translates an error into the status that the answer carries.
func statusOf(err error) *v2.Status {
	var f *grpcFault
	var r *refusal
	switch {
	case err == nil:
		return okStatus()
	case errors.As(err, &f):
		return &v2.Status{Code: f.code, Message: f.text}
	case errors.As(err, &r):
		return &v2.Status{Code: codeOf[r.reason], Message: r.text}
	}
	return &v2.Status{Code: v2.Code_INTERNAL_SERVER_ERROR, Message: err.Error()}
}

func okStatus() *v2.Status { return &v2.Status{Code: v2.Code_OK, Message: "OK"} }

// answerWith makes the answer to a request that holds only a status.
func answerWith(r *Request, st *v2.Status) proto.Message {
	switch m := r.Message.(type) {
	case *v2.QueryRouteRequest:
		return &v2.QueryRouteResponse{Status: st}
	case *v2.QueryAssignmentRequest:
		return &v2.QueryAssignmentResponse{Status: st}
	case *v2.HeartbeatRequest:
		return &v2.HeartbeatResponse{Status: st}
	case *v2.SyncLiteSubscriptionRequest:
		return &v2.SyncLiteSubscriptionResponse{Status: st}
	case *v2.SendMessageRequest:
		return &v2.SendMessageResponse{Status: st}
	case *v2.ReceiveMessageRequest:
		return &v2.ReceiveMessageResponse{Content: &v2.ReceiveMessageResponse_Status{Status: st}}
	case *v2.AckMessageRequest:
		return &v2.AckMessageResponse{Status: st}
	case *v2.ChangeInvisibleDurationRequest:
		res := &v2.ChangeInvisibleDurationResponse{Status: st}
		if st.GetCode() == v2.Code_TOO_MANY_REQUESTS {
			res.ReceiptHandle = m.GetReceiptHandle()
		}
		return res
	case *v2.NotifyClientTerminationRequest:
		return &v2.NotifyClientTerminationResponse{Status: st}
	case *v2.ForwardMessageToDeadLetterQueueRequest:
		return &v2.ForwardMessageToDeadLetterQueueResponse{Status: st}
	case *v2.EndTransactionRequest:
		return &v2.EndTransactionResponse{Status: st}
	case *v2.TelemetryCommand:
		return &v2.TelemetryCommand{Status: st}
	}
	return nil
}
