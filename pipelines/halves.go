// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/halves"
)

const halvesLong = `Half messages are what a transactional write has prepared and not yet committed.
This lists those that brokers have left of a producer group:

  pending   waits for its commit
  visible   a message with its key is in the topic: the broker will be told
  dropped   the broker has put it away in TRANS_CHECK_MAX_TIME_TOPIC, for nobody
            ended it; the pipeline that has its handle can commit it until the
            deadline, see docs/exactly-once.md

Groups are named as brokers have them, with the namespace if there is one. The
default of a transform begins with PID-beam-txn-.

It exits with 0 when all brokers were asked, whatever was found, 1 if something
failed, 2 for a wrong flag, 130 after Ctrl-C.`

func newHalves() *cobra.Command {
	var nameServers, group, credentials string
	var asJSON bool
	timeout := 5 * time.Second
	cmd := &cobra.Command{
		Use:     "halves",
		Short:   "List half messages that transactional writes have left",
		Long:    halvesLong,
		Example: "  pipelines halves --name-servers ns:9876 --group PID-beam-txn-0123456789abcdef --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			source := auth.Source{Resolver: credentials}
			if err := source.Check(); err != nil {
				return usageError{err}
			}
			if timeout <= 0 {
				return usageError{fmt.Errorf("--timeout %v: want more than 0", timeout)}
			}
			if err := names.CheckGroup(group); err != nil && group != "" {
				return usageError{fmt.Errorf("--group: %w", err)}
			}
			if _, err := remoting.ParseNameServers(nameServers); err != nil {
				return usageError{err}
			}
			c, err := remoting.NewClient(remoting.Config{NameServers: nameServers, Credentials: source.Provider(nameServers), Timeout: timeout})
			if err != nil {
				return err
			}
			defer c.Close()
			found := 0
			defer func() {
				if err == nil && found == 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "no half messages of %s at %s\n", groupOrAll(group), nameServers)
				}
			}()
			return halves.List(cmd.Context(), c, group, func(h halves.Half) error {
				found++
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(h)
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s %s key %s keys %q group %s born %s deadline %s looks %d\n", h.State, h.Broker, h.Topic,
					h.UniqueKey, h.Keys, h.Group, h.Born.Format(time.RFC3339), h.Deadline.Format(time.RFC3339), h.Looks)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&nameServers, "name-servers", "", "host:port[;host:port] of the name servers")
	f.StringVar(&group, "group", "", "the producer group; all, if empty")
	f.StringVar(&credentials, "credentials", "", "resolver of the keys: env, file:PATH; none, if empty")
	f.BoolVar(&asJSON, "json", false, "a JSON object a line")
	f.DurationVar(&timeout, "timeout", timeout, "of each request")
	return cmd
}

func groupOrAll(group string) string {
	if group == "" {
		return "any group"
	}
	return fmt.Sprintf("group %q", group)
}
