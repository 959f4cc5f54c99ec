// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/report"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/worker"
)

// process is a worker process: this program once more.
type process struct {
	name   string
	cmd    *exec.Cmd
	in     io.Closer // its end tells the worker to end
	errors *tail
	ended  chan struct{} // closed when it is gone and all it told is in the ledger
	err    error         // how it ended; read after ended
	wanted bool          // we ended it; guarded by the crew's lock
}

func startProcess(name string, c worker.Config, l *ledger) (*process, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	scratch, err := os.MkdirTemp("", "faults-worker-")
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	p := &process{name: name, cmd: exec.Command(self), errors: &tail{}, ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), worker.Variable+"="+string(config), "TMPDIR="+scratch)
	p.cmd.Stderr = p.errors
	in, inErr := p.cmd.StdinPipe()
	out, outErr := p.cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, p.cmd.Start()); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a worker: %w", err), os.RemoveAll(scratch))
	}
	p.in = in
	go func() {
		defer close(p.ended)
		report.Read(out, func(line report.Line) { l.take(name, line) }, func(text string) { _, _ = p.errors.Write([]byte(text + "\n")) })
		p.err = errors.Join(p.cmd.Wait(), os.RemoveAll(scratch))
	}()
	return p, nil
}

// endTimeout is how long a worker that was told to end may take.
const endTimeout = 20 * time.Second

// end tells the worker to end.
func (p *process) end() error {
	_ = p.in.Close() // it may be gone already
	select {
	case <-p.ended:
		if p.err != nil {
			return fmt.Errorf("worker %s: %w: %s", p.name, p.err, p.errors)
		}
		return nil
	case <-time.After(endTimeout):
		p.kill()
		return fmt.Errorf("worker %s did not end in %v: %s", p.name, endTimeout, p.errors)
	}
}

// kill ends it by SIGKILL and waits until all that it told was read.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if it is gone
	<-p.ended
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if n := len(t.kept) - most; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(bytes.TrimPrefix(t.kept, []byte("\n"))))
}

// crew is the worker processes of a row. One that ends by itself is started
// again, as a runner does with a job that fails.
type crew struct {
	ledger *ledger
	mu     sync.Mutex
	count  int
	live   map[string]*process
	closed bool
	guards sync.WaitGroup
}

func newCrew(l *ledger) *crew { return &crew{ledger: l, live: map[string]*process{}} }

// start starts a worker.
func (c *crew) start(cfg worker.Config) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("starting a worker: the row is over")
	}
	c.count++
	name := fmt.Sprintf("worker-%d", c.count)
	p, err := startProcess(name, cfg, c.ledger)
	if err != nil {
		return nil, err
	}
	c.live[name] = p
	c.guards.Go(func() { c.guard(p, cfg) })
	return p, nil
}

// guard waits for the end of a worker, and starts another one if nobody wanted
// it to end.
func (c *crew) guard(p *process, cfg worker.Config) {
	<-p.ended
	c.mu.Lock()
	delete(c.live, p.name)
	done := cfg.Sink != nil && p.err == nil // its pipeline has an end
	again := !p.wanted && !c.closed && !done
	c.mu.Unlock()
	c.ledger.change(func() {})
	if !again {
		return
	}
	c.ledger.fault("%s ended by itself: %v: %s", p.name, p.err, p.errors)
	if _, err := c.start(cfg); err != nil {
		c.ledger.fault("starting it again: %v", err)
	}
}

// kill kills a worker and returns how many messages it had in work.
func (c *crew) kill(p *process) int {
	c.mu.Lock()
	p.wanted = true
	c.mu.Unlock()
	p.kill()
	n := 0
	c.ledger.see(func() { n = c.ledger.inWork(p.name) })
	return n
}

// idle says that no live worker has a message in work. The ledger's lock is
// held.
func (c *crew) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.live {
		if c.ledger.inWork(name) > 0 {
			return false
		}
	}
	return true
}

// end tells all workers to end. No further one can be started.
func (c *crew) end() error {
	var errs []error
	for _, p := range c.close() {
		errs = append(errs, p.end())
	}
	c.guards.Wait()
	return errors.Join(errs...)
}

// abort kills all workers that are left.
func (c *crew) abort() {
	for _, p := range c.close() {
		p.kill()
	}
	c.guards.Wait()
}

func (c *crew) close() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var left []*process
	for _, p := range c.live {
		p.wanted = true
		left = append(left, p)
	}
	return left
}

// awaitInWork waits until a worker has at least n messages in work.
func (c *crew) awaitInWork(ctx context.Context, p *process, n int) error {
	return c.ledger.await(ctx, fmt.Sprintf("%d messages in work at %s", n, p.name), func() bool { return c.ledger.inWork(p.name) >= n })
}
