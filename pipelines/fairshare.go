// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare"
)

const fairshareLong = `Many tenants share one main topic of lite topics, and one pipeline. One of them
floods it. fairshare publishes that load twice, once without a policy and once
with a quota per tenant, and measures how long each message takes from its
publishing to its acknowledgement. Nothing may be lost: what is over quota is
delivered again later.

Without --endpoints a broker is started inside the program. With them it runs on
a cluster of RocketMQ 5.5 or later whose topic has +message.type=LITE and whose
group has +lite.bind.topic=<topic>,+lite.sub.wildcard=true, and of more than 100
sessions +lite.sub.client.max.event.cnt=<more than these>.

It prints a line a second, a table, the place of an SVG plot and, as its last
line, one JSON object. It exits with 0 if nothing was lost, 1 if messages were
lost or something failed, 2 for a wrong flag, 130 after Ctrl-C.`

const fairshareExample = `  pipelines fairshare
  pipelines fairshare --noisy-rate 800 --duration 15s --plot fairshare.svg
  pipelines fairshare --endpoints proxy:8081 --topic agent-bus --group beam-agents
  pipelines fairshare --flink localhost:8099 --checkpointing-interval 1s`

// fairshareFlags are those that are no field of the options.
type fairshareFlags struct {
	noisyShare float64
	verbose    bool
}

func newFairshare() *cobra.Command {
	o := fairshare.Defaults()
	var extra fairshareFlags
	cmd := &cobra.Command{
		Use:     "fairshare",
		Short:   "Show that a flood by one tenant need not slow down the others",
		Long:    fairshareLong,
		Example: fairshareExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("fairshare takes no argument, not %q", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := extra.apply(cmd.Flags(), &o); err != nil {
				return usageError{err}
			}
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			for _, doubt := range o.Doubts() {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", doubt)
			}
			portable.Init(cmd.ErrOrStderr(), extra.verbose)
			return fairshare.Run(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().SortFlags = false
	clusterFlags(cmd.Flags(), &o)
	o.Runner.Flags(cmd.Flags())
	loadFlags(cmd.Flags(), &o, &extra)
	pipelineFlags(cmd.Flags(), &o)
	reportFlags(cmd.Flags(), &o, &extra)
	return cmd
}

func clusterFlags(f *pflag.FlagSet, o *fairshare.Options) {
	f.StringVar(&o.Endpoints, "endpoints", o.Endpoints, "proxies of a cluster, host:port[;host:port]; empty: a broker inside the program")
	f.StringVar(&o.Topic, "topic", o.Topic, "main topic of the lite topics")
	f.StringVar(&o.Group, "group", o.Group, "consumer group with a wildcard subscription to the topic")
	f.StringVar(&o.Namespace, "namespace", o.Namespace, "instance namespace, which some vendors need")
	f.StringVar(&o.Connection.Credentials.Resolver, "credentials", "", `resolver of the keys: "env" or "file:/path"; empty: requests are not signed`)
	f.BoolVar(&o.Connection.TLS.Enabled, "tls", false, "secure the connections")
	f.StringVar(&o.Connection.TLS.CAFile, "tls-ca", "", "PEM file of the authorities to trust; empty: those of the system")
	f.StringVar(&o.Connection.TLS.ServerName, "tls-server-name", "", "name that the certificate must bear; empty: the endpoint's host")
	f.BoolVar(&o.Connection.TLS.SkipVerify, "tls-skip-verify", false, "accept any certificate")
}

func loadFlags(f *pflag.FlagSet, o *fairshare.Options, extra *fairshareFlags) {
	l := &o.Load
	f.IntVar(&l.Tenants, "tenants", l.Tenants, "calm tenants")
	f.IntVar(&l.Sessions, "sessions", l.Sessions, "lite topics of each calm tenant")
	f.IntVar(&l.NoisySessions, "noisy-sessions", l.NoisySessions, "lite topics of the noisy tenant")
	f.Float64Var(&l.CalmRate, "calm-rate", l.CalmRate, "messages a second of each calm tenant")
	f.Float64Var(&l.NoisyRate, "noisy-rate", l.NoisyRate, "messages a second of the noisy tenant")
	f.Float64Var(&extra.noisyShare, "noisy-share", 0, "the noisy tenant's share of all messages, above 0 and below 1, in place of --noisy-rate")
	f.DurationVar(&l.Duration, "duration", l.Duration, "how long each leg publishes")
	f.Uint64Var(&l.Seed, "seed", l.Seed, "seed of the load: both legs, and runs with the same flags, publish the same")
}

func pipelineFlags(f *pflag.FlagSet, o *fairshare.Options) {
	f.DurationVar(&o.Work, "work", o.Work, "how long the work on a message takes")
	f.IntVar(&o.Workers, "workers", o.Workers, "messages worked on at the same time; workers / work is the capacity")
	f.IntVar(&o.Quota, "quota", o.Quota, "messages of a tenant that pass in each window")
	f.DurationVar(&o.Window, "window", o.Window, "length of the windows in which messages are grouped")
	f.DurationVar(&o.Defer, "defer", o.Defer, "when a message over quota is delivered again")
	f.DurationVar(&o.InvisibleDuration, "invisible-duration", o.InvisibleDuration, "lease of a delivery; must cover window, queue and work")
}

func reportFlags(f *pflag.FlagSet, o *fairshare.Options, extra *fairshareFlags) {
	f.StringSliceVar(&o.Legs, "legs", o.Legs, "legs to run and their order: none, fair")
	f.DurationVar(&o.DrainTimeout, "drain-timeout", o.DrainTimeout, "how long to wait, after the load, until all is acknowledged")
	f.StringVar(&o.Plot, "plot", o.Plot, "where to write the plot")
	f.BoolVar(&extra.verbose, "verbose", false, "show the log of the runner on stderr")
}

// apply turns the noisy tenant's share into its rate.
func (x *fairshareFlags) apply(f *pflag.FlagSet, o *fairshare.Options) error {
	if !f.Changed("noisy-share") {
		return nil
	}
	if f.Changed("noisy-rate") {
		return fmt.Errorf("--noisy-share %v and --noisy-rate %v: give one of them", x.noisyShare, o.Load.NoisyRate)
	}
	if !(x.noisyShare > 0 && x.noisyShare < 1) {
		return fmt.Errorf("--noisy-share %v: want more than 0 and less than 1", x.noisyShare)
	}
	o.Load.NoisyRate = o.CalmRate() * x.noisyShare / (1 - x.noisyShare)
	return nil
}
