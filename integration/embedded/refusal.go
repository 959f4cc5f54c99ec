// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import "fmt"

// reason says why the engine refuses a request. Each front end translates it
// into the codes of its protocol.
type reason int

const (
	reasonInternal reason = iota // whatever RocketMQ answers as an internal error
	reasonTopicNotFound
	reasonGroupNotFound
	reasonIllegalGroup
	reasonIllegalTopic
	reasonIllegalFilter
	reasonExpiredHandle
	reasonForbidden
	reasonLiteTopicQuota
	reasonLiteSubscriptionQuota
	reasonWrongMessageType
	reasonAbnormalAck // ack or change answered by the broker with anything but success
)

// refusal is an error of the engine with the text that RocketMQ would give.
type refusal struct {
	reason reason
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(why reason, format string, args ...any) error {
	return &refusal{reason: why, text: fmt.Sprintf(format, args...)}
}

func topicNotFound(topic string) error {
	return refuse(reasonTopicNotFound, "CODE: 17  DESC: No topic route info in name server for the topic: %s\nFor more information, please visit the url, https://rocketmq.apache.org/docs/bestPractice/06FAQ", topic)
}

func expiredHandle() error {
	return refuse(reasonExpiredHandle, "org.apache.rocketmq.proxy.common.ProxyException: receipt handle is expired")
}
