// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
	"github.com/rocketmq-beam/rocketmq-beam/internal/script"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// table is the columns of most tests.
func table(t testing.TB, columns string) sqltype.Schema {
	t.Helper()
	s, err := script.Parse("", "CREATE TABLE t ("+columns+") WITH ('k' = 'v')")
	if err != nil {
		t.Fatal(err)
	}
	return s.Tables[0].Columns
}

const columns = "id BIGINT, name STRING, tag STRING"

// minimal is what a table that is read and written must have.
func minimal(connector string) map[string]string {
	if connector == GRPC {
		return map[string]string{"connector": GRPC, "rocketmq.client.endpoints": "proxy:8081", "rocketmq.source.main-topic": "in", "rocketmq.source.consumer-group": "g",
			"rocketmq.sink.topic": "out", "rocketmq.sink.lite-topic": "lite"}
	}
	return map[string]string{"connector": connector, "rocketmq.client.endpoints": "ns:9876", "rocketmq.source.topic": "in", "rocketmq.source.group": "g", "rocketmq.sink.topic": "out"}
}

// with adds options, given as key and value in turn, to the minimal ones.
func with(connector string, pairs ...string) map[string]string {
	m := minimal(connector)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func TestDefaults(t *testing.T) {
	got, err := Parse(minimal(Remoting), Read|Write, table(t, columns))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Connector: Remoting, OnDecodeError: SkipErrors,
		Client: Client{Endpoints: "ns:9876", RequestTimeout: 30 * time.Second, DiscoveryInterval: 10 * time.Second},
		Format: format.Config{Kind: format.Delimited, Charset: "UTF-8", FieldDelimiter: "\x01", LineDelimiter: "\n", LengthCheck: format.CheckNone},
		Source: Source{Topics: []string{"in"}, Group: "g", Start: Start{Mode: Latest}, OutOfRange: FailOutOfRange, PullBatchSize: 32, QueueThreshold: 1000, TotalThreshold: 10000,
			PullTimeout: 20 * time.Second, RetryDelay: 3 * time.Second, CommitInterval: 5 * time.Second},
		Sink: Sink{Topic: "out", Group: "PID-flink-producer", Guarantee: AtLeastOnce, SendTimeout: 5 * time.Second, Retries: 3, PendingMax: 1000},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("normal topics (-want +got):\n%s", d)
	}
	got, err = Parse(minimal(GRPC), Read|Write, table(t, columns))
	if err != nil {
		t.Fatal(err)
	}
	want = &Config{
		Connector: GRPC, OnDecodeError: SkipErrors,
		Client: Client{Endpoints: "proxy:8081", RequestTimeout: 3 * time.Second},
		Format: format.Config{Kind: format.Delimited, Charset: "UTF-8", FieldDelimiter: "\x01", LineDelimiter: "\n", LengthCheck: format.CheckNone},
		LiteSource: LiteSource{Topic: "in", Group: "g", FetchConcurrency: 1, AwaitDuration: 20 * time.Second, InvisibleDuration: time.Minute, MaxMessageNum: 32,
			RenewalAhead: 5 * time.Second, Ack: AckNever},
		LiteSink: LiteSink{Topic: "out", LiteTopic: "lite", MaxAttempts: 3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lite topics (-want +got):\n%s", d)
	}
}

// companions are options without which others have no effect, or that they
// exclude.
var companions = map[string][]string{
	"rocketmq.client.accessKey": {"rocketmq.client.secretKey", "s"}, "rocketmq.client.secretKey": {"rocketmq.client.accessKey", "a"},
	"rocketmq.client.access-key": {"rocketmq.client.secret-key", "s"}, "rocketmq.client.secret-key": {"rocketmq.client.access-key", "a"},
	"rocketmq.client.tls.ca-file":                {"rocketmq.client.tls.enable", "true", "rocketmq.client.tls-enabled", "true"},
	"rocketmq.source.startup.offset.date":        {"rocketmq.client.timeZone", "Asia/Shanghai"},
	"rocketmq.source.offset.commit.auto":         {"rocketmq.source.offset.commit.checkpoint", "false"},
	"rocketmq.source.offset.commit.checkpoint":   {"rocketmq.source.offset.commit.auto", "false"},
	"rocketmq.sink.transaction.timeout":          {"rocketmq.sink.delivery.guarantee", "EXACTLY_ONCE"},
	"rocketmq.sink.tag.dynamic.enable":           {"rocketmq.sink.tag.dynamic.column", "tag"},
	"rocketmq.sink.tag.dynamic.column":           {"rocketmq.sink.tag.dynamic.enable", "true"},
	"rocketmq.source.renewal-ahead-time":         {"rocketmq.source.renewal-policy-class", "while-queued"},
	"json.fail-on-missing-field":                 {"format", "json"},
	"json.timestamp-format.standard":             {"format", "json"},
	"csv.field-delimiter":                        {"format", "csv"},
	"csv.quote-character":                        {"format", "csv"},
	"csv.null-literal":                           {"format", "csv"},
	"rocketmq.source.pull.threshold.all":         {"rocketmq.source.pull.threshold.queue", "10"},
	"rocketmq.client.credentials-resolver-class": {},
}

// samples are values other than the defaults.
var samples = map[string]string{
	"rocketmq.client.endpoints": "other:1", "rocketmq.client.namespace": "MQ_INST_1", "rocketmq.client.accessKey": "a", "rocketmq.client.secretKey": "s",
	"rocketmq.client.access-key": "a", "rocketmq.client.secret-key": "s", "rocketmq.client.credentials-resolver": "env", "rocketmq.client.credentials-resolver-class": "env",
	"rocketmq.client.tls.enable": "true", "rocketmq.client.tls-enabled": "true", "rocketmq.client.tls.ca-file": "/ca.pem", "rocketmq.client.network.timeout.ms": "1000",
	"rocketmq.client.request-timeout": "1 s", "rocketmq.client.partition.discovery.interval.ms": "0", "rocketmq.client.channel": "LOCAL", "rocketmq.client.callback.threads": "4",
	"rocketmq.client.unitMode": "true", "rocketmq.client.unitName": "u", "rocketmq.client.debug": "true", "rocketmq.client.timeZone": "Asia/Shanghai",
	"rocketmq.client.message.encoding": "GBK", "rocketmq.client.message.field.delimiter": "|", "rocketmq.client.message.line.delimiter": ";", "rocketmq.client.message.length.check": "pad",
	"format": "json", "rocketmq.source.decode.errors": "fail", "json.fail-on-missing-field": "true", "json.timestamp-format.standard": "iso-8601", "csv.field-delimiter": ";",
	"csv.quote-character": "'", "csv.null-literal": "NULL",
	"rocketmq.source.startup.scan.mode": "earliest", "rocketmq.source.startup.offset.specific": "0", "rocketmq.source.out-of-range": "latest", "rocketmq.source.startup.offset.timestamp": "1704135845678",
	"rocketmq.source.startup.offset.date": "2024-01-02 03:04:05", "rocketmq.source.stop.offset.timestamp": "1804135845678", "rocketmq.source.topic": "a;b", "rocketmq.source.group": "h",
	"rocketmq.source.filter.tag": "a||b", "rocketmq.source.filter.sql": "x > 5", "rocketmq.source.pull.batch.size": "64", "rocketmq.source.pull.threshold.queue": "10",
	"rocketmq.source.pull.threshold.all": "20", "rocketmq.source.pull.rpc.timeout": "5000", "rocketmq.source.pull.rpc.exception.delay": "100", "rocketmq.source.allocate.strategy": "broadcast",
	"rocketmq.source.pull.threads.num": "5", "rocketmq.source.api.new.enable": "false", "rocketmq.source.trace.enable": "true", "rocketmq.source.trace.topic": "t",
	"rocketmq.source.offset.commit.auto": "false", "rocketmq.source.offset.commit.interval": "1000", "rocketmq.source.offset.commit.checkpoint": "false",
	"rocketmq.sink.topic": "other", "rocketmq.sink.group": "p", "rocketmq.sink.tag": "t", "rocketmq.sink.delivery.guarantee": "none", "rocketmq.sink.transaction.timeout": "60",
	"rocketmq.sink.send.timeout": "1000", "rocketmq.sink.send.retry.times": "0", "rocketmq.sink.send.pending.max": "10", "rocketmq.sink.executor.num": "8", "rocketmq.sink.key.columns": "id;name",
	"rocketmq.sink.tag.dynamic.enable": "true", "rocketmq.sink.tag.dynamic.column": "name",
	"rocketmq.source.main-topic": "other", "rocketmq.source.consumer-group": "h", "rocketmq.source.fetch-concurrency": "4", "rocketmq.source.await-duration": "10s",
	"rocketmq.source.invisible-duration": "2min", "rocketmq.source.max-message-num": "16", "rocketmq.source.renewal-policy-class": "while-queued", "rocketmq.source.renewal-ahead-time": "6 s",
	"rocketmq.source.ack": "last-step", "rocketmq.sink.lite-topic": "other", "rocketmq.sink.max-attempts": "5",
}

// X28: each key of each connector changes the configuration, or is refused with
// its reason, or says why it is taken without effect; at its default it is taken
// and changes nothing.
func TestEachKeyHasAnEffectOrIsRefused(t *testing.T) {
	for _, connector := range Identifiers() {
		for _, k := range mustKeys(connector) {
			t.Run(connector+"/"+k.Name, func(t *testing.T) {
				sample, ok := samples[k.Name]
				if !ok {
					t.Fatal("no sample: add one")
				}
				base := minimal(connector)
				own := mustKeys(connector)
				for i := 0; i < len(companions[k.Name]); i += 2 {
					for _, other := range own {
						if other.Name == companions[k.Name][i] {
							base[other.Name] = companions[k.Name][i+1]
						}
					}
				}
				if k.Default != "" {
					checkDefault(t, connector, k)
				}
				changed := maps.Clone(base)
				changed[k.Name] = sample
				got, err := Parse(changed, Read|Write, table(t, columns))
				if k.Refused != "" {
					var f *Fault
					if !errors.As(err, &f) || f.Key != k.Name || !strings.Contains(f.Reason, k.Refused) {
						t.Errorf("got %v, want %s", err, k.Refused)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				before, err := Parse(base, Read|Write, table(t, columns))
				if same := cmp.Equal(before, got); err == nil && same != (k.Idle != "") {
					t.Errorf("'%s' = '%s': same configuration %v, idle %q", k.Name, sample, same, k.Idle)
				}
			})
		}
	}
}

func checkDefault(t *testing.T, connector string, k Key) {
	t.Helper()
	plain, err := Parse(minimal(connector), Read|Write, table(t, columns))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.read(&Config{}, k.Default); err != nil {
		t.Errorf("the default cannot be read: %v", err)
	}
	needs := map[string]bool{"rocketmq.sink.transaction.timeout": true, "rocketmq.source.renewal-ahead-time": true}
	if needs[k.Name] || belongsTo(k.Name) != "" {
		return // refused without its companion even so
	}
	got, err := Parse(with(connector, k.Name, k.Default), Read|Write, table(t, columns))
	if err != nil {
		t.Errorf("the default is refused: %v", err)
	} else if d := cmp.Diff(plain, got); d != "" {
		t.Errorf("the default changes the configuration: %s", d)
	}
}

func TestFaultsOfOptions(t *testing.T) {
	for _, c := range []struct {
		what    string
		with    map[string]string
		columns string
		want    []string
	}{
		{"no connector", map[string]string{}, columns, []string{"no 'connector': want one of rocketmq, rocketmq4, rocketmq5, rocketmq-grpc"}},
		{"an unknown connector", map[string]string{"connector": "kafka"}, columns, []string{"'connector' = 'kafka'"}},
		{"everything is missing", map[string]string{"connector": Remoting}, columns, []string{"'rocketmq.client.endpoints' is missing: each table needs it",
			"'rocketmq.source.topic' is missing: a table that is read needs it", "'rocketmq.source.group' is missing", "'rocketmq.sink.topic' is missing: a table that is written needs it"}},
		{"everything is missing, lite topics", map[string]string{"connector": GRPC}, columns, []string{"'rocketmq.client.endpoints' is missing", "'rocketmq.source.main-topic' is missing",
			"'rocketmq.source.consumer-group' is missing", "'rocketmq.sink.topic' is missing", "'rocketmq.sink.lite-topic' is missing"}},
		{"a key with a slip", with(Remoting, "rocketmq.source.topics", "x"), columns, []string{"'rocketmq.source.topics' = 'x': connector rocketmq has no such option, do you mean 'rocketmq.source.topic'?"}},
		{"a key in the spelling of the other connector", with(GRPC, "rocketmq.client.accessKey", "AKTESTKEY"), columns,
			[]string{"'rocketmq.client.accessKey' = '******': connector rocketmq-grpc has no such option, do you mean 'rocketmq.client.access-key'?"}},
		{"a key of another connector", with(Remoting, "rocketmq.source.await-duration", "1s"), columns, []string{"no such option, connector rocketmq-grpc has"}},
		{"a key that nobody knows", with(Remoting, "scan.parallelism", "1"), columns, []string{"'scan.parallelism' = '1': connector rocketmq has no such option"}},
		{"no boolean", with(Remoting, "rocketmq.client.tls.enable", "yes"), columns, []string{"'rocketmq.client.tls.enable' = 'yes': want true or false"}},
		{"no number", with(Remoting, "rocketmq.source.pull.batch.size", "many"), columns, []string{"want a whole number from 1 to 1024"}},
		{"a number out of range", with(Remoting, "rocketmq.source.pull.batch.size", "0"), columns, []string{"want a whole number from 1 to 1024"}},
		{"milliseconds with a unit", with(Remoting, "rocketmq.sink.send.timeout", "5 s"), columns, []string{"want a whole number of milliseconds"}},
		{"milliseconds out of range", with(Remoting, "rocketmq.sink.send.timeout", "1"), columns, []string{"1 ms is out of range: want 100 ms to 5 min"}},
		{"a discovery that is too quick", with(Remoting, "rocketmq.client.partition.discovery.interval.ms", "1"), columns, []string{"1 ms is out of range: want 0, or 1 s to 24 h"}},
		{"no duration", with(GRPC, "rocketmq.source.await-duration", "soon"), columns, []string{"want a number with a unit, such as 20 s"}},
		{"a duration out of range", with(GRPC, "rocketmq.source.invisible-duration", "5s"), columns, []string{"5 s is out of range: want 10 s to 12 h"}},
		{"a word that is none", with(Remoting, "rocketmq.sink.delivery.guarantee", "SOMETIMES"), columns, []string{"want one of NONE, AT_LEAST_ONCE, EXACTLY_ONCE"}},
		{"an empty text", with(Remoting, "rocketmq.client.namespace", " "), columns, []string{"want a text"}},
		{"an empty list", with(Remoting, "rocketmq.source.topic", ";"), columns, []string{"'rocketmq.source.topic' = ';': want at least one name"}},
		{"a topic twice", with(Remoting, "rocketmq.source.topic", "a; a"), columns, []string{`"a" is named twice`}},
		{"a topic that no broker takes", with(Remoting, "rocketmq.source.topic", "a;b c"), columns, []string{"'rocketmq.source.topic' = 'a;b c': topic \"b c\" contains ' '"}},
		{"endpoints without a port", with(Remoting, "rocketmq.client.endpoints", "ns"), columns, []string{`"ns" is not host:port`}},
		{"endpoints with a scheme, lite topics", with(GRPC, "rocketmq.client.endpoints", "http://p:8081"), columns, []string{"is not host:port"}},
		{"an unknown encoding", with(Remoting, "rocketmq.client.message.encoding", "EBCDIC-XX"), columns, []string{"want an IANA name"}},
		{"an unknown zone", with(Remoting, "rocketmq.client.timeZone", "Mars"), columns, []string{"'rocketmq.client.timeZone' = 'Mars': time zone"}},
		{"an unknown escape", with(Remoting, "rocketmq.client.message.field.delimiter", `\q`), columns, []string{`unknown escape \q`}},
		{"the same delimiter twice", with(Remoting, "rocketmq.client.message.field.delimiter", `\n`), columns, []string{"columns and format: field delimiter"}},
		{"a mode and an offset", with(Remoting4, "rocketmq.source.startup.scan.mode", "earliest", "rocketmq.source.startup.offset.specific", "5"), columns,
			[]string{"'rocketmq.source.startup.scan.mode' = 'earliest': 'rocketmq.source.startup.offset.specific' is given too"}},
		{"a mode and its own timestamp", with(Remoting5, "rocketmq.source.startup.scan.mode", "timestamp", "rocketmq.source.startup.offset.timestamp", "1704135845678"), columns, []string{"leave the mode out"}},
		{"a mode and another timestamp", with(Remoting, "rocketmq.source.startup.scan.mode", "latest", "rocketmq.source.startup.offset.timestamp", "1704135845678"), columns, []string{"leave the mode out"}},
		{"two starts", with(Remoting5, "rocketmq.source.startup.offset.specific", "5", "rocketmq.source.startup.offset.timestamp", "1704135845678"), columns,
			[]string{"'rocketmq.source.startup.offset.timestamp' = '1704135845678': 'rocketmq.source.startup.offset.specific' is given too"}},
		{"a date without a zone", with(Remoting5, "rocketmq.source.startup.offset.date", "2024-01-02 03:04:05"), columns, []string{"'rocketmq.client.timeZone' is missing: 'rocketmq.source.startup.offset.date' needs it"}},
		{"no date", with(Remoting5, "rocketmq.source.startup.offset.date", "2024-01-02", "rocketmq.client.timeZone", "UTC"), columns, []string{"want yyyy-MM-dd HH:mm:ss"}},
		{"a mode that needs a timestamp", with(Remoting, "rocketmq.source.startup.scan.mode", "timestamp"), columns, []string{"set 'rocketmq.source.startup.offset.timestamp', and leave the mode out"}},
		{"a mode that is none", with(Remoting, "rocketmq.source.startup.scan.mode", "oldest"), columns, []string{"want earliest, latest, group"}},
		{"an offset that is none", with(Remoting, "rocketmq.source.startup.offset.specific", "-2"), columns, []string{"want a whole number from 0"}},
		{"an end before the start", with(Remoting, "rocketmq.source.startup.offset.timestamp", "2000", "rocketmq.source.stop.offset.timestamp", "1000"), columns, []string{"reading would begin at 2000"}},
		{"tags and SQL", with(Remoting, "rocketmq.source.filter.tag", "a", "rocketmq.source.filter.sql", "x > 5"), columns, []string{"a source takes one kind of filter"}},
		{"thresholds that contradict each other", with(Remoting, "rocketmq.source.pull.threshold.queue", "20000"), columns, []string{"the threshold of all queues, 10000, is below that of a queue, 20000"}},
		{"an interval without committing", with(Remoting, "rocketmq.source.offset.commit.auto", "false", "rocketmq.source.offset.commit.checkpoint", "false", "rocketmq.source.offset.commit.interval", "1000"), columns,
			[]string{"nothing is committed"}},
		{"a secret key without an access key", with(Remoting, "rocketmq.client.secretKey", "SKTESTSECRET"), columns, []string{"'rocketmq.client.accessKey' is missing: it goes together with 'rocketmq.client.secretKey'"}},
		{"keys and a resolver", with(GRPC, "rocketmq.client.access-key", "a", "rocketmq.client.secret-key", "b", "rocketmq.client.credentials-resolver", "env"), columns, []string{"give one of both"}},
		{"two resolvers", with(GRPC, "rocketmq.client.credentials-resolver-class", "env", "rocketmq.client.credentials-resolver", "env"), columns, []string{"give one of them"}},
		{"a class of Java", with(GRPC, "rocketmq.client.credentials-resolver-class", "com.example.Resolver"), columns, []string{"classes of Java cannot be loaded: want env"}},
		{"an unknown resolver", with(Remoting, "rocketmq.client.credentials-resolver", "vault"), columns, []string{`unknown credentials resolver "vault"`}},
		{"a CA file without TLS", with(Remoting, "rocketmq.client.tls.ca-file", "/x"), columns, []string{"no effect without TLS"}},
		{"a renewal policy of Java", with(GRPC, "rocketmq.source.renewal-policy-class", "com.example.Policy"), columns, []string{"want while-queued"}},
		{"a renewal time without a policy", with(GRPC, "rocketmq.source.renewal-ahead-time", "5s"), columns, []string{"no effect without 'rocketmq.source.renewal-policy-class'"}},
		{"a renewal at once", with(GRPC, "rocketmq.source.renewal-policy-class", "while-queued", "rocketmq.source.renewal-ahead-time", "60s"), columns, []string{"which is at once"}},
		{"a transaction's timeout without transactions", with(Remoting, "rocketmq.sink.transaction.timeout", "60"), columns, []string{"no effect without 'rocketmq.sink.delivery.guarantee' = 'EXACTLY_ONCE'"}},
		{"a dynamic tag without a column", with(Remoting, "rocketmq.sink.tag.dynamic.enable", "true"), columns, []string{"'rocketmq.sink.tag.dynamic.column' is missing"}},
		{"a dynamic tag's column that is off", with(Remoting, "rocketmq.sink.tag.dynamic.column", "tag"), columns, []string{"no effect without 'rocketmq.sink.tag.dynamic.enable' = 'true'"}},
		{"two tags", with(Remoting, "rocketmq.sink.tag.dynamic.enable", "true", "rocketmq.sink.tag.dynamic.column", "tag", "rocketmq.sink.tag", "t"), columns, []string{"give one of both"}},
		// W18
		{"a key column that is not there", with(Remoting, "rocketmq.sink.key.columns", "id;nope"), columns, []string{"the table has no column `nope`: it has id, name, tag"}},
		{"a key column of bytes", with(Remoting, "rocketmq.sink.key.columns", "b"), "b BYTES, c INT", []string{"column `b` is BYTES, which has no text"}},
		{"a tag column that is virtual", with(Remoting, "rocketmq.sink.tag.dynamic.enable", "true", "rocketmq.sink.tag.dynamic.column", "topic"), "topic STRING METADATA VIRTUAL, c INT", []string{"column `topic` is VIRTUAL"}},
		{"keys from two places", with(Remoting, "rocketmq.sink.key.columns", "c"), "keys STRING METADATA, c INT", []string{"it sets the keys, and so does"}},
		{"a tag from two places", with(Remoting, "rocketmq.sink.tag", "t"), "tags STRING METADATA, c INT", []string{"it sets the tag, and so does an option"}},
		{"metadata that is not there", minimal(Remoting), "x STRING METADATA VIRTUAL, c INT", []string{"column `x`: there is no metadata 'x': want one of topic, ingestion-time"}},
		{"metadata that can only be read", minimal(Remoting), "topic STRING METADATA, c INT", []string{"metadata 'topic' can only be read: declare the column VIRTUAL"}},
		{"metadata of another type", minimal(Remoting), "q STRING METADATA FROM 'queue-id' VIRTUAL, c INT", []string{"metadata 'queue-id' is INT NOT NULL, which does not go into STRING"}},
		{"metadata of lite topics", minimal(GRPC), "topic STRING METADATA VIRTUAL, c INT", []string{"connector rocketmq-grpc reads values only"}},
		{"no column for the body", minimal(Remoting), "topic STRING METADATA VIRTUAL", []string{"the table has no column for the body"}},
		{"a key of another format", with(Remoting, "csv.null-literal", "x"), columns, []string{"'csv.null-literal' = 'x': it has no effect with the format delimited"}},
		{"a delimiter for JSON", with(Remoting, "format", "json", "rocketmq.client.message.field.delimiter", "|", "rocketmq.client.message.length.check", "PAD"), columns,
			[]string{"'rocketmq.client.message.field.delimiter' = '|': it has no effect with the format json", "'rocketmq.client.message.length.check'"}},
		{"raw with several columns", with(Remoting, "format", "raw"), columns, []string{"want one column"}},
		{"a list in delimited text", minimal(Remoting), "l ARRAY<INT>", []string{"format json has it"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			config, err := Parse(c.with, Read|Write, table(t, c.columns))
			if err == nil {
				t.Fatalf("it is taken: %+v", config)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v\nwant %s", err, want)
				}
			}
			if got := strings.Count(err.Error(), "\n") + 1; got != len(c.want) {
				t.Errorf("%d faults, want %d: %v", got, len(c.want), err)
			}
		})
	}
}

// X04a: no secret shows in faults, settings or printed configurations.
func TestAllFaultsComeInOneMessageAndSecretsAreMasked(t *testing.T) {
	const key, secret = "AKTESTKEY", "SKTESTSECRET"
	config := map[string]string{
		"connector": Remoting, "rocketmq.client.accessKey": key, "rocketmq.client.secretKye": secret, "rocketmq.client.tls.enable": "yes", "rocketmq.source.pull.batch.size": "x",
		"rocketmq.client.channel": "SIDE", "rocketmq.source.topic": "in",
	}
	_, err := Parse(config, Read, table(t, columns))
	var faults []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			var f *Fault
			if !errors.As(e, &f) {
				t.Fatalf("a %T, want a Fault", e)
			}
			faults = append(faults, fmt.Sprintf("%s|%s|%v", f.Key, f.Value, f.Missing))
		}
	}
	want := []string{
		"rocketmq.client.tls.enable|yes|false", "rocketmq.client.channel|SIDE|false", "rocketmq.source.pull.batch.size|x|false", "rocketmq.client.secretKye|" + Masked + "|false",
		"rocketmq.client.endpoints||true", "rocketmq.source.group||true", "rocketmq.client.secretKey||true",
	}
	if d := cmp.Diff(want, faults); d != "" {
		t.Errorf("faults (-want +got):\n%s", d)
	}
	if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), secret) {
		t.Errorf("secrets show: %v", err)
	}
	settings, err := Effective(config, Read, table(t, columns))
	if text := fmt.Sprint(settings); err != nil || strings.Contains(text, key) || strings.Contains(text, secret) {
		t.Errorf("secrets show: %v, %v", text, err)
	}
	good, err := Parse(with(Remoting, "rocketmq.client.accessKey", key, "rocketmq.client.secretKey", secret), Read, table(t, columns))
	if err != nil {
		t.Fatal(err)
	}
	if good.Client.Credentials != (auth.Source{StaticAccessKey: key, StaticSecretKey: secret}) {
		t.Errorf("credentials are %+v", good.Client.Credentials)
	}
	if text := fmt.Sprintf("%v %+v", good, *good); strings.Contains(text, key) || strings.Contains(text, secret) {
		t.Errorf("secrets show: %s", text)
	}
}

func TestEffectiveOptionsAreThoseWithAnEffect(t *testing.T) {
	for _, c := range []struct {
		what    string
		with    map[string]string
		use     Use
		want    []Setting
		without []string
	}{
		{"lite topics", with(GRPC, "rocketmq.source.fetch-concurrency", "4", "rocketmq.client.secret-key", "SKTESTSECRET"), Read | Write,
			[]Setting{{"connector", GRPC, true}, {"rocketmq.source.fetch-concurrency", "4", true}, {"rocketmq.source.max-message-num", "32", false},
				{"rocketmq.client.secret-key", Masked, true}, {fieldDelimiter, `\u0001`, false}},
			[]string{"rocketmq.client.namespace", renewalAhead, "csv.field-delimiter", "json.timestamp-format.standard"}},
		{"a source of JSON", with(Remoting, "format", "JSON"), Read, []Setting{{"rocketmq.source.startup.scan.mode", "latest", false}, {"json.timestamp-format.standard", "SQL", false},
			{commitInterval, "5000", false}, {"rocketmq.sink.topic", "out", true}},
			[]string{"rocketmq.sink.group", fieldDelimiter, lengthCheck, "csv.field-delimiter", "rocketmq.client.message.encoding", "rocketmq.client.channel", "rocketmq.source.startup.offset.specific"}},
		{"a start, and nothing committed", with(Remoting, "rocketmq.source.startup.offset.specific", "5", commitAuto, "false", commitCheckpoint, "false"), Read,
			[]Setting{{"rocketmq.source.startup.offset.specific", "5", true}}, []string{"rocketmq.source.startup.scan.mode", commitInterval}},
		{"a sink", minimal(Remoting), Write, []Setting{{"rocketmq.sink.group", "PID-flink-producer", false}}, []string{"rocketmq.source.pull.batch.size", transactionTimeout}},
		{"a sink with transactions", with(Remoting, "rocketmq.sink.delivery.guarantee", "exactly_once"), Write, []Setting{{transactionTimeout, "900", false}}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := Effective(c.with, c.use, table(t, columns))
			if err != nil {
				t.Fatal(err)
			}
			byKey := map[string]Setting{}
			for _, s := range got {
				byKey[s.Key] = s
			}
			for _, want := range c.want {
				if byKey[want.Key] != want {
					t.Errorf("got %+v, want %+v", byKey[want.Key], want)
				}
			}
			for _, key := range c.without {
				if s, ok := byKey[key]; ok {
					t.Errorf("%+v is shown", s)
				}
			}
		})
	}
}

func TestStarts(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	const mode, specific, timestamp, date, zone = "rocketmq.source.startup.scan.mode", "rocketmq.source.startup.offset.specific",
		"rocketmq.source.startup.offset.timestamp", "rocketmq.source.startup.offset.date", "rocketmq.client.timeZone"
	for _, c := range []struct {
		what  string
		with  map[string]string
		start Start
	}{
		{"none", minimal(Remoting), Start{Mode: Latest}},
		{"earliest", with(Remoting5, mode, "EARLIEST"), Start{Mode: Earliest}},
		{"the group's", with(Remoting, mode, "group"), Start{Mode: Committed}},
		{"the group's in the other spelling", with(Remoting, mode, "group_offsets"), Start{Mode: Committed}},
		{"the group's in a third spelling", with(Remoting4, mode, "group-offsets"), Start{Mode: Committed}},
		{"an offset", with(Remoting5, specific, "0"), Start{Mode: AtOffset}},
		{"an offset that is none, and a mode", with(Remoting5, specific, "-1", timestamp, "-1", mode, "earliest"), Start{Mode: Earliest}},
		{"a timestamp", with(Remoting4, timestamp, "1704164645000"), Start{Mode: AtTime, At: at}},
		{"a timestamp and its own mode", with(Remoting, timestamp, "1704164645000", mode, "timestamp"), Start{Mode: AtTime, At: at}},
		{"a date in a zone", with(Remoting4, date, "2024-01-02 11:04:05", zone, "Asia/Shanghai"), Start{Mode: AtTime, At: at}},
		{"a date in UTC", with(Remoting4, date, "2024-01-02 03:04:05", zone, "UTC"), Start{Mode: AtTime, At: at}},
	} {
		got, err := Parse(c.with, Read, table(t, columns))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if d := cmp.Diff(c.start, got.Source.Start); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
	}
}

// F01: tags are taken apart as the Java client does.
func TestTags(t *testing.T) {
	for text, want := range map[string][]string{"A || B": {"A", "B"}, "A||B": {"A", "B"}, " A  ||  B ": {"A", "B"}, "*": nil, "": nil, "A||": {"A"}} {
		var c Config
		if err := parseTags(&c, text); err != nil || !cmp.Equal(c.Source.Tags, want) {
			t.Errorf("%q: got %q, %v, want %q", text, c.Source.Tags, err, want)
		}
	}
	for _, text := range []string{"||", "A*", "A|B"} {
		if err := parseTags(&Config{}, text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestDelimitersAndDurations(t *testing.T) {
	for text, want := range map[string]string{
		`\u0001`: "\x01", `\\u0001`: "\x01", `\x01`: "\x01", `\t`: "\t", `,`: ",", `||`: "||", `\|`: "|", ``: "", `\\\\`: `\`, `\u4e2d`: "中", `a\tb`: "a\tb", `\`: `\`,
	} {
		if got, err := unescape(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`\u01`, `\xzz`, `\ud800`, `\q`} {
		if got, err := unescape(text); err == nil {
			t.Errorf("%q is taken as %q", text, got)
		}
	}
	for text, want := range map[string]time.Duration{
		"20s": 20 * time.Second, " 20 S ": 20 * time.Second, "500": 500 * time.Millisecond, "500 ms": 500 * time.Millisecond, "5 min": 5 * time.Minute, "5m": 5 * time.Minute,
		"2 hours": 2 * time.Hour, "1 d": 24 * time.Hour, "0": 0, "7 µs": 7 * time.Microsecond,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "s", "-1 s", "1.5 s", "1 fortnight", "99999999999999999999", "9223372036854775807 d"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		what    string
		with    map[string]string
		columns string
		want    format.Config
		errors  DecodePolicy
	}{
		{"one VARBINARY column is raw", minimal(Remoting), "body VARBINARY", format.Config{Kind: format.Raw, Charset: "UTF-8"}, FailOnError},
		{"beside metadata, too", minimal(Remoting), "body VARBINARY, keys STRING METADATA VIRTUAL", format.Config{Kind: format.Raw, Charset: "UTF-8"}, FailOnError},
		{"raw leaves delimiter and encoding without effect", with(Remoting, "rocketmq.client.message.field.delimiter", "|", "rocketmq.client.message.encoding", "GBK"), "body VARBINARY",
			format.Config{Kind: format.Raw, Charset: "GBK"}, FailOnError},
		{"an exception is a failure", with(Remoting, "rocketmq.client.message.length.check", "EXCEPTION"), columns,
			format.Config{Kind: format.Delimited, Charset: "UTF-8", FieldDelimiter: "\x01", LineDelimiter: "\n", LengthCheck: format.CheckException}, FailOnError},
		{"json", with(Remoting, "format", "JSON"), columns, format.Config{Kind: format.JSON, Charset: "UTF-8", Timestamps: format.StyleSQL}, FailOnError},
		{"json with errors skipped", with(Remoting, "format", "json", "rocketmq.source.decode.errors", "skip"), columns, format.Config{Kind: format.JSON, Charset: "UTF-8", Timestamps: format.StyleSQL}, SkipErrors},
		{"csv", with(Remoting, "format", "csv"), columns, format.Config{Kind: format.CSV, Charset: "UTF-8", FieldDelimiter: ",", Quote: `"`}, FailOnError},
		{"csv with a length check", with(Remoting, "format", "csv", "rocketmq.client.message.length.check", "PAD", "csv.field-delimiter", `\t`), columns,
			format.Config{Kind: format.CSV, Charset: "UTF-8", FieldDelimiter: "\t", Quote: `"`, LengthCheck: format.CheckPad}, FailOnError},
	} {
		got, err := Parse(c.with, Read|Write, table(t, c.columns))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if d := cmp.Diff(c.want, got.Format); d != "" || got.OnDecodeError != c.errors {
			t.Errorf("%s: on errors %s, want %s, (-want +got):\n%s", c.what, got.OnDecodeError, c.errors, d)
		}
	}
}

// The scripts of the connectors' documents have options that are taken as they
// stand there; only an endpoint that is a placeholder is put in.
func TestOptionsOfTheScriptsOfTheConnectorsForFlink(t *testing.T) {
	files, err := filepath.Glob("../script/testdata/scripts/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no scripts")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := script.Parse(file, strings.ReplaceAll(string(text), "YourEndpoint", "proxy:8080"))
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range s.Tables {
			use := Read
			if strings.Contains(fmt.Sprint(table.With()), "rocketmq.sink.") {
				use = Write
			}
			if _, err := Parse(table.With(), use, table.Columns); err != nil {
				t.Errorf("%s, table %s: %v", filepath.Base(file), table.Name, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, connector := range Identifiers() {
		for _, k := range mustKeys(connector) {
			f.Add(connector, k.Name, samples[k.Name])
			f.Add(connector, k.Name, k.Default)
		}
	}
	f.Add(Remoting, "rocketmq.client.message.field.delimiter", `\u`)
	schema := table(f, columns)
	f.Fuzz(func(t *testing.T, connector, key, value string) {
		if connector != GRPC {
			connector = Remoting
		}
		c, err := Parse(with(connector, key, value), Read|Write, schema)
		if err == nil {
			if _, err := format.New(c.Format, schema); err != nil {
				t.Fatalf("'%s' = '%s' is taken, and the format refuses it: %v", key, value, err)
			}
		}
	})
}
