// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/mirror"
)

const mirrorLong = `Copies the messages of a normal topic to another one, or with --lite all lite
topics of a main topic to those of another one, on the same cluster or on another.
Copies keep body, keys, tag and the user's properties, and those of normal topics
their unique keys, too.

Nothing is lost, however the mirror ends: the offsets that it commits for --group
are those of messages whose copies are stored, and a message of a lite topic is
acknowledged when its copy is. What was copied and not yet committed is copied
again by the next run.

It prints a line a second and, as its last line, one JSON object. It exits with 0
at the end that --until or --idle-timeout names, 1 if something failed, or with
--guarantee none messages could not be written and no other was, 2 for a wrong flag,
130 after Ctrl-C.`

const mirrorExample = `  pipelines mirror --from old:9876 --from-topic orders --to new:9876 --to-topic orders
  pipelines mirror --from old:9876 --from-topic orders --to new:9876 --to-topic orders --tags paid,shipped --until latest
  pipelines mirror --lite --from proxy1:8081 --from-topic bus --to proxy2:8081 --to-topic bus --group mirror-bus`

func newMirror() *cobra.Command {
	o := mirror.Defaults()
	verbose := false
	cmd := &cobra.Command{
		Use:     "mirror",
		Short:   "Copy a topic to another one or another cluster",
		Long:    mirrorLong,
		Example: mirrorExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("mirror takes no argument, not %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			portable.Init(cmd.ErrOrStderr(), verbose)
			err := mirror.Run(cmd.Context(), o, cmd.OutOrStdout())
			if _, ok := errors.AsType[*mirror.RefusedError](err); ok {
				return usageError{err}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.Lite, "lite", false, "copy lite topics; --from and --to are then the endpoints of proxies")
	mirrorEnd(f, "from", &o.From)
	mirrorEnd(f, "to", &o.To)
	f.StringVar(&o.Group, "group", o.Group, "consumer group; of lite topics one with a wildcard subscription to the topic")
	f.StringSliceVar(&o.Tags, "tags", nil, "copy messages with one of these tags; of lite topics the others are acknowledged and not copied")
	f.StringVar(&o.SQL, "sql", "", "copy messages for which this SQL92 expression holds; of normal topics")
	f.StringVar(&o.Start, "since", o.Start, "where to begin: committed, and earliest where nothing is; earliest; latest; or an instant")
	f.StringVar(&o.Stop, "until", o.Stop, "where to end: never; latest, which is what is there at the start; or an instant")
	f.DurationVar(&o.IdleTimeout, "idle-timeout", 0, "of lite topics, end when nothing came for so long; 0: never")
	f.StringVar(&o.Guarantee, "guarantee", o.Guarantee, "none, which counts what could not be written and goes on, or at-least-once")
	f.StringVar(&o.BornProperty, "born-property", "", "property that gets the instant at which the message was made; empty: none")
	f.DurationVar(&o.InvisibleDuration, "invisible-duration", o.InvisibleDuration, "of lite topics, how long copying a message may take")
	o.Runner.Flags(f)
	f.BoolVar(&verbose, "verbose", false, "show the log of the runner on stderr")
	return cmd
}

// mirrorEnd adds the flags of one end.
func mirrorEnd(f *pflag.FlagSet, name string, c *mirror.Cluster) {
	f.StringVar(&c.Address, name, "", "name servers, host:port[;host:port]")
	f.StringVar(&c.Topic, name+"-topic", "", "topic")
	f.StringVar(&c.Namespace, name+"-namespace", "", "instance namespace, which some vendors need")
	f.StringVar(&c.Credentials, name+"-credentials", "", `resolver of the keys: "env" or "file:/path"; empty: requests are not signed`)
	f.BoolVar(&c.TLS.Enabled, name+"-tls", false, "secure the connections")
	f.StringVar(&c.TLS.CAFile, name+"-tls-ca", "", "PEM file of the authorities to trust; empty: those of the system")
	f.StringVar(&c.TLS.ServerName, name+"-tls-server-name", "", "name that the certificate must bear; empty: the host's")
	f.BoolVar(&c.TLS.SkipVerify, name+"-tls-skip-verify", false, "accept any certificate")
}
