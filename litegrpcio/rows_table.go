// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/connector"
	"github.com/rocketmq-beam/rocketmq-beam/internal/delivered"
	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
)

// ReadTable reads the messages of a table as they are, handles included: it is
// [Read] with the options that stand behind WITH in a CREATE TABLE whose
// connector is rocketmq-grpc, and those that follow, which win. When messages are
// acknowledged is up to the pipeline, whatever the table says.
//
// ReadTable panics if the statement or an option is wrong, with a text that names
// it.
func ReadTable(s beam.Scope, createTable string, opts ...ReadOption) beam.PCollection {
	d, err := table.Declare(createTable, connector.Read, connector.GRPC)
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.ReadTable: %v", err))
	}
	return readTable(s, d, opts)
}

func readTable(s beam.Scope, d *table.Declared, opts []ReadOption) beam.PCollection {
	c := d.Config
	return Read(s, endpointsOf(c), c.LiteSource.Topic, c.LiteSource.Group, append(readOptionsOf(c), opts...)...)
}

func endpointsOf(c *connector.Config) string { return strings.ReplaceAll(c.Client.Endpoints, ",", ";") }

// readOptionsOf are the options of Read that the options of a table come to.
func readOptionsOf(c *connector.Config) []ReadOption {
	s := &c.LiteSource
	opts := []ReadOption{
		ReadNamespace(c.Client.Namespace), ReadTLS(c.Client.TLS), ReadRequestTimeout(c.Client.RequestTimeout),
		ReadFetchConcurrency(s.FetchConcurrency), ReadAwaitDuration(s.AwaitDuration), ReadInvisibleDuration(s.InvisibleDuration),
		ReadMaxMessageNum(s.MaxMessageNum),
	}
	if s.RenewWhileQueued {
		opts = append(opts, ReadRenewal(RenewWhileQueued), ReadRenewalAhead(s.RenewalAhead))
	}
	switch k := c.Client.Credentials; {
	case k.Resolver != "":
		opts = append(opts, ReadCredentials(k.Resolver))
	case k.StaticAccessKey != "":
		opts = append(opts, ReadStaticCredentials(k.StaticAccessKey, k.StaticSecretKey))
	}
	return opts
}

// WriteTable writes messages with the options that stand behind WITH in a CREATE
// TABLE whose connector is rocketmq-grpc, and those that follow, which win: it is
// [Write] with them. [WriteRows] makes the messages of rows.
//
// col may also hold [Delivery], see [WriteDeliveries]; the result is then that.
//
// WriteTable panics if the statement, an option or the type of col is wrong, with
// a text that names it.
func WriteTable(s beam.Scope, createTable string, col beam.PCollection, opts ...WriteOption) beam.PCollection {
	d, err := table.Declare(createTable, connector.Write, connector.GRPC)
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.WriteTable: %v", err))
	}
	return writeTable(s, d, col, opts)
}

func writeTable(s beam.Scope, d *table.Declared, col beam.PCollection, opts []WriteOption) beam.PCollection {
	c := d.Config
	all := append(writeOptionsOf(c), opts...)
	if delivered.Is[Delivery](col) {
		return WriteDeliveries(s, endpointsOf(c), c.LiteSink.Topic, col, all...)
	}
	return Write(s, endpointsOf(c), c.LiteSink.Topic, col, all...)
}

// writeOptionsOf are the options of Write that the options of a table come to.
func writeOptionsOf(c *connector.Config) []WriteOption {
	opts := []WriteOption{
		WriteLiteTopic(c.LiteSink.LiteTopic), WriteNamespace(c.Client.Namespace), WriteTLS(c.Client.TLS),
		WriteRequestTimeout(c.Client.RequestTimeout), WriteMaxAttempts(c.LiteSink.MaxAttempts),
	}
	switch k := c.Client.Credentials; {
	case k.Resolver != "":
		opts = append(opts, WriteCredentials(k.Resolver))
	case k.StaticAccessKey != "":
		opts = append(opts, WriteStaticCredentials(k.StaticAccessKey, k.StaticSecretKey))
	}
	return opts
}
