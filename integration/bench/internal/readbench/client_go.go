// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package readbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/bench/internal/comparison"
)

// ClientGoProgram is the program that pulls with rocketmq-client-go. It is a
// module of its own, so that nothing else depends on that library, and runs in a
// process and a home folder of its own: the library writes into it.
type ClientGoProgram struct {
	dir, path string
	stderr    io.Writer
}

// BuildClientGo builds the program from the folder of its module.
func BuildClientGo(ctx context.Context, source string, stderr io.Writer) (*ClientGoProgram, error) {
	dir, err := os.MkdirTemp("", "bench-client-go-")
	if err != nil {
		return nil, err
	}
	p := &ClientGoProgram{dir: dir, path: filepath.Join(dir, "client-go"), stderr: stderr}
	build := exec.CommandContext(ctx, "go", "build", "-o", p.path, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("building the program in %s: %w: %s", source, err, bytes.TrimSpace(out)), p.Close())
	}
	return p, nil
}

// Close removes the program and its home folder.
func (p *ClientGoProgram) Close() error {
	if p == nil {
		return nil
	}
	return os.RemoveAll(p.dir)
}

// clientGoResult is the last line of the program's output.
type clientGoResult struct {
	Messages    int     `json:"messages"`
	Seconds     float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	Calls       int     `json:"calls"`
	Allocations uint64  `json:"allocations"`
	Bytes       uint64  `json:"bytes"`
}

// Output runs the program and returns what it says on its standard output.
func (p *ClientGoProgram) Output(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, p.path, args...)
	c.Dir, c.Stderr = p.dir, p.stderr
	c.Env = append(os.Environ(), "HOME="+p.dir, "ROCKETMQ_GO_LOG_LEVEL=error")
	return c.Output()
}

func (p *ClientGoProgram) run(ctx context.Context, b *Backlog) (comparison.Run, error) {
	out, err := p.Output(ctx, b.NameServers, b.Topic, strconv.Itoa(pullSize))
	if err != nil {
		return comparison.Run{}, fmt.Errorf("client-go on topic %q: %w", b.Topic, err)
	}
	var r clientGoResult
	if err := json.Unmarshal(out, &r); err != nil {
		return comparison.Run{}, fmt.Errorf("client-go on topic %q said %q: %w", b.Topic, out, err)
	}
	if r.Messages != b.Messages() {
		return comparison.Run{}, fmt.Errorf("client-go on topic %q: %d of %d messages came", b.Topic, r.Messages, b.Messages())
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return comparison.Run{Messages: r.Messages, Elapsed: seconds(r.Seconds), CPU: seconds(r.CPUSeconds), Calls: r.Calls,
		LargestCall: pullSize, Allocations: r.Allocations, AllocatedBytes: r.Bytes}, nil
}
