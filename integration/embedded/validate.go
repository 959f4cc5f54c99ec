// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc/metadata"
)

// caller is who sent a request, as its metadata says.
type caller struct {
	id       string
	language string
	version  string
	md       metadata.MD
}

func callerOf(ctx context.Context) caller {
	md, _ := metadata.FromIncomingContext(ctx)
	return caller{id: header(md, "x-mq-client-id"), language: header(md, "x-mq-language"), version: header(md, "x-mq-client-version"), md: md}
}

// languages are the names that RocketMQ knows. GOLANG is not one of them.
var languages = []string{"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS"}

func (c caller) checkLanguage() error {
	if slices.Contains(languages, c.language) {
		return nil
	}
	return fault(v2.Code_INTERNAL_SERVER_ERROR, "No enum constant org.apache.rocketmq.remoting.protocol.LanguageCode.%s. IllegalArgumentException", c.language)
}

var systemTopics = []string{
	"TBW102", "SCHEDULE_TOPIC_XXXX", "BenchmarkTest", "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRACE_TOPIC",
	"RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT",
	"CHECKPOINT_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
}

func isSystemTopic(name string) bool {
	return slices.Contains(systemTopics, name) || strings.HasPrefix(name, "rmq_sys_")
}

// checkTopic checks the name of a topic and returns it as the engine knows it.
func (b *Broker) checkTopic(r *v2.Resource) (string, error) {
	n := r.GetName()
	switch {
	case strings.TrimSpace(n) == "":
		return "", fault(v2.Code_ILLEGAL_TOPIC, "The specified topic is blank")
	case len(n) > 127:
		return "", fault(v2.Code_ILLEGAL_TOPIC, "The specified topic is longer than topic max length 127.")
	case !validName.MatchString(n):
		return "", fault(v2.Code_ILLEGAL_TOPIC, "The specified topic[%s] contains illegal characters, allowing only ^[%%|a-zA-Z0-9_-]+$", n)
	case isSystemTopic(n):
		return "", fault(v2.Code_ILLEGAL_TOPIC, "cannot access system topic")
	}
	return b.inNamespace(r), nil
}

// checkGroup checks the name of a group and returns it as the engine knows it.
func (b *Broker) checkGroup(r *v2.Resource) (string, error) {
	n := r.GetName()
	switch {
	case strings.TrimSpace(n) == "":
		return "", fault(v2.Code_ILLEGAL_CONSUMER_GROUP, "the specified group is blank")
	case len(n) > 120:
		return "", fault(v2.Code_ILLEGAL_CONSUMER_GROUP, "the specified group[%s] is longer than group max length: 120.", n)
	case !validName.MatchString(n):
		return "", fault(v2.Code_ILLEGAL_CONSUMER_GROUP, "the specified group[%s] contains illegal characters, allowing only ^[%%|a-zA-Z0-9_-]+$", n)
	case strings.HasPrefix(n, "CID_RMQ_SYS_"):
		return "", fault(v2.Code_ILLEGAL_CONSUMER_GROUP, "cannot use system consumer group")
	}
	return b.inNamespace(r), nil
}

// inNamespace returns the engine's name of a resource. With WithNamespace a
// resource of another namespace gets a name that nothing has.
func (b *Broker) inNamespace(r *v2.Resource) string {
	if b.cfg.namespace == "" || b.cfg.namespace == r.GetResourceNamespace() {
		return r.GetName()
	}
	return r.GetResourceNamespace() + "%" + r.GetName()
}

func (b *Broker) checkBoth(topic, group *v2.Resource) (t, g string, err error) {
	if t, err = b.checkTopic(topic); err != nil {
		return "", "", err
	}
	g, err = b.checkGroup(group)
	return t, g, err
}

const maxInvisible = 12 * time.Hour

func checkInvisible(d, least time.Duration) error {
	if d < least {
		return fault(v2.Code_ILLEGAL_INVISIBLE_TIME, "the invisibleTime is too small. min is %d", least.Milliseconds())
	}
	if d > maxInvisible {
		return fault(v2.Code_ILLEGAL_INVISIBLE_TIME, "the invisibleTime is too large. max is %d", maxInvisible.Milliseconds())
	}
	return nil
}

const maxLiteTopic = 64

func checkLiteTopic(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault(v2.Code_ILLEGAL_LITE_TOPIC, "lite topic cannot be the char sequence of whitespace")
	case len(name) > maxLiteTopic:
		return fault(v2.Code_ILLEGAL_LITE_TOPIC, "lite topic exceed the max size %d", maxLiteTopic)
	}
	for _, c := range name {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' && c != '_' {
			return fault(v2.Code_ILLEGAL_LITE_TOPIC, "lite topic can only contain alphanumeric characters, hyphens(-), and underscores(_)")
		}
	}
	return nil
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }
