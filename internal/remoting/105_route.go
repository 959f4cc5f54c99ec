// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "context"

// GET_ROUTEINFO_BY_TOPIC asks a name server where a topic is.

// Route asks the name servers for the topic's route, now. Class NoRoute means
// that one of them answered and none knows the topic; any other failure that
// none answered, after three rounds with pauses. The client remembers the route
// and finds brokers by it.
func (c *Client) Route(ctx context.Context, topic string) (*Route, error) {
	r, err := c.readRoute(ctx, c.topicField(topic))
	if err != nil {
		return nil, err
	}
	out := *r
	out.Topic = topic
	return &out, nil
}

// readRoute asks for the route of a topic, given with its namespace, and
// remembers it.
func (c *Client) readRoute(ctx context.Context, topic string) (*Route, error) {
	op := operation{verb: "reading the route", topic: topic, queue: -1}
	answer, err := c.askNames(ctx, request{op: op, code: codeRoute,
		fields: map[string]string{"topic": topic, "acceptStandardJsonOnly": "true"}})
	if err != nil {
		return nil, c.hintRoute(topic, err)
	}
	route, err := decodeRoute(topic, answer.Body)
	if err != nil {
		return nil, &Error{Op: op.String(), Class: Transient, Err: err}
	}
	c.learn(topic, route)
	return route, nil
}

// hintRoute adds what may be behind a topic that nobody knows.
func (c *Client) hintRoute(topic string, err error) error {
	e, ok := err.(*Error)
	if !ok || e.Class != NoRoute {
		return err
	}
	out := *e
	switch instance := InstanceOf(c.cfg.NameServers); {
	case instance != "" && c.cfg.Namespace == "":
		out.Hint = "the endpoint is that of instance " + instance + ": set the namespace to it"
	case IsRetryTopic(topic):
		out.Hint = "a retry topic exists from the first message on that the group gives back"
	}
	return &out
}
