// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/litebench"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// brokerName is the hidden command that runs the embedded broker.
const brokerName = "embedded-broker"

// brokerCommand runs the embedded broker for the benchmark that started this
// process: in a process of its own it shares neither scheduler nor garbage
// collector with the client that is measured. It ends when its standard input
// does, which the system sees to if the benchmark dies.
func brokerCommand() *cobra.Command {
	return &cobra.Command{
		Use: brokerName + " leg...", Hidden: true, Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, legs []string) error {
			var topics []string
			opts := []embedded.Option{embedded.WithLiteTopicQuota(mostLiteTopics)}
			for _, leg := range legs {
				if topic := litebench.Topic(leg); !slices.Contains(topics, topic) {
					topics = append(topics, topic)
				}
				opts = append(opts, embedded.WithWildcardGroup(litebench.Group(leg), litebench.Topic(leg)))
			}
			b := embedded.Start(context.WithoutCancel(c.Context()), append([]embedded.Option{embedded.WithLiteTopic(topics...)}, opts...)...)
			defer b.Close()
			fmt.Fprintln(c.OutOrStdout(), b.Endpoints())
			_, err := io.Copy(io.Discard, c.InOrStdin())
			return err
		},
	}
}

// brokerProcess is the embedded broker in a process of its own.
type brokerProcess struct {
	command *exec.Cmd
	input   io.Closer
	address string // where it listens
}

func startEmbedded(_ context.Context, legs []string) (*server, error) {
	p, err := startBrokerProcess(append([]string{brokerName}, legs...)...)
	if err != nil {
		return nil, err
	}
	return &server{p.address, p.Close}, nil
}

// startBrokerProcess starts this program again with a hidden command that runs
// a broker and says in one line where it listens.
func startBrokerProcess(args ...string) (*brokerProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &brokerProcess{command: exec.Command(self, args...)}
	p.command.Stderr = os.Stderr
	input, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.input = input
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the embedded broker: %w", err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the embedded broker did not say where it listens: %w", err), p.Close())
	}
	p.address = strings.TrimSpace(line)
	return p, nil
}

// Close ends the process, by force if it does not end by itself.
func (p *brokerProcess) Close() error {
	p.input.Close()
	const patience = 5 * time.Second
	timer := time.AfterFunc(patience, func() { _ = p.command.Process.Kill() })
	defer timer.Stop()
	return p.command.Wait()
}
