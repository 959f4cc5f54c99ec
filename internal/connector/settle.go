// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// settle judges what belongs together, and sets what follows from several
// options.
func (o *options) settle(use Use) {
	o.settleClient()
	if o.config.Connector == GRPC {
		o.settleLite()
	} else {
		o.settleStart()
		o.settleCommit()
		o.settleSource()
		o.settleSink()
	}
	o.checkNames(use)
}

func (o *options) settleClient() {
	access, secret := "rocketmq.client.accessKey", "rocketmq.client.secretKey"
	if o.config.Connector == GRPC {
		access, secret = "rocketmq.client.access-key", "rocketmq.client.secret-key"
	}
	const resolver, class = "rocketmq.client.credentials-resolver", "rocketmq.client.credentials-resolver-class"
	by := resolver
	if o.given(class) {
		by = class
	}
	switch {
	case o.given(resolver) && o.given(class):
		o.fail(class, "it is the same as '%s': give one of them", resolver)
	case o.given(by) && (o.given(access) || o.given(secret)):
		o.fail(by, "keys come from the resolver or stand in the script ('%s'): give one of both", access)
	case o.given(access) && !o.given(secret):
		o.fail(secret, "it goes together with '%s'", access)
	case o.given(secret) && !o.given(access):
		o.fail(access, "it goes together with '%s'", secret)
	case o.config.Client.Credentials.Resolver != "":
		if err := o.config.Client.Credentials.Check(); err != nil {
			o.fail(by, "%v", err)
		}
	}
	if o.given("rocketmq.client.tls.ca-file") && !o.config.Client.TLS.Enabled {
		o.fail("rocketmq.client.tls.ca-file", "it has no effect without TLS")
	}
}

// startKeys exclude the start mode and each other.
var startKeys = []string{"rocketmq.source.startup.offset.specific", "rocketmq.source.startup.offset.timestamp", "rocketmq.source.startup.offset.date"}

// settleStart makes one start of the start mode and the three keys that exclude
// it and each other.
func (o *options) settleStart() {
	const mode = "rocketmq.source.startup.scan.mode"
	var by []string
	for _, key := range startKeys {
		if o.set(key) {
			by = append(by, key)
		}
	}
	start := &o.config.Source.Start
	if len(by) > 1 {
		for _, key := range by[1:] {
			o.fail(key, "'%s' is given too, and says already where to begin: give one of them", by[0])
		}
		return
	}
	if len(by) == 0 {
		if o.given(mode) && (start.Mode == AtTime || start.Mode == AtOffset) {
			want := map[StartMode]string{AtTime: "rocketmq.source.startup.offset.timestamp", AtOffset: "rocketmq.source.startup.offset.specific"}[start.Mode]
			o.fail(mode, "it says nothing of when or where: set '%s', and leave the mode out", want)
		}
		return
	}
	implied := AtTime
	if strings.HasSuffix(by[0], "specific") {
		implied = AtOffset
	}
	// The document of "rocketmq" infers the mode, so that the same mode may stand
	// beside it; that of the others excludes it.
	if o.given(mode) && !(o.config.Connector == Remoting && start.Mode == implied) {
		o.fail(mode, "'%s' is given too, and says already where to begin: leave the mode out", by[0])
		return
	}
	start.Mode = implied
	if strings.HasSuffix(by[0], "date") {
		o.settleDate(by[0])
	}
}

func (o *options) settleDate(key string) {
	zone, err := sqltype.LoadZone(o.config.Format.Zone)
	if err != nil {
		return // a fault of the zone, which has been noted
	}
	if !o.given("rocketmq.client.timeZone") {
		o.fail("rocketmq.client.timeZone", "'%s' needs it", key)
		return
	}
	if at, err := dateIn(o.with[key], zone); err == nil {
		o.config.Source.Start.At = at
	}
}

func (o *options) settleCommit() {
	if o.on(commitAuto) || o.on(commitCheckpoint) {
		return
	}
	if o.given(commitInterval) {
		o.fail(commitInterval, "nothing is committed: '%s' and '%s' are false", commitAuto, commitCheckpoint)
	}
	o.config.Source.CommitInterval = 0
}

func (o *options) settleSource() {
	s := &o.config.Source
	if len(s.Tags) > 0 && s.SQL != "" {
		o.fail("rocketmq.source.filter.sql", "'rocketmq.source.filter.tag' is given too: a source takes one kind of filter")
	}
	if s.TotalThreshold < s.QueueThreshold {
		key := "rocketmq.source.pull.threshold.all"
		if !o.given(key) {
			key = "rocketmq.source.pull.threshold.queue"
		}
		o.fail(key, "the threshold of all queues, %d, is below that of a queue, %d", s.TotalThreshold, s.QueueThreshold)
	}
	if !s.Stop.IsZero() && s.Start.Mode == AtTime && !s.Start.At.Before(s.Stop) {
		o.fail("rocketmq.source.stop.offset.timestamp", "reading would begin at %d, not before that", s.Start.At.UnixMilli())
	}
}

func (o *options) settleSink() {
	s := &o.config.Sink
	if s.Guarantee != ExactlyOnce {
		if o.given(transactionTimeout) {
			o.fail(transactionTimeout, "it has no effect without 'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE'")
		}
		s.TransactionTimeout = 0
	}
	switch on := o.on(dynamicTag); {
	case on && s.TagColumn == "" && !o.given(dynamicTagColumn):
		o.fail(dynamicTagColumn, "'%s' needs it", dynamicTag)
	case on && o.given("rocketmq.sink.tag"):
		o.fail("rocketmq.sink.tag", "'%s' takes the tag from a column: give one of both", dynamicTag)
	case !on && o.given(dynamicTagColumn):
		o.fail(dynamicTagColumn, "it has no effect without '%s' = 'true'", dynamicTag)
	}
}

func (o *options) settleLite() {
	s := &o.config.LiteSource
	if o.given(renewalAhead) && !s.RenewWhileQueued {
		o.fail(renewalAhead, "it has no effect without 'rocketmq.source.renewal-policy-class'")
	}
	if s.RenewWhileQueued && s.RenewalAhead >= s.InvisibleDuration {
		o.fail("rocketmq.source.renewal-policy-class", "leases of %v would be renewed %v before their end, which is at once", s.InvisibleDuration, s.RenewalAhead)
	}
}

// checkNames refuses topics and groups that a broker would refuse.
func (o *options) checkNames(use Use) {
	check := func(key string, value string, f func(string) error) {
		if o.given(key) && value != "" {
			if err := f(value); err != nil {
				o.fail(key, "%v", err)
			}
		}
	}
	c := o.config
	for _, topic := range c.Source.Topics {
		check("rocketmq.source.topic", topic, names.CheckTopic)
	}
	check("rocketmq.source.group", c.Source.Group, names.CheckGroup)
	check("rocketmq.source.main-topic", c.LiteSource.Topic, names.CheckTopic)
	check("rocketmq.source.consumer-group", c.LiteSource.Group, names.CheckGroup)
	check("rocketmq.sink.topic", c.Sink.Topic+c.LiteSink.Topic, names.CheckTopic)
	check("rocketmq.sink.group", c.Sink.Group, names.CheckGroup)
	check("rocketmq.sink.lite-topic", c.LiteSink.LiteTopic, names.CheckLiteTopic)
}

// kindOf is the format of a table: the one that is named, else the one that its
// columns suggest.
func kindOf(named string, columns sqltype.Schema) format.Kind {
	if named = strings.ToLower(strings.TrimSpace(named)); named != "" {
		return format.Kind(named)
	}
	if body, _ := columns.Body(); len(body) == 1 && body[0].Type.Kind.IsBinary() {
		return format.Raw
	}
	return format.Delimited
}

// settleFormat chooses the format and refuses keys of others.
func (o *options) settleFormat(columns sqltype.Schema) {
	f := &o.config.Format
	if f.Kind == "" {
		f.Kind = kindOf("", columns)
	}
	for _, k := range o.keys {
		if owner := belongsTo(k.Name); owner != "" && owner != f.Kind && o.given(k.Name) {
			o.fail(k.Name, "it has no effect with the format %s", f.Kind)
		}
	}
	for _, key := range []string{fieldDelimiter, lineDelimiter, lengthCheck} {
		// The document says that raw bodies leave delimiters without effect.
		if o.given(key) && f.Kind != format.Delimited && f.Kind != format.Raw && !(f.Kind == format.CSV && key == lengthCheck) {
			o.fail(key, "it has no effect with the format %s", f.Kind)
		}
	}
	o.resetFormat(o.given(lengthCheck))
	if o.config.OnDecodeError == "" {
		o.config.OnDecodeError = FailOnError
		if f.Kind == format.Delimited && f.LengthCheck != format.CheckException {
			o.config.OnDecodeError = SkipErrors
		}
	}
	if len(o.faults) > 0 {
		return
	}
	body, _ := columns.Body()
	if _, err := format.New(*f, body); err != nil {
		o.faults = append(o.faults, fmt.Errorf("columns and format: %w", err))
	}
}

// resetFormat leaves to the format what was read as a default of another one.
func (o *options) resetFormat(checkGiven bool) {
	f := &o.config.Format
	if f.Kind != format.CSV {
		f.Quote, f.NullLiteral = "", ""
		f.FieldDelimiter = "" // that of CSV is read last
		if k := o.key(fieldDelimiter); f.Kind == format.Delimited {
			value, given := o.with[k.Name]
			if !given {
				value = k.Default
			}
			f.FieldDelimiter, _ = unescape(value)
		}
	}
	if f.Kind != format.Delimited {
		f.LineDelimiter = ""
		if !checkGiven {
			f.LengthCheck = ""
		}
	}
	if f.Kind != format.JSON {
		f.Timestamps = ""
	}
}
