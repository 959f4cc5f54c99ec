// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

// ScriptError is a script that cannot be run as it is written.
type ScriptError struct{ Err error }

// Error has a line for each fault, with its place.
func (e *ScriptError) Error() string { return e.Err.Error() }

// Unwrap gives the faults.
func (e *ScriptError) Unwrap() error { return e.Err }

// plan is a script with the options of its tables, for what it does with them.
type plan struct {
	script *script.Script
	// sources and sinks are the tables that are read and written, by name.
	sources, sinks map[string]*table.Declared
}

// read makes a plan of a script. Its error is a [*ScriptError].
func read(name, text string) (*plan, error) {
	s, err := script.Parse(name, text)
	if err != nil {
		return nil, &ScriptError{err}
	}
	if len(s.Inserts) == 0 {
		return nil, &ScriptError{errors.New("the script has no INSERT INTO … SELECT: there is nothing to run")}
	}
	p := &plan{script: s, sources: map[string]*table.Declared{}, sinks: map[string]*table.Declared{}}
	var faults []error
	for _, t := range s.Tables {
		faults = append(faults, p.settle(t))
	}
	faults = append(faults, p.checkAcks(), p.checkTransactions())
	if err := errors.Join(faults...); err != nil {
		return nil, &ScriptError{err}
	}
	return p, nil
}

// settle reads the options of a table, also of one that is not used.
func (p *plan) settle(t *script.Table) error {
	use := p.use(t)
	d, err := table.Settle(t, use)
	if err != nil {
		return err
	}
	if use&connector.Read != 0 {
		p.sources[t.Name] = d
	}
	if use&connector.Write != 0 {
		p.sinks[t.Name] = d
	}
	return nil
}

func (p *plan) use(t *script.Table) (use connector.Use) {
	for _, i := range p.script.Inserts {
		if i.Source == t {
			use |= connector.Read
		}
		if i.Sink == t {
			use |= connector.Write
		}
	}
	return use
}

// checkAcks refuses two statements that would both acknowledge.
func (p *plan) checkAcks() error {
	var faults []error
	for _, t := range p.script.Tables {
		d := p.sources[t.Name]
		if d == nil || !acks(d) || len(p.inserts(t)) == 1 {
			continue
		}
		faults = append(faults, fmt.Errorf("line %d, column %d: table %s: 'rocketmq.source.ack' = 'last-step': %d statements read it, and the first that is done would acknowledge for the others: "+
			"give each a table with a consumer group of its own", t.At.Line, t.At.Column, sqltype.Quote(t.Name), len(p.inserts(t))))
	}
	return errors.Join(faults...)
}

// checkTransactions refuses EXACTLY_ONCE where it cannot be kept.
func (p *plan) checkTransactions() error {
	var faults []error
	for _, i := range p.script.Inserts {
		source, sink := p.sources[i.Source.Name], p.sinks[i.Sink.Name]
		switch {
		case source == nil || sink == nil: // at fault already
		case exactlyOnce(sink) && acks(source):
			faults = append(faults, fmt.Errorf("line %d, column %d: a statement from table %s, whose messages are acknowledged when they are written, to table %s with EXACTLY_ONCE: "+
				"deliveries of lite topics may be repeated; write with AT_LEAST_ONCE", i.At.Line, i.At.Column, sqltype.Quote(i.Source.Name), sqltype.Quote(i.Sink.Name)))
		case sink.Config.Connector == connector.GRPC && p.tracks(i.Source):
			faults = append(faults, fmt.Errorf("line %d, column %d: table %s is read for a table with EXACTLY_ONCE, too, so that its positions are committed when what is written is there, which lite topics such as those of table %s do not tell: "+
				"read a table with a consumer group of its own", i.At.Line, i.At.Column, sqltype.Quote(i.Source.Name), sqltype.Quote(i.Sink.Name)))
		}
	}
	return errors.Join(faults...)
}

func exactlyOnce(sink *table.Declared) bool {
	return sink.Config.Connector != connector.GRPC && sink.Config.Sink.Guarantee == connector.ExactlyOnce
}

// transacts says that something is written in transactions.
func (p *plan) transacts() bool {
	return slices.ContainsFunc(p.script.Inserts, func(i *script.Insert) bool { return exactlyOnce(p.sinks[i.Sink.Name]) })
}

// tracks says that positions of a table that is read are committed when what its
// statements write is there, and not with the reading.
func (p *plan) tracks(t *script.Table) bool {
	c := p.sources[t.Name].Config
	if c.Connector == connector.GRPC || c.Source.CommitInterval == 0 {
		return false
	}
	return slices.ContainsFunc(p.inserts(t), func(i *script.Insert) bool { s := p.sinks[i.Sink.Name]; return s != nil && exactlyOnce(s) })
}

// place tells a statement from the others, and is the same when lines are added
// before it or its SELECT is changed: it names steps, and is part of the ids of
// messages.
func (p *plan) place(i *script.Insert) string {
	n := 0
	for _, other := range p.script.Inserts {
		if other.Source == i.Source && other.Sink == i.Sink {
			n++
		}
		if other == i {
			break
		}
	}
	text := fmt.Sprintf("INSERT INTO %s FROM %s", i.Sink.Name, i.Source.Name)
	if n > 1 {
		text += fmt.Sprintf(" (%d)", n)
	}
	return text
}

// bound checks, for a run that is to end, that each table has something to read,
// and says whether all of them end.
func (p *plan) bound(o *Options) (ends bool, err error) {
	ends = true
	var faults []error
	for _, t := range p.script.Tables {
		d := p.sources[t.Name]
		if d == nil {
			continue
		}
		stops := !d.Config.Source.Stop.IsZero()
		ends = ends && (o.Bounded || stops)
		if o.Bounded && !stops && d.Config.Connector != connector.GRPC && d.Config.Source.Start.Mode == connector.Latest {
			faults = append(faults, fmt.Errorf("line %d, column %d: table %s begins at the latest message and, with --bounded, would end there: set 'rocketmq.source.startup.scan.mode', for instance to 'earliest' or 'group'",
				t.At.Line, t.At.Column, sqltype.Quote(t.Name)))
		}
	}
	if len(faults) > 0 {
		return ends, &ScriptError{errors.Join(faults...)}
	}
	return ends, nil
}

// acks says that messages of the table are acknowledged.
func acks(d *table.Declared) bool {
	return d.Config.Connector == connector.GRPC && d.Config.LiteSource.Ack == connector.AckLast
}

// inserts are the statements that read a table.
func (p *plan) inserts(t *script.Table) []*script.Insert {
	return slices.DeleteFunc(slices.Clone(p.script.Inserts), func(i *script.Insert) bool { return i.Source != t })
}

// notes are what a user should know before the script runs.
func (p *plan) notes() []string {
	var out []string
	for _, t := range p.script.Tables {
		d := p.sources[t.Name]
		if d == nil {
			continue
		}
		if d.Config.Connector == connector.GRPC && !acks(d) {
			out = append(out, fmt.Sprintf("messages of table %s are never acknowledged, so that each comes again when its lease of %v ends: 'rocketmq.source.ack' = 'last-step' acknowledges what is written",
				sqltype.Quote(t.Name), d.Config.LiteSource.InvisibleDuration))
		}
	}
	return out
}
