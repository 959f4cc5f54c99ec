// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// retryEvery is the pause between two looks at a server that is not ready.
const retryEvery = 100 * time.Millisecond

// await repeats probe until it returns nil, and gives the probe's last error
// when the context ends first.
func await(ctx context.Context, what string, probe func(context.Context) error) error {
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("realmq: waiting until %s: %w", what, errors.Join(context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}

// awaitBroker waits until the broker is in the name server's list. A broker
// that was up before its name server would register again after 10 s only;
// an update of its permission makes it register at once.
func (c *Cluster) awaitBroker(ctx context.Context) error {
	return await(ctx, "the broker is registered", func(ctx context.Context) error {
		body, err := c.call(ctx, c.NameServer(), codeBrokerCluster, nil, nil)
		if err != nil {
			return err
		}
		if bytes.Contains(body, []byte(strconv.Quote(c.BrokerAddr()))) {
			return nil
		}
		_, err = c.call(ctx, c.BrokerAddr(), codeUpdateConfig, nil, []byte("brokerPermission=6\n"))
		return errors.Join(errors.New("the name server does not list it"), err)
	})
}

// awaitProxy waits until the proxy answers and knows the topics that were
// created through this cluster.
func (c *Cluster) awaitProxy(ctx context.Context) error {
	conn, err := c.dialProxy()
	if err != nil {
		return err
	}
	defer conn.Close()
	err = await(ctx, "the proxy answers", func(ctx context.Context) error {
		_, err := c.queryRoute(ctx, conn, "realmq-probe")
		return err
	})
	for topic := range c.topics {
		if err == nil {
			err = c.awaitRoute(ctx, conn, topic)
		}
	}
	return err
}

// awaitRoute waits until the proxy has a route of the topic.
func (c *Cluster) awaitRoute(ctx context.Context, conn *grpc.ClientConn, topic string) error {
	return await(ctx, fmt.Sprintf("the proxy has a route of topic %q", topic), func(ctx context.Context) error {
		status, err := c.queryRoute(ctx, conn, topic)
		if err == nil && status.GetCode() != v2.Code_OK {
			err = fmt.Errorf("%s: %s", status.GetCode(), status.GetMessage())
		}
		return err
	})
}

func (c *Cluster) dialProxy() (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+c.Endpoints(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("realmq: connecting to the proxy: %w", err)
	}
	return conn, nil
}

// queryRoute asks the proxy for the route of a topic.
func (c *Cluster) queryRoute(ctx context.Context, conn *grpc.ClientConn, topic string) (*v2.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, remotingTimeout)
	defer cancel()
	now := time.Now().UTC().Format("20060102T150405Z")
	ctx = metadata.AppendToOutgoingContext(ctx, "x-mq-language", "GO", "x-mq-protocol", "v2",
		"x-mq-client-version", "5.1.4", "x-mq-client-id", "realmq", "x-mq-namespace", "",
		"x-mq-date-time", now)
	if c.cfg.keys != (keys{}) {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", c.cfg.keys.authorization(now))
	}
	answer, err := v2.NewMessagingServiceClient(conn).QueryRoute(ctx, &v2.QueryRouteRequest{
		Topic: &v2.Resource{Name: topic},
		// The proxy takes the scheme of its own answer from here.
		Endpoints: &v2.Endpoints{Scheme: v2.AddressScheme_IPv4,
			Addresses: []*v2.Address{{Host: "127.0.0.1", Port: 1}}},
	}, grpc.WaitForReady(true))
	return answer.GetStatus(), err
}
