// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package txn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
)

// Variable is the environment variable that makes a program, which calls [Run]
// first of all, a worker that writes; it holds the configuration in JSON.
const Variable = "ROCKETMQ_BEAM_FAULTS_TXN_WORKER"

// config is what a worker does: it writes so many numbers exactly once, and ends.
// Who starts it again makes it write all of them again, with the same keys.
type config struct {
	NameServer string        `json:"name_server"`
	Topic      string        `json:"topic"`
	Group      string        `json:"group"`
	Messages   int           `json:"messages"`
	Settle     time.Duration `json:"settle"`
	Random     bool          `json:"random"` // leaves the keys to chance

	// OfRunner makes it a worker of a runner instead, which tells it what to do.
	OfRunner *portable.Worker `json:"of_runner,omitempty"`
}

// Run does nothing unless the environment asks for a worker. Then it writes, and
// ends the process.
func Run() {
	text, asked := os.LookupEnv(Variable)
	if !asked {
		return
	}
	var c config
	err := json.Unmarshal([]byte(text), &c)
	switch {
	case err != nil:
	case c.OfRunner != nil:
		portable.Init(os.Stderr, false)
		err = c.OfRunner.Run(context.Background())
	default:
		beam.Init()
		_, err = prism.Execute(context.Background(), build(c))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// worker is a worker process: this program once more.
type worker struct {
	cmd    *exec.Cmd
	output bytes.Buffer
	ended  chan struct{}
	err    error // how it ended; read after ended

	mu     sync.Mutex
	killed bool
}

func startWorker(c config) (*worker, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	scratch, err := os.MkdirTemp("", "faults-txn-")
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	w := &worker{cmd: exec.Command(self), ended: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), Variable+"="+string(text), "TMPDIR="+scratch)
	w.cmd.Stderr = &w.output
	if err := w.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a worker: %w", err), os.RemoveAll(scratch))
	}
	go func() {
		defer close(w.ended)
		w.err = errors.Join(w.cmd.Wait(), os.RemoveAll(scratch))
	}()
	return w, nil
}

// kill ends it by SIGKILL. What it does not do before that it never does.
func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.killed = true
	_ = w.cmd.Process.Kill() // fails only if it is gone
}

// wait waits for its end and says whether it was killed. Any other bad end is an
// error.
func (w *worker) wait(ctx context.Context) (killed bool, err error) {
	select {
	case <-w.ended:
	case <-ctx.Done():
		w.kill()
		<-w.ended
		return false, fmt.Errorf("a worker did not end: %w", context.Cause(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil && !w.killed {
		const most = 4 << 10
		text := w.output.Bytes()
		return false, fmt.Errorf("a worker failed: %w: %s", w.err, text[max(0, len(text)-most):])
	}
	return w.err != nil, nil
}
