// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Kind is the message type of a topic. The proxy refuses messages of another
// type.
type Kind string

// The kinds of topics.
const (
	Normal      Kind = "NORMAL"
	FIFO        Kind = "FIFO"
	Delay       Kind = "DELAY"
	Transaction Kind = "TRANSACTION"
	// Lite is a main topic that holds lite topics.
	Lite Kind = "LITE"
)

// defaultQueues is the number of queues of a topic, as in mqadmin.
const defaultQueues = 8

// TopicOption changes how a topic is created.
type TopicOption func(*topicConfig) error

type topicConfig struct {
	queues     int
	attributes string
}

// Queues sets the number of queues. Default: 8.
func Queues(n int) TopicOption {
	return func(t *topicConfig) error {
		if n < 1 {
			return fmt.Errorf("Queues(%d): want at least 1", n)
		}
		t.queues = n
		return nil
	}
}

// TopicAttribute adds an attribute, for instance
// TopicAttribute("lite.topic.expiration", "30").
func TopicAttribute(key, value string) TopicOption {
	return func(t *topicConfig) error {
		t.attributes += ",+" + key + "=" + value
		return nil
	}
}

// CreateTopic creates the topic, or changes it, and waits until the proxy has
// its route. It runs against the broker: a stopped broker is an error.
func (c *Cluster) CreateTopic(ctx context.Context, name string, kind Kind, opts ...TopicOption) error {
	t := &topicConfig{queues: defaultQueues}
	for _, opt := range opts {
		if err := opt(t); err != nil {
			return fmt.Errorf("realmq: topic %q: %w", name, err)
		}
	}
	queues := strconv.Itoa(t.queues)
	err := c.administer(ctx, codeCreateTopic, map[string]string{
		"topic": name, "defaultTopic": "TBW102", "readQueueNums": queues, "writeQueueNums": queues,
		"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
		"attributes": "+message.type=" + string(kind) + t.attributes,
	}, nil)
	if err != nil {
		return fmt.Errorf("realmq: creating topic %q: %w", name, err)
	}
	err = await(ctx, fmt.Sprintf("the name server has a route of topic %q", name), func(ctx context.Context) error {
		_, err := c.call(ctx, c.NameServer(), codeRoute, map[string]string{"topic": name}, nil)
		return err
	})
	if err != nil {
		return err
	}
	conn, err := c.dialProxy()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := c.awaitRoute(ctx, conn, name); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.topics[name] = true
	return nil
}

// GroupOption changes how a consumer group is created.
type GroupOption func(*groupConfig)

// groupConfig is the JSON body of the request, with the broker's field names.
type groupConfig struct {
	GroupName                      string            `json:"groupName"`
	ConsumeEnable                  bool              `json:"consumeEnable"`
	ConsumeFromMinEnable           bool              `json:"consumeFromMinEnable"`
	ConsumeBroadcastEnable         bool              `json:"consumeBroadcastEnable"`
	ConsumeMessageOrderly          bool              `json:"consumeMessageOrderly"`
	RetryQueueNums                 int               `json:"retryQueueNums"`
	RetryMaxTimes                  int               `json:"retryMaxTimes"`
	WhichBrokerWhenConsumeSlowly   int               `json:"whichBrokerWhenConsumeSlowly"`
	NotifyConsumerIDsChangedEnable bool              `json:"notifyConsumerIdsChangedEnable"`
	ConsumeTimeoutMinute           int               `json:"consumeTimeoutMinute"`
	Attributes                     map[string]string `json:"attributes"`
}

// LiteBind makes the group a lite group, bound to the main topic.
func LiteBind(topic string) GroupOption { return GroupAttribute("lite.bind.topic", topic) }

// Wildcard lets clients of a lite group subscribe to all lite topics at once.
func Wildcard() GroupOption { return GroupAttribute("lite.sub.wildcard", "true") }

// ReadyLiteTopics is how many lite topics with messages a broker keeps ready for
// each client of the group. Default: the broker's maxClientEventCount, 100.
func ReadyLiteTopics(n int) GroupOption {
	return GroupAttribute("lite.sub.client.max.event.cnt", strconv.Itoa(n))
}

// GroupAttribute adds an attribute, for instance
// GroupAttribute("lite.sub.client.quota", "10").
func GroupAttribute(key, value string) GroupOption {
	return func(g *groupConfig) { g.Attributes["+"+key] = value }
}

// RetryMaxTimes sets how often a message is delivered again before it goes to
// the dead-letter topic. Default: 16.
func RetryMaxTimes(n int) GroupOption {
	return func(g *groupConfig) { g.RetryMaxTimes = n }
}

// CreateGroup creates the consumer group, or changes it. A proxy that was
// asked for the group before may go on with what it knew for two seconds.
func (c *Cluster) CreateGroup(ctx context.Context, name string, opts ...GroupOption) error {
	g := &groupConfig{GroupName: name, ConsumeEnable: true, ConsumeFromMinEnable: true,
		ConsumeBroadcastEnable: true, RetryQueueNums: 1, RetryMaxTimes: 16,
		WhichBrokerWhenConsumeSlowly: 1, NotifyConsumerIDsChangedEnable: true,
		ConsumeTimeoutMinute: 15, Attributes: map[string]string{}}
	for _, opt := range opts {
		opt(g)
	}
	body, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("realmq: group %q: %w", name, err)
	}
	if err := c.administer(ctx, codeCreateGroup, nil, body); err != nil {
		return fmt.Errorf("realmq: creating group %q with %v: %w", name, g.Attributes, err)
	}
	return nil
}

// administer sends a request to the broker, again and again for a while if the
// broker does not answer in time, as on a busy machine. The requests that it is
// for may be carried out twice.
func (c *Cluster) administer(ctx context.Context, code int, fields map[string]string, body []byte) error {
	const tries = 6
	for try := 1; ; try++ {
		_, err := c.call(ctx, c.BrokerAddr(), code, fields, body)
		var timeout net.Error
		if err == nil || try == tries || ctx.Err() != nil || !errors.As(err, &timeout) || !timeout.Timeout() {
			return err
		}
	}
}
