// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/delivered"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

// connectors are the values of 'connector' for normal topics.
var connectors = []string{connector.Remoting, connector.Remoting4, connector.Remoting5}

// ReadTable reads the messages of a table as they are: it is [Read] with the
// options that stand behind WITH in a CREATE TABLE, and those that follow, which
// win. docs/table-options.md lists the keys. [ReadRows] makes rows of them.
//
// ReadTable panics if the statement or an option is wrong, with a text that names
// it.
func ReadTable(s beam.Scope, createTable string, opts ...ReadOption) beam.PCollection {
	d, err := table.Declare(createTable, connector.Read, connectors...)
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.ReadTable: %v", err))
	}
	return readTable(s, d, opts)
}

// ReadTableTracked is [ReadTable] for pipelines that commit positions when the work
// on the messages is done, as [ReadTracked] does. It panics where ReadTable does.
func ReadTableTracked(s beam.Scope, createTable string, opts ...ReadOption) Tracked {
	d, err := table.Declare(createTable, connector.Read, connectors...)
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.ReadTableTracked: %v", err))
	}
	c := d.Config
	return ReadTracked(s, nameServersOf(c), c.Source.Group, c.Source.Topics, append(readOptionsOf(c), opts...)...)
}

func readTable(s beam.Scope, d *table.Declared, opts []ReadOption) beam.PCollection {
	c := d.Config
	return Read(s, nameServersOf(c), c.Source.Group, c.Source.Topics, append(readOptionsOf(c), opts...)...)
}

// nameServersOf drops the http:// that vendors print before name servers.
func nameServersOf(c *connector.Config) string {
	all := strings.FieldsFunc(c.Client.Endpoints, func(r rune) bool { return r == ';' || r == ',' })
	for i, a := range all {
		_, after, found := strings.Cut(strings.TrimSpace(a), "://")
		if !found {
			after = strings.TrimSpace(a)
		}
		all[i] = strings.TrimSuffix(after, "/")
	}
	return strings.Join(all, ";")
}

// readOptionsOf are the options of Read that the options of a table come to.
func readOptionsOf(c *connector.Config) []ReadOption {
	s := &c.Source
	opts := []ReadOption{
		ReadNamespace(c.Client.Namespace), ReadTLS(c.Client.TLS), ReadRequestTimeout(c.Client.RequestTimeout),
		ReadDiscoveryInterval(c.Client.DiscoveryInterval), ReadFrom(startOf(s.Start)), ReadOutOfRange(OutOfRange(s.OutOfRange)),
		ReadPullBatchSize(s.PullBatchSize), ReadThresholds(s.QueueThreshold, s.TotalThreshold), ReadPullTimeout(s.PullTimeout),
		ReadRetryDelay(s.RetryDelay), ReadCommitInterval(s.CommitInterval),
	}
	if len(s.Tags) > 0 {
		opts = append(opts, ReadTags(s.Tags...))
	}
	if s.SQL != "" {
		opts = append(opts, ReadSQL(s.SQL))
	}
	if !s.Stop.IsZero() {
		opts = append(opts, ReadTo(AtTimestamp(s.Stop)))
	}
	switch k := c.Client.Credentials; {
	case k.Resolver != "":
		opts = append(opts, ReadCredentials(k.Resolver))
	case k.StaticAccessKey != "":
		opts = append(opts, ReadStaticCredentials(k.StaticAccessKey, k.StaticSecretKey))
	}
	return opts
}

func startOf(s connector.Start) Start {
	switch s.Mode {
	case connector.Earliest:
		return Earliest()
	case connector.Committed:
		return Committed(Latest())
	case connector.AtTime:
		return Timestamp(s.At)
	case connector.AtOffset:
		return Offset(s.Offset)
	}
	return Latest()
}

// WriteTable writes messages with the options that stand behind WITH in a CREATE
// TABLE, and those that follow, which win: it is [Write] with them. [WriteRows]
// makes the messages of rows.
//
// col may also hold [Delivery], see [WriteDeliveries]; the result is then that.
//
// WriteTable panics if the statement, an option or the type of col is wrong, with
// a text that names it.
func WriteTable(s beam.Scope, createTable string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	d, err := table.Declare(createTable, connector.Write, connectors...)
	if err != nil {
		panic(fmt.Sprintf("rocketmqio.WriteTable: %v", err))
	}
	return writeTable(s, d, col, opts)
}

func writeTable(s beam.Scope, d *table.Declared, col beam.PCollection, opts []WriteOption) beam.PCollection {
	all := append(writeOptionsOf(d.Config), opts...)
	if delivered.Is[Delivery](col) {
		return WriteDeliveries(s, nameServersOf(d.Config), col, all...)
	}
	return Write(s, nameServersOf(d.Config), col, all...)
}

// writeOptionsOf are the options of Write that the options of a table come to. The
// tag is set on each message, by the row.
func writeOptionsOf(c *connector.Config) []WriteOption {
	s := &c.Sink
	opts := []WriteOption{
		WriteTopic(s.Topic), WriteNamespace(c.Client.Namespace), WriteTLS(c.Client.TLS),
		WriteSendTimeout(s.SendTimeout), WriteRetries(s.Retries), WritePendingMax(s.PendingMax),
		WriteGuarantee(Guarantee(s.Guarantee)),
	}
	if s.Group == connector.DefaultProducerGroup {
		opts = append(opts, defaultGroup(s.Group))
	} else {
		opts = append(opts, WriteGroup(s.Group))
	}
	if s.TransactionTimeout > 0 {
		opts = append(opts, WriteTransactionTimeout(s.TransactionTimeout))
	}
	switch k := c.Client.Credentials; {
	case k.Resolver != "":
		opts = append(opts, WriteCredentials(k.Resolver))
	case k.StaticAccessKey != "":
		opts = append(opts, WriteStaticCredentials(k.StaticAccessKey, k.StaticSecretKey))
	}
	return opts
}
