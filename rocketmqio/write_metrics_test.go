// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
)

// W03: however messages are sent, the same is counted.
func TestTheSameIsCountedHoweverMessagesAreSent(t *testing.T) {
	for name, opts := range map[string][]WriteOption{
		"at least once, in batches": nil,
		"at least once, one by one": {WriteBatch(1, DefaultWriteBatchMiB<<20)},
		"without a guarantee":       {WriteGuarantee(None)},
		"exactly once":              {WriteExactlyOnce(bodyAsKey), settleSoon},
	} {
		t.Run(name, func(t *testing.T) { wantFigures(t, opts...) })
	}
}

// wantFigures writes some messages, of which the broker sends one request back, and
// looks at what was counted.
func wantFigures(t *testing.T, opts ...WriteOption) {
	t.Helper()
	const n = 300
	b := startBroker(t, 2)
	firstSends(b, 1, busy)
	p, _ := writePipeline(t, b.NameServer(), n, numbered, append(opts, WriteTopic(testTopic))...)
	r := start(t, p)
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	once(t, b, n)
	counters, spreads := writeFigures(r.result.Metrics())
	if counters["sent"] != n || counters["failed"] != 0 || counters["retried"] == 0 || counters["retried_uncertain"] != 0 {
		t.Errorf("counters %v; want %d sent, some sent again, none of them in doubt", counters, n)
	}
	sends := int64(b.Requests(embedded.RemotingSend) + b.Requests(embedded.RemotingSendBatch))
	if counters["requests"] != sends {
		t.Errorf("%d requests are counted, the broker had %d", counters["requests"], sends)
	}
	if size := spreads["batch_size"]; size.Sum < n || size.Min < 1 || size.Count > sends {
		t.Errorf("batch sizes %+v; want %d messages in at most %d requests", size, n, sends)
	}
	if took := spreads["request_latency_ms"]; took.Count == 0 || took.Min < 0 {
		t.Errorf("latencies %+v, want some", took)
	}
}

// writeFigures are the metrics of a sink, by their names.
func writeFigures(results metrics.Results) (map[string]int64, map[string]metrics.DistributionValue) {
	of := results.Query(func(r metrics.SingleResult) bool { return r.Namespace() == writeMetrics })
	counters, spreads := map[string]int64{}, map[string]metrics.DistributionValue{}
	for _, c := range of.Counters() {
		counters[c.Name()] += c.Result()
	}
	for _, d := range of.Distributions() {
		spreads[d.Name()] = d.Result()
	}
	return counters, spreads
}
