// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"strings"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/protobuf/proto"
)

const (
	maxProperties    = 128
	maxPropertyBytes = 16 << 10
	maxMessageGroup  = 64
	maxDelay         = 24 * time.Hour
)

// SendMessage stores messages of one topic. It needs no session.
//
// Several messages in one request become one batch with one answer entry, whose
// id is that of all messages joined by commas. The lite topics of a batch are
// not looked at: its messages lie in the main topic, where no consumer of lite
// topics ever sees them. The real broker loses them in the same way.
func (p *proxy) SendMessage(ctx context.Context, req *v2.SendMessageRequest) (*v2.SendMessageResponse, error) {
	entry, err := p.send(callerOf(ctx), req)
	if err != nil {
		return &v2.SendMessageResponse{Status: statusOf(err)}, nil
	}
	return &v2.SendMessageResponse{Status: okStatus(), Entries: []*v2.SendResultEntry{entry}}, nil
}

func (p *proxy) send(who caller, req *v2.SendMessageRequest) (*v2.SendResultEntry, error) {
	if len(req.GetMessages()) == 0 {
		return nil, fault(v2.Code_MESSAGE_CORRUPTED, "no message to send")
	}
	first := req.GetMessages()[0].GetTopic()
	topic, err := p.b.checkTopic(first)
	if err != nil {
		return nil, err
	}
	var list []content
	for _, m := range req.GetMessages() {
		if !proto.Equal(m.GetTopic(), first) {
			return nil, fault(v2.Code_MESSAGE_CORRUPTED, "topic in message is not same")
		}
		c, err := p.b.content(topic, m)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return p.b.store(topic, list)
}

// store appends messages that passed the checks of their form.
func (b *Broker) store(topic string, list []content) (*v2.SendResultEntry, error) {
	c := b.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[topic]
	want, got := "UNSPECIFIED", list[0].kind() // what the proxy takes a missing topic for
	if t != nil {
		want = string(t.kind)
	}
	if want != got {
		return nil, refuse(reasonWrongMessageType, "org.apache.rocketmq.proxy.common.ProxyException: TopicMessageType validate failed, the expected type is %s, but actual type is %s", want, got)
	}
	var ids []string
	var offset int64
	for _, m := range list {
		if err := c.checkLiteSize(m); err != nil {
			return nil, err
		}
	}
	for i, m := range list {
		r, err := c.append(t, m, len(list) == 1)
		if err != nil {
			return nil, err
		}
		ids = append(ids, m.id)
		if i == 0 {
			offset = r.sendOffset
		}
	}
	return &v2.SendResultEntry{Status: okStatus(), MessageId: strings.Join(ids, ","), Offset: offset}, nil
}

// checkLiteSize refuses a lite message whose stored form is too large as a whole:
// properties, names and the broker's own numbers count too. For others only the
// body does.
func (c *core) checkLiteSize(m content) error {
	if m.liteTopic == "" || storedSize(&record{content: m}) <= c.cfg.maxBodySize {
		return nil
	}
	return refuse(reasonInternal, "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 13  DESC: the message is illegal, maybe msg body or properties length not matched. msg body length limit %dB, msg properties length limit 32KB.", c.cfg.maxBodySize)
}

// kind is what the broker takes a message for, by its properties and not by its
// message_type field.
func (m content) kind() string {
	switch {
	case !m.delivery.IsZero():
		return "DELAY"
	case m.messageGroup != "":
		return string(kindFIFO)
	case m.liteTopic != "":
		return string(kindLite)
	}
	return string(kindNormal)
}

// content checks the form of a message in the order in which the proxy does.
func (b *Broker) content(topic string, m *v2.Message) (content, error) {
	sp := m.GetSystemProperties()
	switch {
	case len(m.GetBody()) == 0:
		return content{}, fault(v2.Code_MESSAGE_BODY_EMPTY, "message body cannot be empty")
	case len(m.GetBody()) > b.cfg.maxBodySize:
		return content{}, fault(v2.Code_MESSAGE_BODY_TOO_LARGE, "message body cannot exceed the max %d", b.cfg.maxBodySize)
	}
	if err := checkProperties(m); err != nil {
		return content{}, err
	}
	if strings.TrimSpace(sp.GetMessageId()) == "" {
		return content{}, fault(v2.Code_ILLEGAL_MESSAGE_ID, "message id cannot be empty")
	}
	if sp.GetMessageType() == v2.MessageType_TRANSACTION {
		return content{}, fault(v2.Code_NOT_IMPLEMENTED, "embedded: transactional messages are not supported")
	}
	c := content{
		id: sp.GetMessageId(), topic: topic, body: m.GetBody(), keys: splitKeys(sp.GetKeys()), tag: sp.GetTag(),
		properties: m.GetUserProperties(), born: sp.GetBornTimestamp().AsTime(), bornHost: sp.GetBornHost(),
		traceContext: sp.GetTraceContext(), compressed: sp.GetBodyEncoding() == v2.Encoding_GZIP,
	}
	if sp.GetBornTimestamp() == nil {
		c.born = b.core.clock.Now()
	}
	if sp.DeliveryTimestamp != nil {
		c.delivery = sp.GetDeliveryTimestamp().AsTime()
		if c.delivery.Sub(b.core.clock.Now()) > maxDelay {
			return content{}, fault(v2.Code_ILLEGAL_DELIVERY_TIME, "the max delay time of message is too large, max is %d", maxDelay.Milliseconds())
		}
	}
	if g := sp.GetMessageGroup(); g != "" {
		if err := checkMessageGroup(g); err != nil {
			return content{}, err
		}
		c.messageGroup = g
	}
	if l := sp.GetLiteTopic(); l != "" {
		if err := checkLiteTopic(l); err != nil {
			return content{}, err
		}
		c.liteTopic = l
	}
	return c, nil
}

// splitKeys is what becomes of keys on their way: joined by blanks and split again.
func splitKeys(keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	out := strings.Split(strings.Join(keys, " "), " ")
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func checkProperties(m *v2.Message) error {
	if len(m.GetUserProperties()) > maxProperties {
		return fault(v2.Code_MESSAGE_PROPERTIES_TOO_LARGE, "too many user properties, max is %d", maxProperties)
	}
	size := 0
	for k, v := range m.GetUserProperties() {
		switch {
		case systemProperties[k]:
			return fault(v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY, "property is used by system: %s", k)
		case hasControl(k):
			return fault(v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY, "the key of property cannot contain control character")
		case hasControl(v):
			return fault(v2.Code_ILLEGAL_MESSAGE_PROPERTY_KEY, "the value of property cannot contain control character")
		}
		size += len(k) + len(v)
	}
	tag := m.GetSystemProperties().GetTag()
	if err := checkTag(tag); err != nil {
		return err
	}
	size += len(tag)
	for _, k := range m.GetSystemProperties().GetKeys() {
		switch {
		case k != "" && strings.TrimSpace(k) == "":
			return fault(v2.Code_ILLEGAL_MESSAGE_KEY, "key cannot be the char sequence of whitespace")
		case hasControl(k):
			return fault(v2.Code_ILLEGAL_MESSAGE_KEY, "key cannot contain control character")
		}
		size += len(k)
	}
	if size > maxPropertyBytes {
		return fault(v2.Code_MESSAGE_PROPERTIES_TOO_LARGE, "the total size of user property is too large, max is %d", maxPropertyBytes)
	}
	return nil
}

func checkTag(tag string) error {
	switch {
	case tag == "":
		return nil
	case strings.TrimSpace(tag) == "":
		return fault(v2.Code_ILLEGAL_MESSAGE_TAG, "tag cannot be the char sequence of whitespace")
	case strings.Contains(tag, "|"):
		return fault(v2.Code_ILLEGAL_MESSAGE_TAG, "tag cannot contain '|'")
	case hasControl(tag):
		return fault(v2.Code_ILLEGAL_MESSAGE_TAG, "tag cannot contain control character")
	}
	return nil
}

func checkMessageGroup(g string) error {
	switch {
	case strings.TrimSpace(g) == "":
		return fault(v2.Code_ILLEGAL_MESSAGE_GROUP, "message group cannot be the char sequence of whitespace")
	case len(g) >= maxMessageGroup:
		return fault(v2.Code_ILLEGAL_MESSAGE_GROUP, "message group exceed the max size %d", maxMessageGroup)
	case hasControl(g):
		return fault(v2.Code_ILLEGAL_MESSAGE_GROUP, "message group cannot contain control character")
	}
	return nil
}

// systemProperties are the keys that users may not set.
var systemProperties = func() map[string]bool {
	m := map[string]bool{}
	for k := range strings.FieldsSeq(`TRACE_ON MSG_REGION KEYS TAGS WAIT DELAY RETRY_TOPIC ORIGIN_GROUP REAL_TOPIC
		REAL_QID TRAN_MSG PGROUP MIN_OFFSET MAX_OFFSET BUYER_ID ORIGIN_MESSAGE_ID TRANSFER_FLAG CORRECTION_FLAG
		MQ2_FLAG RECONSUME_TIME UNIQ_KEY MAX_RECONSUME_TIMES CONSUME_START_TIME POP_CK POP_CK_OFFSET 1ST_POP_TIME
		TRAN_PREPARED_QUEUE_OFFSET DUP_INFO EXTEND_UNIQ_INFO INSTANCE_ID CORRELATION_ID REPLY_TO_CLIENT TTL
		ARRIVE_TIME PUSH_REPLY_TIME CLUSTER MSG_TYPE INNER_MULTI_QUEUE_OFFSET TIMER_DELAY_MS TIMER_DELAY_SEC
		TIMER_DELIVER_MS TIMER_ENQUEUE_MS TIMER_DEQUEUE_MS TIMER_ROLL_TIMES TIMER_OUT_MS TIMER_DEL_UNIQKEY
		TIMER_DELAY_LEVEL __BORNHOST BORN_TIMESTAMP DLQ_ORIGIN_TOPIC DLQ_ORIGIN_MESSAGE_ID __CRC32#
		_SYS_MSG_PRIORITY_ __LITE_TOPIC`) {
		m[k] = true
	}
	return m
}()
