// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"
)

// Options are the options of the runner. Zero values leave a choice to it. What
// is said here of effects is what Flink's runner does; prism ignores all but
// Parallelism.
type Options struct {
	// Streaming makes Flink run the pipeline as a stream even if all its
	// collections are bounded.
	Streaming bool
	// Parallelism is the number of parallel instances of each step. Flink's job
	// server takes as many as the cluster has by default.
	Parallelism int
	// CheckpointingInterval switches checkpoints on. Without them a failed job
	// begins again with what the sources have committed. With them, bundles are
	// finished before a checkpoint begins: Flink's own choice, to begin at once, keeps
	// what an interrupted bundle emits in the state until the step has something else
	// to do, which may be never (job server 2.62).
	CheckpointingInterval time.Duration
	// MaxBundleSize and MaxBundleTime end a bundle. Flink's own choices are 1000
	// elements and a second (5000 and 10 s for batches); with CheckpointingInterval
	// MaxBundleTime is 100 ms unless it is given.
	MaxBundleSize int
	MaxBundleTime time.Duration
	// StateBackend is "filesystem" or "rocksdb"; StateBackendStoragePath, a URL
	// such as s3://bucket/checkpoints or file:///shared, must be given with it.
	StateBackend            string
	StateBackendStoragePath string
	// RetainCheckpoints keeps the last checkpoint when a job is cancelled or
	// fails, to start another from it.
	RetainCheckpoints bool
	// Retries is how often a failed job is started again, RetryDelay how long
	// after the failure, a second by default. With checkpoints Flink's own choice is to do so for
	// ever; as this process holds the workers, and jobs must not outlive it, it
	// is [DefaultRetries] here, and none if it is negative.
	Retries    int
	RetryDelay time.Duration
	// SavepointPath is a savepoint or retained checkpoint to start from;
	// AllowNonRestoredState starts also if it holds state of steps that are gone.
	// Flink's job server heeds them with a cluster, not with the cluster that it
	// makes itself ([local]).
	SavepointPath         string
	AllowNonRestoredState bool
	// EndIdleSourcesAfter ends the job that long after its last source has ended. An
	// Impulse ends at once, and a splittable DoFn behind it is then read to its end
	// without another checkpoint (job server 2.62): for bounded reading only.
	// Flink's own choice with checkpoints is never.
	EndIdleSourcesAfter time.Duration
	// FlinkREST is the address, host:port, of the Flink cluster's REST service. A
	// job server that is asked to cancel a job ends waiting for it and leaves it
	// running; with the address it is cancelled there too.
	FlinkREST string
	// Extra are further options by the names that the runner has for them, such
	// as "unaligned_checkpoint_enabled".
	Extra map[string]any

	// OnWorker, if set, runs a worker that the runner asks for, until ctx ends or the
	// worker does; by default it is [Worker.Run] in this process. Workers that are
	// processes of their own, which call Worker.Run, can die without the job: Flink
	// starts it again with others, up to ten seconds later. See that Retries and
	// RetryDelay last that long. What they count, [Job.Counters] does not know.
	OnWorker func(ctx context.Context, w Worker) error

	// OnState and OnMessage, if set, are told of what the runner says. They are
	// called from one goroutine and must not block.
	OnState   func(State)
	OnMessage func(Message)
}

// DefaultRetries is enough for a hiccup and soon over for a job whose workers
// are gone.
const DefaultRetries = 3

// shortBundle keeps the latency of a stream low: what a bundle makes of a shuffled
// input waits for its end.
const shortBundle = 100 * time.Millisecond

// workerExpiry is when Flink's job server looks for another worker. By its own choice
// it never does: a job whose worker is gone starts again with the same one, and fails,
// as often as it may (2.62).
const workerExpiry = 10 * time.Second

// Check refuses values that cannot work, each with its name and value.
func (o *Options) Check() error {
	var faults []error
	for name, d := range map[string]time.Duration{
		"checkpointing interval": o.CheckpointingInterval, "max bundle time": o.MaxBundleTime,
		"retry delay": o.RetryDelay, "end idle sources after": o.EndIdleSourcesAfter,
	} {
		if d < 0 || d > 0 && d < time.Millisecond {
			faults = append(faults, fmt.Errorf("%s %v: want a millisecond or more", name, d))
		}
	}
	for name, n := range map[string]int{"parallelism": o.Parallelism, "max bundle size": o.MaxBundleSize} {
		if n < 0 || n > math.MaxInt32 {
			faults = append(faults, fmt.Errorf("%s %d: want 1 or more", name, n))
		}
	}
	switch o.StateBackend {
	case "", "filesystem", "rocksdb":
	default:
		faults = append(faults, fmt.Errorf("state backend %q: want filesystem or rocksdb", o.StateBackend))
	}
	if (o.StateBackend == "") != (o.StateBackendStoragePath == "") {
		faults = append(faults, fmt.Errorf("state backend %q with storage path %q: give both or neither", o.StateBackend, o.StateBackendStoragePath))
	}
	if o.CheckpointingInterval == 0 && o.RetainCheckpoints {
		faults = append(faults, errors.New("retaining checkpoints: there are none without a checkpointing interval"))
	}
	for name := range o.Extra {
		if name == "" || strings.ContainsAny(name, ": ") {
			faults = append(faults, fmt.Errorf("option %q: want the runner's name for it, such as max_parallelism", name))
		}
	}
	return errors.Join(faults...)
}

// ForFlink says whether anything is set that only Flink heeds.
func (o *Options) ForFlink() bool {
	return len(o.runner()) > 1 || o.FlinkREST != ""
}

// runner makes the names and values that the runner knows.
func (o *Options) runner() map[string]any {
	out := map[string]any{"streaming": o.Streaming || o.CheckpointingInterval > 0}
	number := func(name string, n int64) {
		if n > 0 {
			out[name] = n
		}
	}
	number("parallelism", int64(o.Parallelism))
	number("checkpointing_interval", o.CheckpointingInterval.Milliseconds())
	most := o.MaxBundleTime
	if o.CheckpointingInterval > 0 {
		if most == 0 {
			most = shortBundle
		}
		out["finish_bundle_before_checkpointing"] = true
		out["number_of_execution_retries"] = max(0, o.retries())
		out["execution_retry_delay"] = time.Second.Milliseconds()
	}
	number("max_bundle_size", int64(o.MaxBundleSize))
	number("max_bundle_time_mills", most.Milliseconds())
	number("execution_retry_delay", o.RetryDelay.Milliseconds())
	number("shutdown_sources_after_idle_ms", o.EndIdleSourcesAfter.Milliseconds())
	if o.OnWorker != nil {
		out["environment_expiration_millis"] = workerExpiry.Milliseconds()
	}
	if o.RetainCheckpoints {
		out["externalized_checkpoints_enabled"] = true
		out["retain_externalized_checkpoints_on_cancellation"] = true
	}
	for name, text := range map[string]string{
		"state_backend": o.StateBackend, "state_backend_storage_path": o.StateBackendStoragePath, "savepoint_path": o.SavepointPath,
	} {
		if text != "" {
			out[name] = text
		}
	}
	if o.AllowNonRestoredState {
		out["allow_non_restored_state"] = true
	}
	maps.Copy(out, o.Extra)
	return out
}

func (o *Options) retries() int {
	if o.Retries == 0 {
		return DefaultRetries
	}
	return o.Retries
}
