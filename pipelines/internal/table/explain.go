// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"io"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// explain shows what a script would do: the steps of each statement, and the
// options of each table as they hold, secrets masked.
func (p *plan) explain(out io.Writer, o *Options) error {
	for _, t := range p.script.Tables {
		if err := p.explainTable(out, t); err != nil {
			return err
		}
	}
	for n, i := range p.script.Inserts {
		fmt.Fprintf(out, "statement %d, line %d, on %s:\n", n+1, i.At.Line, o.Runner.Name())
		for _, step := range p.steps(i, o) {
			fmt.Fprintf(out, "  → %s\n", step)
		}
	}
	for _, note := range p.notes() {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	return nil
}

func (p *plan) explainTable(out io.Writer, t *script.Table) error {
	use := p.use(t)
	what := map[connector.Use]string{0: "not used", connector.Read: "read", connector.Write: "written", connector.Read | connector.Write: "read and written"}[use]
	fmt.Fprintf(out, "table %s, %s:\n", sqltype.Quote(t.Name), what)
	for _, c := range t.Columns {
		fmt.Fprintf(out, "  %s\n", c)
	}
	settings, err := connector.Effective(t.With(), use, t.Columns)
	if err != nil {
		return err
	}
	for _, s := range settings {
		by := ""
		if !s.Given {
			by = "  (default)"
		}
		fmt.Fprintf(out, "  %s = %s%s\n", sqltype.QuoteText(s.Key), sqltype.QuoteText(s.Value), by)
	}
	fmt.Fprintln(out)
	return nil
}

// steps are the transforms that a statement becomes.
func (p *plan) steps(i *script.Insert, o *Options) []string {
	source, sink := p.sources[i.Source.Name], p.sinks[i.Sink.Name]
	steps := []string{p.readStep(i, o)}
	if n := len(p.inserts(i.Source)); n > 1 {
		steps[0] += fmt.Sprintf(", once for %d statements", n)
	}
	steps = append(steps,
		fmt.Sprintf("rows of %s: %s, rows that cannot be read: %s", sqltype.Quote(i.Source.Name), source.Config.Format.Kind, source.Config.OnDecodeError),
		oneLine(i.Text()),
		fmt.Sprintf("messages of %s: %s", sqltype.Quote(i.Sink.Name), sink.Config.Format.Kind))
	if c := sink.Config; c.Connector == connector.GRPC {
		steps = append(steps, fmt.Sprintf("write lite topic %s of topic %s", c.LiteSink.LiteTopic, c.LiteSink.Topic))
	} else {
		steps = append(steps, fmt.Sprintf("write topic %s, %s", c.Sink.Topic, c.Sink.Guarantee))
	}
	switch {
	case acks(source):
		steps = append(steps, "acknowledge what is written")
	case p.tracks(i.Source):
		steps = append(steps, "commit the positions of what is written")
	}
	return steps
}

func (p *plan) readStep(i *script.Insert, o *Options) string {
	c := p.sources[i.Source.Name].Config
	if c.Connector == connector.GRPC {
		end := "without end"
		if o.Bounded {
			end = fmt.Sprintf("until nothing comes for %v", o.IdleTimeout)
		}
		return fmt.Sprintf("read the lite topics of topic %s as group %s, %s", c.LiteSource.Topic, c.LiteSource.Group, end)
	}
	end := "without end"
	switch {
	case !c.Source.Stop.IsZero():
		end = "to " + c.Source.Stop.Format("2006-01-02T15:04:05.000Z07:00")
	case o.Bounded:
		end = "to what is there at the start"
	}
	return fmt.Sprintf("read topic %s as group %s from %s, %s", strings.Join(c.Source.Topics, " and "), c.Source.Group, startText(c.Source.Start), end)
}

func startText(s connector.Start) string {
	switch s.Mode {
	case connector.AtTime:
		return s.At.Format("2006-01-02T15:04:05.000Z07:00")
	case connector.AtOffset:
		return fmt.Sprintf("offset %d of each queue", s.Offset)
	case connector.Committed:
		return "where the group has committed, and the latest where it has not"
	}
	return string(s.Mode)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
