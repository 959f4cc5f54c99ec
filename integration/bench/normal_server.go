// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

func startNormalReal(ctx context.Context, queues int, topics []string) (*server, error) {
	// Files of the broker's own size: small ones would have it roll over all the
	// time. And a broker on a disk that is 85 % full deletes what nobody has read
	// yet, all but its last file, unless it is told not to.
	mq, err := realmq.Start(ctx, realmq.BrokerProperty("mappedFileSizeCommitLog", "1073741824"),
		realmq.BrokerProperty("mappedFileSizeConsumeQueue", "6000000"), realmq.BrokerProperty("cleanFileForciblyEnable", "false"))
	if err != nil {
		return nil, err
	}
	for _, topic := range topics {
		if err := mq.CreateTopic(ctx, topic, realmq.Normal, realmq.Queues(queues)); err != nil {
			return nil, errors.Join(err, mq.Close())
		}
	}
	return &server{mq.NameServer(), mq.Close}, nil
}

// normalBrokerName is the hidden command that runs the embedded broker for
// normal topics.
const normalBrokerName = "embedded-normal-broker"

// normalBrokerCommand is [brokerCommand] for normal topics.
func normalBrokerCommand() *cobra.Command {
	return &cobra.Command{
		Use: normalBrokerName + " queues topic...", Hidden: true, Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			queues, err := strconv.Atoi(args[0])
			if err != nil {
				return err
			}
			b := embedded.Start(context.WithoutCancel(c.Context()), embedded.WithNormalTopic(args[1:]...), embedded.WithQueues(queues))
			defer b.Close()
			fmt.Fprintln(c.OutOrStdout(), b.NameServer())
			_, err = io.Copy(io.Discard, c.InOrStdin())
			return err
		},
	}
}

func startNormalEmbedded(_ context.Context, queues int, topics []string) (*server, error) {
	p, err := startBrokerProcess(append([]string{normalBrokerName, strconv.Itoa(queues)}, topics...)...)
	if err != nil {
		return nil, err
	}
	return &server{p.address, p.Close}, nil
}
