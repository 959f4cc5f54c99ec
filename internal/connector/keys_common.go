// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
)

// Keys that only some formats have.
const (
	fieldDelimiter = "rocketmq.client.message.field.delimiter"
	lineDelimiter  = "rocketmq.client.message.line.delimiter"
	lengthCheck    = "rocketmq.client.message.length.check"
)

// formatKeys are the keys of bodies, which all connectors have. own says that
// those for delimited text are not in the connector's document.
func formatKeys(own bool) []Key {
	zone := "Zone of dates and times that name none, such as `Asia/Shanghai` or `+08:00`; without it, UTC."
	if !own {
		zone += " `rocketmq.source.startup.offset.date` needs it."
	}
	keys := []Key{
		parsed("rocketmq.client.timeZone", "time zone", "", zone, parseZone),
		parsed("rocketmq.client.message.encoding", "encoding", "UTF-8", "Encoding of text in bodies by its IANA name, such as `GBK`. "+
			"JSON is always UTF-8; bytes of a `VARBINARY` column are left as they are.", func(c *Config, s string) error {
			c.Format.Charset = s
			return format.CheckCharset(s)
		}),
		parsed(fieldDelimiter, "text", `\u0001`, "What stands between fields of delimited text. Escapes: `\\u0001`, `\\x01`, `\\t`, `\\n`, `\\r`, `\\\\`.",
			parseDelimiter(func(c *Config) *string { return &c.Format.FieldDelimiter })),
		parsed(lineDelimiter, "text", `\n`, "What stands between the lines of a body of delimited text; each line is a row, empty lines are none. The same escapes.",
			parseDelimiter(func(c *Config) *string { return &c.Format.LineDelimiter })),
		choice(lengthCheck, format.CheckNone,
			[]format.LengthCheck{format.CheckNone, format.CheckSkip, format.CheckException, format.CheckPad},
			"Lines with more or fewer fields than the table has columns. `NONE`: more are cut off, with fewer the line is skipped and counted. `SKIP`: skipped in both cases. "+
				"`EXCEPTION`: an error in both cases. `PAD`: more are cut off, fewer are filled up with `NULL`. CSV has `EXCEPTION` unless it is set.",
			func(c *Config) *format.LengthCheck { return &c.Format.LengthCheck }),
	}
	if own {
		for i := range keys {
			keys[i] = keys[i].own()
		}
	}
	return append(keys, ownFormatKeys()...)
}

// ownFormatKeys are keys that Flink has for formats, and one for errors.
func ownFormatKeys() []Key {
	return []Key{
		choice("format", "", []format.Kind{format.Delimited, format.CSV, format.JSON, format.Raw},
			"How bodies are written. Without it: `raw` if the only column of the body is `VARBINARY`, else `delimited`.",
			func(c *Config) *format.Kind { return &c.Format.Kind }).own(),
		choice("rocketmq.source.decode.errors", "", []DecodePolicy{FailOnError, SkipErrors},
			"Rows that cannot be read: `fail` fails the bundle, `skip` counts them and goes on. Without it: `skip` for delimited text, unless the length check is `EXCEPTION`; `fail` for all else.",
			func(c *Config) *DecodePolicy { return &c.OnDecodeError }).own(),
		onOff("json.fail-on-missing-field", "false", "An object that lacks a column cannot be read; else the column is `NULL`.", func(c *Config) *bool { return &c.Format.FailOnMissingField }).own(),
		choice("json.timestamp-format.standard", format.StyleSQL, []format.TimestampStyle{format.StyleSQL, format.StyleISO},
			"How timestamps are written: with a blank or a `T` between date and time. Both are read.", func(c *Config) *format.TimestampStyle { return &c.Format.Timestamps }).own(),
		parsed("csv.field-delimiter", "text", ",", "What stands between fields of CSV: one ASCII character, escapes as above.",
			parseDelimiter(func(c *Config) *string { return &c.Format.FieldDelimiter })).own(),
		text("csv.quote-character", `"`, "What stands around fields of CSV that need it.", func(c *Config) *string { return &c.Format.Quote }).own(),
		text("csv.null-literal", "", "What stands for `NULL` in CSV. Without it an empty field is `NULL`, and the empty string in columns of text.",
			func(c *Config) *string { return &c.Format.NullLiteral }).own(),
	}
}

// belongsTo is the format for which a key alone is meant; empty if it is for
// more than one.
func belongsTo(key string) format.Kind {
	switch {
	case strings.HasPrefix(key, "json."):
		return format.JSON
	case strings.HasPrefix(key, "csv."):
		return format.CSV
	}
	return ""
}

// resolverKey is where the access and secret key come from when they do not
// stand in the script.
func resolverKey(name string) Key {
	return text(name, "", "Where workers take the access and secret key from: `env`, `file:/path`, or a resolver that the program registered. "+
		"Unlike keys in the script, they do not stand in the pipeline's graph.", func(c *Config) *string { return &c.Client.Credentials.Resolver })
}
