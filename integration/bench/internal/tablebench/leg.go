// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tablebench copies a topic to another: as bytes, by the pipeline
// rocketmqio.Read → rocketmqio.Write, and as rows, by a script of the program
// pipelines.
package tablebench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/usage"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// Bench copies one topic to another for each leg.
type Bench struct {
	NameServers string
	Messages    int
	// Program is the path of the program pipelines.
	Program string

	prism *portable.Server
}

// Source is the topic that is copied.
const Source = "bench-rows"

// Sink is the topic of a leg.
func Sink(pair int, side comparison.Side) string { return fmt.Sprintf("bench-%d-%v", pair, side) }

// Topics are those that the pairs need.
func Topics(pairs int) []string {
	topics := []string{Source}
	for i := range pairs {
		for _, side := range comparison.Order(i) {
			topics = append(topics, Sink(i, side))
		}
	}
	return topics
}

// Run copies by one of the two sides, and counts what arrived.
func (b *Bench) Run(ctx context.Context, pair int, side comparison.Side) (run comparison.Run, err error) {
	sink := Sink(pair, side)
	if side == comparison.Raw {
		run, err = b.copyBytes(ctx, sink)
	} else {
		run, err = b.copyRows(ctx, sink)
	}
	if err != nil {
		return run, fmt.Errorf("copying to %s: %w", sink, err)
	}
	if run.Messages, err = count(ctx, b.NameServers, sink); err != nil {
		return run, err
	}
	if run.Messages != b.Messages {
		return run, fmt.Errorf("topic %s holds %d messages, want %d", sink, run.Messages, b.Messages)
	}
	return run, nil
}

// copyBytes copies messages as they are, in this process.
func (b *Bench) copyBytes(ctx context.Context, sink string) (run comparison.Run, err error) {
	if b.prism == nil {
		if b.prism, err = portable.Prism(context.WithoutCancel(ctx)); err != nil {
			return run, err
		}
	}
	p, s := beam.NewPipelineWithRoot()
	messages := rocketmqio.Read(s, b.NameServers, "bench-"+sink, []string{Source}, rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	rocketmqio.Write(s, b.NameServers, messages, rocketmqio.WriteTopic(sink))
	before, begin := usage.Now(), time.Now()
	if err := b.prism.Run(ctx, sink, p, portable.Options{}); err != nil {
		return run, err
	}
	used := usage.Now().Minus(before)
	return comparison.Run{Elapsed: time.Since(begin), CPU: used.CPU, Allocations: used.Allocations, AllocatedBytes: used.Bytes}, ctx.Err()
}

const copyScript = `
CREATE TABLE source (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '%[1]s',
  'rocketmq.source.topic' = '%[2]s', 'rocketmq.source.group' = 'bench-%[3]s', 'rocketmq.source.startup.scan.mode' = 'earliest');
CREATE TABLE sink (id BIGINT, name STRING, message STRING) WITH ('connector' = 'rocketmq', 'rocketmq.client.endpoints' = '%[1]s', 'rocketmq.sink.topic' = '%[3]s');
INSERT INTO sink SELECT * FROM source;
`

// copyRows runs a script in a process of its own. Its time is what it says itself,
// from the job's submission to its end; its processor time is that of the whole
// process, and its allocations are not known.
func (b *Bench) copyRows(ctx context.Context, sink string) (run comparison.Run, err error) {
	script := exec.CommandContext(ctx, b.Program, "table", "--bounded", "-")
	script.Stdin = bytes.NewReader(fmt.Appendf(nil, copyScript, b.NameServers, Source, sink))
	var out, errs bytes.Buffer
	script.Stdout, script.Stderr = &out, &errs
	if err := script.Run(); err != nil {
		return run, fmt.Errorf("%w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	var result struct{ Seconds float64 }
	if err := json.Unmarshal(lines[len(lines)-1], &result); err != nil {
		return run, fmt.Errorf("the last line of the script's output is no JSON: %w", err)
	}
	used := script.ProcessState.UserTime() + script.ProcessState.SystemTime()
	return comparison.Run{Elapsed: time.Duration(result.Seconds * float64(time.Second)), CPU: used}, nil
}

// BuildProgram builds the program pipelines from its folder. Remove is to be
// called when it is not needed any more.
func BuildProgram(ctx context.Context, source string) (path string, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "bench-pipelines-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, "pipelines")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "./"+filepath.ToSlash(source)).CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("building the program in %s: %w: %s", source, err, bytes.TrimSpace(out)), remove())
	}
	return path, remove, nil
}
