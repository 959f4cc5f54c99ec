// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/location"
)

// loops are statements that may read for ever what they write: one that reads and
// writes a topic, and several that pass it on to each other. Whether two tables are
// one topic is judged by their addresses; no broker is asked. They are said and not
// refused, for WHERE may be what ends a loop: scripts that do so run on Flink as well.
//
// Reading that ends at what is there at the start makes no loop. Such is that of
// normal topics with --bounded. Reading lite topics ends when nothing comes for a
// while, which in a loop never is; and a stop that lies ahead is a loop until then.
func (p *plan) loops(o *Options, now time.Time) (notes []string) {
	for n := range p.script.Inserts {
		loop, at := p.loop(n, o, now)
		switch len(loop) {
		case 0:
		case 1:
			notes = append(notes, p.shortLoop(loop[0], at))
		default:
			notes = append(notes, p.longLoop(loop, at))
		}
	}
	return notes
}

// endsLoops is what to do about a loop.
func endsLoops(source *table.Declared) string {
	if source.Config.Connector == connector.GRPC {
		return ""
	}
	return ", or run it with --bounded"
}

func (p *plan) shortLoop(i *script.Insert, at string) string {
	tables := fmt.Sprintf("tables %s and %s are both", sqltype.Quote(i.Source.Name), sqltype.Quote(i.Sink.Name))
	if i.Source == i.Sink {
		tables = fmt.Sprintf("table %s is read and written, and is", sqltype.Quote(i.Source.Name))
	}
	return fmt.Sprintf("line %d, column %d: %s topic %q at %s: what is written is read again, for ever; see that WHERE ends that%s",
		i.At.Line, i.At.Column, tables, sinkAt(p.sinks[i.Sink.Name]).Name, at, endsLoops(p.sources[i.Source.Name]))
}

func (p *plan) longLoop(loop []*script.Insert, at string) string {
	var ways []string
	for _, i := range loop {
		ways = append(ways, fmt.Sprintf("%s to %s (line %d)", sqltype.Quote(i.Source.Name), sqltype.Quote(i.Sink.Name), i.At.Line))
	}
	first, last := loop[0], loop[len(loop)-1]
	return fmt.Sprintf("line %d, column %d: from tables %s, and tables %s and %s are both topic %q at %s: what is written is read again, for ever; see that WHERE ends that%s", first.At.Line, first.At.Column,
		strings.Join(ways, ", "), sqltype.Quote(last.Sink.Name), sqltype.Quote(first.Source.Name), sinkAt(p.sinks[last.Sink.Name]).Name, at, endsLoops(p.sources[first.Source.Name]))
}

// loop is the shortest way from what statement n writes back to what it reads, and
// an address at which the last and the first meet. It goes by later statements
// only, so that each loop is found once.
func (p *plan) loop(n int, o *Options, now time.Time) (way []*script.Insert, at string) {
	all := p.script.Inserts
	ways, seen := [][]*script.Insert{{all[n]}}, []*script.Insert{all[n]}
	for len(ways) > 0 {
		way, ways = ways[0], ways[1:]
		last := way[len(way)-1]
		if at, feeds := p.feeds(last, all[n], o, now); feeds {
			return way, at
		}
		for _, next := range all[n+1:] {
			if _, feeds := p.feeds(last, next, o, now); feeds && !slices.Contains(seen, next) {
				seen = append(seen, next)
				ways = append(ways, append(slices.Clone(way), next))
			}
		}
	}
	return nil, ""
}

// feeds says whether one statement reads what another writes, and where.
func (p *plan) feeds(writes, reads *script.Insert, o *Options, now time.Time) (at string, feeds bool) {
	sink, source := p.sinks[writes.Sink.Name], p.sources[reads.Source.Name]
	s := &source.Config.Source
	if source.Config.Connector != connector.GRPC {
		if s.Stop.IsZero() && o.Bounded || !s.Stop.IsZero() && !s.Stop.After(now) {
			return "", false
		}
		// What has a tag that is not read does not come back.
		to := &sink.Config.Sink
		if to.Tag != "" && to.TagColumn == "" && len(s.Tags) > 0 && !slices.Contains(s.Tags, to.Tag) {
			return "", false
		}
	}
	for _, from := range sourcesAt(source) {
		if at, same := from.Same(sinkAt(sink)); same {
			return at, true
		}
	}
	return "", false
}

func sourcesAt(d *table.Declared) (out []location.Topic) {
	topics := d.Config.Source.Topics
	if d.Config.Connector == connector.GRPC {
		topics = []string{d.Config.LiteSource.Topic}
	}
	for _, topic := range topics {
		out = append(out, topicAt(d, topic))
	}
	return out
}

func sinkAt(d *table.Declared) location.Topic {
	if d.Config.Connector == connector.GRPC {
		return topicAt(d, d.Config.LiteSink.Topic)
	}
	return topicAt(d, d.Config.Sink.Topic)
}

func topicAt(d *table.Declared, topic string) location.Topic {
	c := d.Config.Client
	return location.Topic{Lite: d.Config.Connector == connector.GRPC, Address: strings.ReplaceAll(c.Endpoints, ",", ";"), Namespace: c.Namespace, Name: topic}
}
