// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/table"
)

const tableLong = `A script creates tables over topics, and inserts into one what it selects from
another, as Flink SQL writes it:

  CREATE TABLE orders (id BIGINT, price DECIMAL(10, 2)) WITH (
    'connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'ns:9876',
    'rocketmq.source.topic' = 'orders', 'rocketmq.source.group' = 'tables');
  CREATE TABLE large (id BIGINT, price DECIMAL(10, 2)) WITH (
    'connector' = 'rocketmq', 'rocketmq.client.endpoints' = 'ns:9876',
    'rocketmq.sink.topic' = 'large', 'format' = 'json');
  INSERT INTO large SELECT id, price FROM orders WHERE price > 100;

docs/tables.md says what scripts may hold, docs/table-options.md lists the options.
"-" reads the script from standard input.

It runs until Ctrl-C, or until all tables that are read have ended: at their stop
option, or with --bounded. It prints a line a second and, as its last line, one
JSON object. It exits with 0 when the tables have ended, 1 if something failed, 2
for a wrong flag or script, 130 after Ctrl-C.`

const tableExample = `  pipelines table script.sql
  pipelines table --explain script.sql
  pipelines table --bounded script.sql
  pipelines table script.sql --flink localhost:8099 --checkpointing-interval 1s`

func newTable() *cobra.Command {
	o := table.Defaults()
	verbose := false
	cmd := &cobra.Command{
		Use:     "table script.sql",
		Short:   "Run a SQL script over topics",
		Long:    tableLong,
		Example: tableExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("table takes one script, not %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			text, err := readScript(cmd.Context(), args[0], cmd.InOrStdin())
			if err != nil {
				return usageError{err}
			}
			portable.Init(cmd.ErrOrStderr(), verbose)
			err = table.Run(cmd.Context(), args[0], text, o, cmd.OutOrStdout())
			if _, ok := errors.AsType[*table.ScriptError](err); ok {
				return usageError{fmt.Errorf("%s:\n%w", args[0], err)}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.Explain, "explain", false, "show the steps and the options as they hold, secrets masked, and run nothing")
	f.BoolVar(&o.Bounded, "bounded", false, "end at what normal topics hold at the start, and when lite topics are idle")
	f.DurationVar(&o.IdleTimeout, "idle-timeout", o.IdleTimeout, "with --bounded, how long lite topics must bring nothing")
	o.Runner.Flags(f)
	f.BoolVar(&verbose, "verbose", false, "show the log of the runner on stderr")
	return cmd
}

// mostScript bounds what is read for a script, in bytes.
const mostScript = 1 << 20

// readScript reads a script until ctx ends. What it waits for then, standard input or
// a pipe that nobody writes to, may hold its goroutine until the program ends: there
// is no way to break off such a wait.
func readScript(ctx context.Context, path string, stdin io.Reader) (string, error) {
	type outcome struct {
		text string
		err  error
	}
	read := make(chan outcome, 1)
	go func() {
		text, err := readAll(path, stdin)
		read <- outcome{text, err}
	}()
	select {
	case o := <-read:
		return o.text, o.err
	case <-ctx.Done():
		return "", fmt.Errorf("script %s: %w", path, context.Cause(ctx))
	}
}

func readAll(path string, stdin io.Reader) (string, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("script: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, mostScript+1))
	if err != nil {
		return "", fmt.Errorf("script %s: %w", path, err)
	}
	if len(text) > mostScript {
		return "", fmt.Errorf("script %s has more than %d bytes", path, mostScript)
	}
	return string(text), nil
}
