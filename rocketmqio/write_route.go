// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// Times of routes.
const (
	routeAge    = 30 * time.Second // then a route is read again
	routePause  = time.Second      // between two readings because of a failure
	missingTime = 10 * time.Second // how long a topic that nobody knows is waited for
	firstAvoid  = 500 * time.Millisecond
	lastAvoid   = 30 * time.Second
)

// writeRoutes chooses queues.
type writeRoutes struct {
	read   func(ctx context.Context, topic string) (*remoting.Route, error)
	typeOf func(ctx context.Context, topic, broker string) (string, error)

	mu      sync.Mutex
	topics  map[string]*topicRoute
	brokers map[string]*brokerState
}

// topicRoute is what is known of one topic's queues.
type topicRoute struct {
	reading chan struct{} // holds one while somebody reads

	queues []remoting.Queue // that can be written to now
	fixed  []remoting.Queue // those that sharding keys are spread over
	next   int
	at     time.Time // when it was read
	doubt  bool      // is to be read again soon
	missed time.Time // since when nobody knows the topic; zero if it was known
	known  bool
	typed  bool // a broker told its type, and it is none that must not be written to
}

// brokerState is how the last requests to a broker went.
type brokerState struct {
	failures int
	avoid    time.Time // until when others are asked first
}

func newWriteRoutes(c *remoting.Client) *writeRoutes {
	return &writeRoutes{read: c.Route, typeOf: c.TopicType, topics: make(map[string]*topicRoute), brokers: make(map[string]*brokerState)}
}

// missingTopic means that a topic was never known since the session began.
type missingTopic struct{ err error }

func (e *missingTopic) Error() string { return e.err.Error() }
func (e *missingTopic) Unwrap() error { return e.err }

// pick returns the next queue of the topic, in turn over brokers and queues. One
// of a broker that failed lately is taken only if there is no other.
func (r *writeRoutes) pick(ctx context.Context, topic string) (remoting.Queue, error) {
	t, err := r.route(ctx, topic)
	if err != nil {
		return remoting.Queue{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	best, bestAt := 0, time.Time{}
	for i := range t.queues {
		at := (t.next + i) % len(t.queues)
		avoid := time.Time{}
		if b := r.brokers[t.queues[at].Broker]; b != nil && b.avoid.After(now) {
			avoid = b.avoid
		}
		if i == 0 || avoid.Before(bestAt) {
			best, bestAt = at, avoid
		}
		if avoid.IsZero() {
			break
		}
	}
	t.next = (best + 1) % len(t.queues)
	return t.queues[best], nil
}

// fixed returns the queue of a sharding key: the same as long as the session
// lives and the queue exists, whatever happens to its broker, for the order of the
// key needs that. It is the one that Java's SelectMessageQueueByHash would take.
func (r *writeRoutes) fixed(ctx context.Context, topic, key string) (remoting.Queue, error) {
	t, err := r.route(ctx, topic)
	if err != nil {
		return remoting.Queue{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var h int32
	for _, unit := range utf16.Encode([]rune(key)) {
		h = 31*h + int32(unit)
	}
	if t.fixed == nil {
		t.fixed = slices.Clone(t.queues)
	}
	n := int(h) % len(t.fixed)
	return t.fixed[max(n, -n)], nil
}

// route returns what is known of a topic, reading it if need be. One caller
// reads, the others wait for it only if nothing is known.
func (r *writeRoutes) route(ctx context.Context, topic string) (*topicRoute, error) {
	r.mu.Lock()
	t := r.topics[topic]
	if t == nil {
		t = &topicRoute{reading: make(chan struct{}, 1)}
		r.topics[topic] = t
	}
	usable, fresh := len(t.queues) > 0, t.fresh(time.Now())
	r.mu.Unlock()
	if usable && fresh {
		return t, nil
	}
	if usable {
		select {
		case t.reading <- struct{}{}:
		default:
			return t, nil // somebody is at it
		}
	} else {
		select {
		case t.reading <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer func() { <-t.reading }()
	return t, r.refresh(ctx, topic, t)
}

func (t *topicRoute) fresh(now time.Time) bool {
	age := now.Sub(t.at)
	return age < routePause || age < routeAge && !t.doubt
}

// refresh reads the route, unless somebody just did. While it cannot be read, the
// former one serves on.
func (r *writeRoutes) refresh(ctx context.Context, topic string, t *topicRoute) error {
	r.mu.Lock()
	done, typed := len(t.queues) > 0 && t.fresh(time.Now()), t.typed
	r.mu.Unlock()
	if done {
		return nil
	}
	route, err := r.read(ctx, topic)
	if err == nil && !typed {
		typed, err = r.judgeType(ctx, topic, route.Writable())
	}
	if wrong, ok := errors.AsType[*wrongTopic](err); ok {
		return wrong
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if err != nil {
		if len(t.queues) > 0 {
			t.at, t.doubt = now, true
			return nil
		}
		return t.miss(err, now)
	}
	t.at, t.doubt = now, false
	t.known, t.typed = true, typed
	queues := route.Writable()
	if len(queues) == 0 {
		return fmt.Errorf("topic %s: no broker has a queue of it that can be written to: %w", topic, errNoQueue)
	}
	t.queues = queues
	return nil
}

// wrongTopic means that what is sent to a topic reaches nobody.
type wrongTopic struct{ topic string }

func (e *wrongTopic) Error() string {
	return fmt.Sprintf("topic %s is of type LITE: no consumer of its lite topics gets what is sent to it as a normal message; write to it with litegrpcio.Write, or to another topic", e.topic)
}

// typeTimeout bounds the question for a topic's type; the next reading of the route
// asks again.
const typeTimeout = 2 * time.Second

// judgeType asks a broker for the type of the topic. One that does not tell, for it
// is older, or away, or may not, is taken as it is.
func (r *writeRoutes) judgeType(ctx context.Context, topic string, queues []remoting.Queue) (typed bool, err error) {
	if len(queues) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, typeTimeout)
	defer cancel()
	kind, err := r.typeOf(ctx, topic, queues[0].Broker)
	if err == nil && kind == remoting.TypeLite {
		return false, &wrongTopic{topic}
	}
	return err == nil || remoting.ClassOf(err) == remoting.Permanent, nil
}

// miss judges that a route could not be read while there is no former one.
func (t *topicRoute) miss(err error, now time.Time) error {
	if remoting.ClassOf(err) != remoting.NoRoute || t.known {
		return err
	}
	if t.missed.IsZero() {
		t.missed = now
	}
	if now.Sub(t.missed) >= missingTime {
		return &missingTopic{err}
	}
	return err
}

// failed notes that a broker did not take a request; answered that it did.
func (r *writeRoutes) failed(q remoting.Queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.brokers[q.Broker]
	if b == nil {
		b = &brokerState{}
		r.brokers[q.Broker] = b
	}
	if now := time.Now(); !b.avoid.After(now) { // else it is one of many that were under way
		b.avoid = now.Add(min(firstAvoid<<min(b.failures, 10), lastAvoid))
		b.failures++
	}
	r.doubtLocked(q.Topic)
}

func (r *writeRoutes) answered(q remoting.Queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.brokers, q.Broker)
}

// gone notes that a broker does not know a queue of the topic any more, for it has
// fewer of them now. Sharding keys are spread anew, or no message of some would
// ever be taken.
func (r *writeRoutes) gone(topic string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doubtLocked(topic)
	if t := r.topics[topic]; t != nil {
		t.fixed = nil
	}
}

func (r *writeRoutes) doubtLocked(topic string) {
	if t := r.topics[topic]; t != nil {
		t.doubt = true
	}
}
