// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"context"
	"fmt"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
)

// Insert is an INSERT INTO … SELECT, as it travels to workers.
type Insert struct {
	// Statement is what [script.Insert.Portable] makes.
	Statement string `json:"statement"`
	Source    Side   `json:"source"`
	Sink      Side   `json:"sink"`
}

// Inserter makes messages for one table of messages of another. It is for one
// goroutine.
type Inserter struct {
	*Reader
	writer  *Writer
	program *script.Program
}

// Inserter makes ready to work.
func (i *Insert) Inserter() (*Inserter, error) {
	s, err := script.Parse("", i.Statement)
	if err != nil {
		return nil, err
	}
	if len(s.Inserts) != 1 {
		return nil, fmt.Errorf("want one INSERT statement, not %d", len(s.Inserts))
	}
	var out Inserter
	if out.Reader, err = i.Source.Reader(); err != nil {
		return nil, err
	}
	if out.writer, err = i.Sink.Writer(); err != nil {
		return nil, err
	}
	out.program, err = s.Inserts[0].Program(out.zone)
	return &out, err
}

// Insert gives the messages that a message becomes to yield: one for each row
// for which WHERE holds.
func (i *Inserter) Insert(ctx context.Context, body []byte, e *connector.Envelope, yield func(Message)) error {
	filtered := int64(0)
	err := i.Read(ctx, body, e, func(row []any) error {
		row, keep, err := i.program.Eval(row)
		if err != nil {
			return err
		}
		if !keep {
			filtered++
			return nil
		}
		m, err := i.writer.Write(ctx, row)
		if err != nil {
			return err
		}
		yield(m)
		return nil
	})
	if filtered > 0 {
		filteredCounter.Inc(ctx, filtered)
	}
	return err
}
