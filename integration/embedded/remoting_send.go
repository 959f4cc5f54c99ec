// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// shortFields are the names of a send's fields in SEND_MESSAGE_V2 and
// SEND_BATCH_MESSAGE.
var shortFields = map[string]string{
	"producerGroup": "a", "topic": "b", "defaultTopic": "c", "defaultTopicQueueNums": "d", "queueId": "e",
	"sysFlag": "f", "bornTimestamp": "g", "flag": "h", "properties": "i", "reconsumeTimes": "j", "batch": "m",
}

// sending is a send with its fields read.
type sending struct {
	call       *remotingCall
	topic      string
	queue      int64
	sysFlag    int32
	flag       int32
	born       time.Time
	properties remoting.Properties
	reconsumed int
	batch      bool
	half       bool // part of a transaction
}

// send answers SEND_MESSAGE (10), SEND_MESSAGE_V2 (310) and SEND_BATCH_MESSAGE
// (320).
func (c *remotingCall) send() *remoting.Command {
	if c.at.slave != 0 {
		return c.refuse(remoting.CodeSystemBusy, "[REJECTREQUEST]system busy, start flow control for a while")
	}
	s, refusal := c.sending()
	if refusal != nil {
		return refusal
	}
	list, refusal := s.contents()
	if refusal != nil {
		return refusal
	}
	core := c.at.b.core
	core.mu.Lock()
	defer core.mu.Unlock()
	q, refusal := s.pick()
	if refusal != nil {
		return refusal
	}
	return s.store(q, list)
}

func (c *remotingCall) sending() (*sending, *remoting.Command) {
	short := c.cmd.Code != codeSend
	field := func(name string) string {
		if short {
			return shortFields[name]
		}
		return name
	}
	for _, n := range []string{"producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag", "bornTimestamp", "flag"} {
		if a := c.missing(field(n)); a != nil {
			return nil, a
		}
	}
	s := &sending{
		call: c, topic: c.text(field("topic")), queue: c.number(field("queueId"), 0),
		sysFlag: int32(c.number(field("sysFlag"), 0)), flag: int32(c.number(field("flag"), 0)),
		born: time.UnixMilli(c.number(field("bornTimestamp"), 0)), properties: remoting.Properties(c.text(field("properties"))),
		reconsumed: int(c.number(field("reconsumeTimes"), 0)), batch: c.flag(field("batch"), false) || c.cmd.Code == codeSendBatch,
	}
	if text := badTopic(s.topic); text != "" {
		return nil, c.refuse(remoting.CodeInvalidParameter, "%s", text)
	}
	if noSendTopics[s.topic] {
		return nil, c.refuse(remoting.CodeNoPermission, "Sending message to topic[%s] is forbidden.", s.topic)
	}
	s.half = s.properties.Get(propertyPrepared) == "true"
	if s.half && s.batch || !s.half && s.sysFlag&sysPrepared != 0 {
		return nil, c.refuse(remoting.CodeRequestNotSupported, "embedded: a half message is one message with property TRAN_MSG")
	}
	return s, nil
}

// contents takes the request apart into messages.
func (s *sending) contents() ([]content, *remoting.Command) {
	c := s.call
	most := c.at.b.cfg.maxBodySize
	if len(c.cmd.Body) == 0 {
		return nil, c.refuse(remoting.CodeSystemError, "java.lang.NullPointerException: Cannot read the array length because the return value of \"org.apache.rocketmq.remoting.protocol.RemotingCommand.getBody()\" is null, org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor.buildMsgContext(AbstractSendMessageProcessor.java:361)")
	}
	if !s.batch {
		m := s.content(s.properties, s.flag, c.cmd.Body)
		if len(c.cmd.Body) > most || len(m.wire.properties) > 1<<15-1 {
			return nil, s.illegal()
		}
		return []content{m}, nil
	}
	if len(c.cmd.Body) > most {
		return nil, c.refuse(remoting.CodeSystemError, "java.lang.RuntimeException: message body size exceeded, org.apache.rocketmq.store.MessageExtEncoder.encode(MessageExtEncoder.java:290)")
	}
	entries, err := remoting.DecodeBatch(c.cmd.Body)
	if err != nil {
		return nil, s.illegal()
	}
	var list []content
	for _, e := range entries {
		m := s.content(e.Properties, e.Flag, e.Body)
		m.wire.properties = e.Properties // nothing is added to those of a batch
		list = append(list, m)
	}
	return list, nil
}

func (s *sending) illegal() *remoting.Command {
	return s.call.refuse(remoting.CodeMessageIllegal, "the message is illegal, maybe msg body or properties length not matched. msg body length limit %dB, msg properties length limit 32KB.", s.call.at.b.cfg.maxBodySize)
}

// content makes a message. The broker adds region, cluster and whether it traces
// to the properties, and gives a unique key to a message without one.
func (s *sending) content(p remoting.Properties, flag int32, body []byte) content {
	id := p.Get(remoting.PropertyUniqueKey)
	added := addProperty(addProperty(p, "MSG_REGION", "DefaultRegion"), "TRACE_ON", "true")
	if id == "" {
		id = s.call.at.b.ids.next()
		added = addProperty(added, remoting.PropertyUniqueKey, id)
	}
	added = addProperty(added, propertyCluster, clusterName)
	from, _ := netip.ParseAddrPort(s.call.conn.remote) // a connection has no other address
	return content{
		id: id, topic: s.topic, body: body, keys: remoting.SplitKeys(p.Get(remoting.PropertyKeys)),
		tag: p.Get(remoting.PropertyTags), properties: userProperties(p), born: s.born, bornHost: s.call.conn.remote,
		messageGroup: p.Get(remoting.PropertyShardingKey), traceContext: p.Get(propertyTrace),
		compressed: s.sysFlag&sysCompressed != 0,
		wire:       &wire{complete: true, flag: flag, sysFlag: s.sysFlag, properties: added, bornHost: from, reconsumed: s.reconsumed},
	}
}

func addProperty(p remoting.Properties, name, value string) remoting.Properties {
	if p != "" && !strings.HasSuffix(string(p), "\x02") {
		p += "\x02"
	}
	return p + remoting.Properties(name+"\x01"+value+"\x02")
}

// pick finds the queue, and creates the topic if that is allowed. The lock is
// held.
func (s *sending) pick() (*queue, *remoting.Command) {
	c := s.call
	core := c.at.b.core
	t := core.topics[s.topic]
	if t == nil || !t.at(c.at.broker).exists() {
		if !core.cfg.autoCreateTopic && !strings.HasPrefix(s.topic, retryPrefix) {
			return nil, c.refuse(remoting.CodeTopicNotExist, "topic[%s] not exist, apply first please!%s", s.topic, faq)
		}
		t = s.create()
	}
	sh := t.at(c.at.broker)
	if s.queue >= int64(max(sh.reads, sh.writes)) {
		return nil, c.refuse(remoting.CodeInvalidParameter, "request queueId[%d] is illegal, TopicConfig [topicName=%s, readQueueNums=%d, writeQueueNums=%d, perm=%s, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=%v, attributes={}] Producer: %s",
			s.queue, t.name, sh.reads, sh.writes, permText(sh.perm), sh.order, c.conn.remote)
	}
	if s.queue < 0 {
		s.queue = rand.Int64N(int64(max(sh.writes, 1)))
	}
	return t.find(c.at.broker, s.queue), nil
}

func permText(p int) string {
	out := []byte("---")
	if p&permRead != 0 {
		out[0] = 'R'
	}
	if p&permWrite != 0 {
		out[1] = 'W'
	}
	return string(out)
}

// create makes the topic after the model of the default one. A retry topic has
// one queue.
func (s *sending) create() *topic {
	c := s.call
	n := int(c.number("defaultTopicQueueNums", c.number(shortFields["defaultTopicQueueNums"], 8)))
	n = max(1, min(n, 8))
	if strings.HasPrefix(s.topic, retryPrefix) {
		n = 1
	}
	t := c.at.b.core.topicNamed(s.topic, kindNormal)
	t.reshape(c.at.broker, shape{reads: n, writes: n, perm: permRead | permWrite})
	return t
}

// store appends the messages and makes the answer. The lock is held.
func (s *sending) store(q *queue, list []content) *remoting.Command {
	core := s.call.at.b.core
	host := s.call.at.host()
	var ids []string
	first := int64(0)
	for i, m := range list {
		var r *record
		if s.half {
			r = core.putHalf(q, m)
		} else {
			r = core.put(q, m)
		}
		ids = append(ids, remoting.OffsetID(host, r.commitLog))
		if i == 0 {
			first = r.sendOffset
		}
	}
	core.notify()
	fields := map[string]string{
		"MSG_REGION": "DefaultRegion", "TRACE_ON": "true", "msgId": strings.Join(ids, ","),
		"queueId": strconv.FormatInt(s.queue, 10), "queueOffset": strconv.FormatInt(first, 10),
	}
	if !s.batch {
		fields["transactionId"] = list[0].id
	}
	return s.call.ok(fields)
}

// noSendTopics are the broker's own.
var noSendTopics = map[string]bool{
	"SCHEDULE_TOPIC_XXXX": true, "RMQ_SYS_TRANS_HALF_TOPIC": true, "RMQ_SYS_TRANS_OP_HALF_TOPIC": true,
	"TRANS_CHECK_MAX_TIME_TOPIC": true, "SELF_TEST_TOPIC": true, "OFFSET_MOVED_EVENT": true,
	"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC": true, "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC": true,
}
