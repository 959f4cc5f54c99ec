// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// publishedIDs makes the ids of the messages of Publish. They differ between the
// brokers of a test.
type publishedIDs struct {
	broker uint64 // random
	n      atomic.Uint64
}

func (p *publishedIDs) next() string { return fmt.Sprintf("01%016X%014X", p.broker, p.n.Add(1)) }

// PublishOption says something about a message of Publish.
type PublishOption func(*content) error

// PublishID gives the message this id; default is a fresh one.
func PublishID(id string) PublishOption {
	return func(c *content) error { c.id = id; return nil }
}

// PublishKeys sets the keys of the message.
func PublishKeys(keys ...string) PublishOption {
	return func(c *content) error { c.keys = splitKeys(keys); return nil }
}

// PublishTag sets the tag of the message.
func PublishTag(tag string) PublishOption {
	return func(c *content) error { c.tag = tag; return nil }
}

// PublishProperty adds a user property.
func PublishProperty(key, value string) PublishOption {
	return func(c *content) error { c.properties[key] = value; return nil }
}

// PublishMessageGroup sets the message group, by which a FIFO topic orders.
func PublishMessageGroup(g string) PublishOption {
	return func(c *content) error { c.messageGroup = g; return nil }
}

// PublishBorn sets when the message was born; default is now.
func PublishBorn(t time.Time) PublishOption {
	return func(c *content) error { c.born = t; return nil }
}

// PublishAttempt makes the first delivery say that it is the n-th.
func PublishAttempt(n int) PublishOption {
	return func(c *content) error {
		if n < 1 {
			return fmt.Errorf("PublishAttempt: %d must be at least 1", n)
		}
		c.attemptsHad = n - 1
		return nil
	}
}

// PublishCompressed stores the body compressed and says so when delivering it.
func PublishCompressed(format Compression) PublishOption {
	return func(c *content) error {
		body, err := compress(format, c.body)
		if err != nil {
			return err
		}
		c.body, c.compressed, c.compression = body, true, format
		return nil
	}
}

// PublishBrokenCompression says that the body is compressed, which it is not.
func PublishBrokenCompression() PublishOption {
	return func(c *content) error { c.compressed = true; return nil }
}

// PublishStored sets when the message was stored; default is now. The messages of
// a queue should be in order of it, for it is searched by halves.
func PublishStored(t time.Time) PublishOption {
	return func(c *content) error { c.stored = t; return nil }
}

// PublishFlag sets the flag of the message, which is the sender's own.
func PublishFlag(flag int32) PublishOption {
	return func(c *content) error { c.onWire().flag = flag; return nil }
}

// PublishSysFlag sets bits of the message's system flag.
func PublishSysFlag(bits int32) PublishOption {
	return func(c *content) error { c.onWire().sysFlag |= bits; return nil }
}

// PublishReconsumed sets how often a consumer has given the message back.
func PublishReconsumed(n int) PublishOption {
	return func(c *content) error { c.onWire().reconsumed = n; return nil }
}

// PublishInner stores the bodies as one message that holds them all, in place of
// the body: a batch as topics with batch queues (queue.type=BatchCQ) have them.
// It takes as many offsets as it has bodies. Only pulls know what to do with it.
func PublishInner(bodies ...[]byte) PublishOption {
	return func(c *content) error {
		if len(bodies) == 0 {
			return fmt.Errorf("PublishInner: no bodies")
		}
		c.body = nil
		for i, body := range bodies {
			key := remoting.Properties(fmt.Sprintf("%s\x01%s-%d\x02", remoting.PropertyUniqueKey, c.id, i))
			c.body = remoting.AppendBatchEntry(c.body, remoting.BatchEntry{Body: body, Properties: key})
		}
		w := c.onWire()
		w.inner, w.sysFlag = len(bodies), w.sysFlag|sysInnerBatch|sysNeedUnwrap
		c.properties[propertyInnerCount] = fmt.Sprint(len(bodies))
		return nil
	}
}

// onWire is where options keep what only the remoting side knows. The rest of it
// is filled in when the message is first pulled.
func (c *content) onWire() *wire {
	if c.wire == nil {
		c.wire = &wire{}
	}
	return c.wire
}

// PublishDigest delivers the message with a checksum of this kind.
func PublishDigest(kind DigestKind) PublishOption {
	return func(c *content) error { c.digest = &digest{kind, checksum(kind, c.body)}; return nil }
}

// PublishWrongDigest delivers the message with a checksum that does not fit.
func PublishWrongDigest(kind DigestKind) PublishOption {
	return func(c *content) error {
		c.digest = &digest{kind, checksum(kind, append([]byte("not this: "), c.body...))}
		return nil
	}
}

// Publish stores a message without any client and returns its id. liteTopic is
// empty for a normal topic. Options that look at the body (compression, digest)
// are applied in the order in which they are given.
//
// It panics if the topic does not exist, does not fit the message, or an option
// is wrong: that is a mistake in the test.
func (b *Broker) Publish(topic, liteTopic string, body []byte, opts ...PublishOption) string {
	c := content{
		id: b.ids.next(), topic: topic, liteTopic: liteTopic,
		body: append([]byte(nil), body...), properties: map[string]string{},
		born: b.core.clock.Now(), bornHost: "127.0.0.1",
	}
	for _, o := range opts {
		if err := o(&c); err != nil {
			panic("embedded.Publish: " + err.Error())
		}
	}
	if liteTopic != "" {
		if err := checkLiteTopic(liteTopic); err != nil {
			panic("embedded.Publish: " + err.Error())
		}
	}
	if _, _, err := b.core.route(topic); err != nil {
		panic(fmt.Sprintf("embedded.Publish: there is no topic %q; see WithLiteTopic and its like", topic))
	}
	if _, err := b.store(topic, []content{c}); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		panic(fmt.Sprintf("embedded.Publish to topic %q: %s", topic, first))
	}
	return c.id
}
