// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// workers starts the SDK's worker inside this process when the runner asks for
// one, as Beam's own loopback service does. But it lets bundles that are under
// way come to their end before it stops the worker. Beam's stops it at once, and
// then this may happen: a bundle ends and finds the worker running; the worker
// closes the channel of the answers; the bundle sends its answer on the closed
// channel, and the program panics.
type workers struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	life     context.Context
	run      func(context.Context, Worker) error
	server   *grpc.Server
	endpoint string
	serving  sync.WaitGroup
	counters counters

	mu     sync.Mutex
	byID   map[string]*worker
	closed bool
}

// worker is one SDK worker and what it is doing.
type worker struct {
	cancel context.CancelFunc
	ended  chan struct{}
	once   sync.Once // of stopping

	counters *counters // of the job

	mu      sync.Mutex
	bundles int           // under way
	started int           // since the beginning
	quiet   chan struct{} // closed when bundles falls to 0, nil if nobody waits
}

// How long a worker may take to end its bundles, and then itself.
const (
	quietTimeout = 1500 * time.Millisecond
	quitTimeout  = time.Second
	// settleTime is for the answer of a bundle to leave after the hook has seen
	// it, and for a bundle to arrive that the runner sent before the job ended.
	settleTime = 50 * time.Millisecond
)

// Worker is what a runner says of a worker that it asks for.
type Worker struct {
	// ID is the runner's name for it, Logging and Control are its addresses for it.
	ID, Logging, Control string
}

// Run is the worker. It returns when the runner hangs up, or ctx ends.
func (w Worker) Run(ctx context.Context) error {
	return harness.MainWithOptions(grpcx.WriteWorkerID(ctx, w.ID), w.Logging, w.Control, harness.Options{})
}

func startWorkers(ctx context.Context, run func(context.Context, Worker) error) (*workers, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the worker: %w", err)
	}
	if run == nil {
		run = func(ctx context.Context, w Worker) error { return w.Run(ctx) }
	}
	w := &workers{life: ctx, run: run, server: grpc.NewServer(), endpoint: listener.Addr().String(),
		counters: counters{sum: make(map[string]int64)}, byID: make(map[string]*worker)}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(w.server, w)
	w.serving.Go(func() { _ = w.server.Serve(listener) }) // it ends with the server, and says no more than that
	return w, nil
}

// config is what the pipeline's environment says.
func (w *workers) config(context.Context) string { return w.endpoint }

// StartWorker starts a worker.
func (w *workers) StartWorker(_ context.Context, req *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return &fnpb.StartWorkerResponse{Error: "the job was cancelled: its workers have stopped"}, nil
	}
	if before, ok := w.byID[req.GetWorkerId()]; ok && !before.hasEnded() {
		return &fnpb.StartWorkerResponse{Error: fmt.Sprintf("worker %q runs already", req.GetWorkerId())}, nil
	}
	one := &worker{ended: make(chan struct{}), counters: &w.counters}
	ctx, cancel := context.WithCancel(context.WithValue(w.life, workerKey{}, one))
	one.cancel = cancel
	w.byID[req.GetWorkerId()] = one
	go func() {
		defer close(one.ended)
		// How it ends is of no interest: the job has ended then.
		_ = w.run(ctx, Worker{ID: req.GetWorkerId(), Logging: req.GetLoggingEndpoint().GetUrl(), Control: req.GetControlEndpoint().GetUrl()})
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker stops a worker when its bundles have ended, or took too long.
func (w *workers) StopWorker(_ context.Context, req *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	w.mu.Lock()
	one, ok := w.byID[req.GetWorkerId()]
	w.mu.Unlock()
	if ok {
		one.stop()
	}
	return &fnpb.StopWorkerResponse{}, nil
}

// close returns when all workers have stopped: those that the runner has not
// stopped, and those that are stopping since. The job may be over before.
func (w *workers) close() {
	w.mu.Lock()
	w.closed = true
	all := slices.Collect(maps.Values(w.byID))
	w.mu.Unlock()
	var stopping sync.WaitGroup
	for _, one := range all {
		stopping.Go(one.stop)
	}
	stopping.Wait()
	w.server.Stop()
	w.serving.Wait()
}

func (o *worker) hasEnded() bool {
	select {
	case <-o.ended:
		return true
	default:
		return false
	}
}

// stop may be called twice; each call returns when the worker has stopped.
func (o *worker) stop() { o.once.Do(o.shutDown) }

func (o *worker) shutDown() {
	ctx, done := context.WithTimeout(context.Background(), quietTimeout)
	defer done()
	o.awaitSettled(ctx)
	o.cancel()
	select {
	case <-o.ended:
	case <-time.After(quitTimeout):
	}
}

// awaitSettled returns when no bundle has been there for a while, or ctx ends.
func (o *worker) awaitSettled(ctx context.Context) {
	for o.awaitQuiet(ctx) {
		before := o.begun()
		select {
		case <-time.After(settleTime):
		case <-ctx.Done():
		}
		if o.begun() == before {
			return
		}
	}
}

func (o *worker) begun() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.started
}

func (o *worker) awaitQuiet(ctx context.Context) bool {
	o.mu.Lock()
	if o.bundles == 0 {
		o.mu.Unlock()
		return true
	}
	if o.quiet == nil {
		o.quiet = make(chan struct{})
	}
	quiet := o.quiet
	o.mu.Unlock()
	select {
	case <-quiet:
		return true
	case <-ctx.Done():
		return false
	}
}

func (o *worker) count(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bundles += n
	o.started += max(n, 0)
	if o.bundles == 0 && o.quiet != nil {
		close(o.quiet)
		o.quiet = nil
	}
}

// workerKey finds the worker in the context of an instruction.
type workerKey struct{}

// countingHook is the name under which Beam knows the hook that counts bundles.
const countingHook = "rocketmq_beam_bundles"

func init() {
	hooks.RegisterHook(countingHook, func([]string) hooks.Hook {
		return hooks.Hook{
			Req: func(ctx context.Context, req *fnpb.InstructionRequest) (context.Context, error) {
				countBundle(ctx, req, 1)
				return ctx, nil
			},
			Resp: func(ctx context.Context, req *fnpb.InstructionRequest, resp *fnpb.InstructionResponse) error {
				if one, ok := ctx.Value(workerKey{}).(*worker); ok {
					one.counters.add(resp.GetProcessBundle())
				}
				countBundle(ctx, req, -1)
				return nil
			},
		}
	})
}

func countBundle(ctx context.Context, req *fnpb.InstructionRequest, n int) {
	if one, ok := ctx.Value(workerKey{}).(*worker); ok && req.GetProcessBundle() != nil {
		one.count(n)
	}
}
