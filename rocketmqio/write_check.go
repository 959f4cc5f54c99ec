// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// What a broker takes at most.
const (
	maxDelayLevel = 18
	// maxPropertiesSize is of all properties together, with those that the broker
	// adds: region, cluster and whether it traces, which are 62 bytes unless the
	// names are longer.
	maxPropertiesSize = 32767 - 128
)

// The properties for which a message has fields, and that of a delivery time.
const propertyDeliverMs = "TIMER_DELIVER_MS"

// reservedProperties are names that RocketMQ gives a meaning: setting them as a
// user's own would change what happens to the message, or be overwritten.
var reservedProperties = func() map[string]bool {
	out := make(map[string]bool)
	for name := range strings.FieldsSeq(`
		KEYS TAGS UNIQ_KEY WAIT DELAY RETRY_TOPIC ORIGIN_GROUP REAL_TOPIC REAL_QID TRAN_MSG PGROUP MIN_OFFSET MAX_OFFSET
		BUYER_ID ORIGIN_MESSAGE_ID TRANSFER_FLAG CORRECTION_FLAG MQ2_FLAG RECONSUME_TIME MSG_REGION TRACE_ON TRANS_OFFSET
		EXTEND_UNIQ_INFO MAX_RECONSUME_TIMES CONSUME_START_TIME _SYS_MSG_PRIORITY_ INNER_NUM INNER_BASE DUP_INFO
		CHECK_IMMUNITY_TIME_IN_SECONDS TRAN_PREPARED_QUEUE_OFFSET __transactionId__ TRANSACTION_CHECK_TIMES INSTANCE_ID
		CORRELATION_ID REPLY_TO_CLIENT TTL ARRIVE_TIME PUSH_REPLY_TIME CLUSTER MSG_TYPE POP_CK POP_CK_OFFSET 1ST_POP_TIME
		__SHARDINGKEY __LITE_TOPIC PROPERTY_FORWARD_QUEUE_ID REDIRECT INNER_MULTI_DISPATCH INNER_MULTI_QUEUE_OFFSET
		TRACE_CONTEXT TIMER_DELAY_SEC TIMER_DELIVER_MS TIMER_DELAY_MS TIMER_ENQUEUE_MS TIMER_DEQUEUE_MS TIMER_ROLL_TIMES
		TIMER_OUT_MS TIMER_DEL_UNIQKEY TIMER_DELAY_LEVEL __BORNHOST BORN_TIMESTAMP DLQ_ORIGIN_TOPIC DLQ_ORIGIN_MESSAGE_ID
		__CRC32#`) {
		out[name] = true
	}
	return out
}()

// propertyFields says which field of a message to use instead.
var propertyFields = map[string]string{
	"KEYS": "Keys", "TAGS": "Tag", "UNIQ_KEY": "UniqueKey", "DELAY": "DelayLevel", "TIMER_DELIVER_MS": "DeliverAt",
	"TIMER_DELAY_SEC": "DeliverAt", "TIMER_DELAY_MS": "DeliverAt", "__SHARDINGKEY": "ShardingKey",
}

// checkMessage says what no broker would take of m, or would take for something
// else. transactional says that it is to be part of a transaction.
//
// Of one that is the copy of another, made by Outgoing, it does not judge how
// consumers could find it: brokers store tags and keys of any form, and a copy that
// is refused would hold up all that follows. What cannot be written to the wire is
// refused by writeProperties.
func checkMessage(m *OutgoingMessage, maxBody int, transactional bool) error {
	var faults []error // none is made for a message that is in order
	add := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	add(checkBody(m.Body, maxBody))
	if m.copied {
		add(checkWritable("unique key", m.UniqueKey))
	} else {
		add(checkFindable(m))
	}
	add(checkUserProperties(m.Properties, m.copied))
	add(checkDelay(m, transactional))
	if m.Topic == "" {
		add(errors.New("it has no topic: set one, or give the option WriteTopic"))
	} else {
		add(names.CheckTopic(m.Topic))
	}
	return errors.Join(faults...)
}

// checkFindable says what would keep consumers from selecting m, or from finding it.
func checkFindable(m *OutgoingMessage) error {
	var faults []error
	for _, err := range [...]error{checkTag(m.Tag), checkKeys(m.Keys), checkText("sharding key", m.ShardingKey), checkUniqueKey(m.UniqueKey)} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func checkUniqueKey(key string) error {
	if err := checkText("unique key", key); err != nil {
		return err
	}
	if strings.IndexByte(key, ',') >= 0 || strings.IndexByte(key, ' ') >= 0 {
		return fmt.Errorf("unique key %q contains a comma or a blank, which separate such keys", key)
	}
	return nil
}

func checkBody(body []byte, most int) error {
	switch {
	case len(body) == 0:
		return errors.New("its body is empty: RocketMQ takes no message without one")
	case len(body) > most:
		return fmt.Errorf("its body has %d bytes, %d more than the %d of WriteMaxBody: make it smaller, or raise maxMessageSize at the broker and then the option", len(body), len(body)-most, most)
	}
	return nil
}

// checkTag follows what brokers and proxies can select by; there is no limit of
// length but that of all properties.
func checkTag(tag string) error {
	if tag == "" {
		return nil
	}
	if err := checkText("tag", tag); err != nil {
		return err
	}
	if strings.TrimSpace(tag) != tag || strings.Contains(tag, "|") || tag == "*" {
		return fmt.Errorf("tag %q: no consumer could select it: white space at its ends, | and a lone * mean something else in filters", tag)
	}
	return nil
}

func checkKeys(keys []string) error {
	for _, key := range keys {
		if err := checkText("key", key); err != nil {
			return err
		}
		if key == "" || strings.ContainsFunc(key, unicode.IsSpace) {
			return fmt.Errorf("key %q: want text without white space, which separates keys", key)
		}
	}
	return nil
}

// checkUserProperties takes a name that RocketMQ would not store from a message that
// was read: it was stored there.
func checkUserProperties(properties map[string]string, stored bool) error {
	for name, value := range properties {
		switch field, has := propertyFields[name]; {
		case has:
			return fmt.Errorf("property %q is RocketMQ's own: use the field %s", name, field)
		case reservedProperties[name]:
			return fmt.Errorf("property %q is RocketMQ's own", name)
		case !stored && strings.HasPrefix(name, "__RMQ.TRANSIENT."):
			return fmt.Errorf("property %q would not be stored: RocketMQ keeps names with this beginning to itself", name)
		case !utf8.ValidString(name):
			return fmt.Errorf("invalid UTF-8 in the name of property %q", name)
		case !utf8.ValidString(value):
			return fmt.Errorf("invalid UTF-8 in property %q", name)
		}
	}
	return nil
}

func checkText(name, value string) error {
	switch {
	case !utf8.ValidString(value):
		return fmt.Errorf("invalid UTF-8 in %s %q", name, value)
	case strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("%s %q contains a control character", name, value)
	}
	return nil
}

// checkWritable refuses what cannot be written to the wire.
func checkWritable(name, value string) error {
	switch {
	case !utf8.ValidString(value):
		return fmt.Errorf("invalid UTF-8 in %s %q", name, value)
	case strings.ContainsAny(value, "\x01\x02"):
		return fmt.Errorf("%s %q contains \\x01 or \\x02, which RocketMQ uses itself", name, value)
	}
	return nil
}

// checkDelay refuses what cannot go together: the broker would silently do one of
// the two.
func checkDelay(m *OutgoingMessage, transactional bool) error {
	delayed := m.DelayLevel != 0 || !m.DeliverAt.IsZero()
	switch {
	case m.DelayLevel < 0 || m.DelayLevel > maxDelayLevel:
		return fmt.Errorf("delay level %d: want 0 to %d", m.DelayLevel, maxDelayLevel)
	case m.DelayLevel != 0 && !m.DeliverAt.IsZero():
		return fmt.Errorf("delay level %d and delivery time %v: give one of them", m.DelayLevel, m.DeliverAt.Format(time.RFC3339))
	case delayed && m.ShardingKey != "":
		return fmt.Errorf("a delay and sharding key %q: messages with delays have no order", m.ShardingKey)
	case delayed && transactional:
		return errors.New("a delay and a transaction: the delay would be lost")
	}
	return nil
}

// propertiesRoom is enough for what most messages have.
const propertiesRoom = 128

// writeProperties writes what is sent of m's fields but the unique key, and says if
// it is too much with that. size is the sum.
func (m *OutgoingMessage) writeProperties(w *remoting.PropertyWriter) (size int, err error) {
	add := func(name, value string) {
		if e := w.Add(name, value); err == nil {
			err = e
		}
	}
	w.Grow(propertiesRoom)
	for name, value := range m.Properties {
		add(name, value)
	}
	add(remoting.PropertyTags, m.Tag)
	add(remoting.PropertyKeys, strings.Join(m.Keys, remoting.KeySeparator))
	add(remoting.PropertyShardingKey, m.ShardingKey)
	if m.DelayLevel > 0 {
		add(remoting.PropertyDelayLevel, strconv.Itoa(m.DelayLevel))
	}
	if !m.DeliverAt.IsZero() {
		add(propertyDeliverMs, strconv.FormatInt(m.DeliverAt.UnixMilli(), 10))
	}
	if err != nil {
		return 0, err
	}
	size = w.Len() + len(remoting.PropertyUniqueKey) + len(m.UniqueKey) + 2
	most := maxPropertiesSize
	if m.copied {
		most = math.MaxInt16 // there was room for it where it was read
	}
	if size > most {
		return 0, fmt.Errorf("its properties, keys and tag have %d bytes, %d more than the %d that RocketMQ leaves for them", size, size-most, most)
	}
	return size, nil
}
