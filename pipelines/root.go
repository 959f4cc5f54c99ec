// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/mirror"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/table"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell has it for Ctrl-C
)

// usageError is what was wrong with the command line.
type usageError struct{ error }

// Unwrap gives what was wrong.
func (e usageError) Unwrap() error { return e.error }

// run is the program, as it were in a process of its own.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := newRoot(out, errs)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, fairshare.ErrInterrupted) {
		fmt.Fprintln(errs, "interrupted: messages that were not acknowledged stay in the topic")
		return exitInterrupted
	}
	if errors.Is(err, table.ErrInterrupted) {
		fmt.Fprintln(errs, "interrupted: what was not written stays in the topics that are read")
		return exitInterrupted
	}
	if errors.Is(err, mirror.ErrInterrupted) {
		fmt.Fprintln(errs, "interrupted: what was not copied, or not committed, is copied by the next run")
		return exitInterrupted
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(errs, "interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(errs, "error: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintln(errs, "see pipelines --help, or --help of the subcommand")
		return exitUsage
	}
	return exitFailed
}

// newRoot makes the command that holds the subcommands. A new one is a file
// with a constructor, and a line here.
func newRoot(out, errs io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "pipelines",
		Short: "Pipelines over Apache RocketMQ",
		Long: "Pipelines over Apache RocketMQ.\n\nCtrl-C or SIGTERM ends a run within seconds, with its last lines; another one, a second\n" +
			"later or more, at once.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return noSubcommand(cmd, args[0])
		},
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(out)
	root.SetErr(errs)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetHelpCommand(newHelp())
	root.AddCommand(newFairshare(), newTable(), newMirror(), newHalves())
	return root
}

func noSubcommand(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no subcommand %q", name)
	if like := cmd.SuggestionsFor(name); len(like) > 0 {
		text += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return usageError{errors.New(text)}
}

// newHelp is cobra's command but for names that are none, which are an error here.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [subcommand]",
		Short: "Help about a subcommand",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noSubcommand(cmd.Root(), args[len(args)-max(len(rest), 1)])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}
