// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// common are flags that several commands have.
type common struct {
	target                 string
	pairs                  int
	cpuProfile, memProfile string
}

func (f *common) targetFlag(flags *pflag.FlagSet, byDefault string) {
	flags.StringVar(&f.target, "target", byDefault, "real, embedded or both")
}

func (f *common) pairsFlag(flags *pflag.FlagSet, usage string) {
	flags.IntVar(&f.pairs, "pairs", 3, usage)
}

func (f *common) profileFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.cpuProfile, "cpuprofile", "", "file for a CPU profile of the pipeline legs")
	flags.StringVar(&f.memProfile, "memprofile", "", "file for a profile of the pipeline legs' allocations")
}

// least is a flag with the smallest value that it may have.
type least struct {
	flag       string
	value, low int
}

// check judges the target, and flags that are numbers.
func (f *common) check(numbers ...least) error {
	for _, n := range numbers {
		if n.value < n.low {
			return fmt.Errorf("--%s %d: want at least %d", n.flag, n.value, n.low)
		}
	}
	switch f.target {
	case targetReal, targetEmbedded, targetBoth:
		return nil
	}
	return fmt.Errorf("--target %q: want real, embedded or both", f.target)
}

// benchmark is a command, as its flags say.
type benchmark interface {
	check() error
	run(ctx context.Context, c *console) error
}

// benchCommand makes a command of a benchmark. Its flags are still to be added.
func benchCommand(use, short, long string, b benchmark) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := b.check(); err != nil {
				return err
			}
			return b.run(c.Context(), newConsole(c.OutOrStdout(), c.ErrOrStderr()))
		},
	}
}
