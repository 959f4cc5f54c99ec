// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"regexp"
	"strings"
)

// A namespace stands before a topic or a group, with % between. In the topics
// that the broker makes for a group, it stands before the group.
const (
	namespaceEnd = "%"
	retryPrefix  = "%RETRY%"
	dlqPrefix    = "%DLQ%"
)

// RetryTopic is the topic of what a consumer group gave back.
func RetryTopic(group string) string { return retryPrefix + group }

// IsRetryTopic says that the topic is some group's retry topic, with or
// without a namespace. It exists from the first message on that is given back.
func IsRetryTopic(topic string) bool { return strings.HasPrefix(topic, retryPrefix) }

// WithNamespace puts name, a topic or a group, into the namespace. Names that
// are in it, and those of RocketMQ's own topics and groups, stay as they are.
func WithNamespace(namespace, name string) string {
	if namespace == "" || name == "" || isSystemName(name) {
		return name
	}
	prefix, rest := splitPrefix(name)
	if strings.HasPrefix(rest, namespace+namespaceEnd) {
		return name
	}
	return prefix + namespace + namespaceEnd + rest
}

// WithoutNamespace takes name out of the namespace, if it is in it.
func WithoutNamespace(namespace, name string) string {
	if namespace == "" || isSystemName(name) {
		return name
	}
	prefix, rest := splitPrefix(name)
	rest, in := strings.CutPrefix(rest, namespace+namespaceEnd)
	if !in {
		return name
	}
	return prefix + rest
}

// splitPrefix takes the prefix of a retry or dead-letter topic off.
func splitPrefix(name string) (prefix, rest string) {
	for _, p := range []string{retryPrefix, dlqPrefix} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return p, rest
		}
	}
	return "", name
}

// systemNames are RocketMQ's own topics, which no namespace holds.
var systemNames = map[string]bool{
	"TBW102": true, "SCHEDULE_TOPIC_XXXX": true, "BenchmarkTest": true, "SELF_TEST_TOPIC": true,
	"OFFSET_MOVED_EVENT": true, "CHECKPOINT_TOPIC": true, "TRANS_CHECK_MAX_TIME_TOPIC": true,
	"RMQ_SYS_TRANS_HALF_TOPIC": true, "RMQ_SYS_TRANS_OP_HALF_TOPIC": true, "RMQ_SYS_TRACE_TOPIC": true,
	"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC": true, "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC": true,
}

func isSystemName(name string) bool {
	return systemNames[name] || strings.HasPrefix(name, "rmq_sys_") || strings.HasPrefix(name, "CID_RMQ_SYS_")
}

// instanceHost is how vendors name an instance's endpoint.
var instanceHost = regexp.MustCompile(`^(MQ_INST_\w+_\w+)\.`)

// InstanceOf finds the instance that a vendor's endpoints name, as in
// "http://MQ_INST_1234_abc.region.example.com:80", or "". That instance is
// the namespace of its topics and groups.
func InstanceOf(endpoints string) string {
	for _, addr := range splitEndpoints(endpoints) {
		if m := instanceHost.FindStringSubmatch(addr); m != nil {
			return m[1]
		}
	}
	return ""
}
