// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsBecomeTheRunnersOwn(t *testing.T) {
	for name, tt := range map[string]struct {
		options Options
		want    map[string]any
	}{
		"nothing is said of what was not chosen": {Options{}, map[string]any{"streaming": false}},
		"checkpoints make a stream of short bundles that is started again a few times": {
			Options{CheckpointingInterval: time.Second},
			map[string]any{"streaming": true, "checkpointing_interval": int64(1000), "finish_bundle_before_checkpointing": true, "max_bundle_time_mills": int64(100),
				"number_of_execution_retries": 3, "execution_retry_delay": int64(1000)},
		},
		"what is given is taken": {
			Options{Streaming: true, CheckpointingInterval: time.Minute, Parallelism: 4, MaxBundleSize: 500, MaxBundleTime: time.Second, Retries: 9, RetryDelay: 5 * time.Second,
				StateBackend: "rocksdb", StateBackendStoragePath: "s3://b/c", RetainCheckpoints: true, SavepointPath: "s3://b/s", AllowNonRestoredState: true,
				EndIdleSourcesAfter: 2 * time.Second, Extra: map[string]any{"max_parallelism": 128}},
			map[string]any{"streaming": true, "checkpointing_interval": int64(60_000), "finish_bundle_before_checkpointing": true, "parallelism": int64(4), "max_bundle_size": int64(500), "max_bundle_time_mills": int64(1000),
				"number_of_execution_retries": 9, "execution_retry_delay": int64(5000), "state_backend": "rocksdb", "state_backend_storage_path": "s3://b/c",
				"externalized_checkpoints_enabled": true, "retain_externalized_checkpoints_on_cancellation": true, "savepoint_path": "s3://b/s",
				"allow_non_restored_state": true, "shutdown_sources_after_idle_ms": int64(2000), "max_parallelism": 128},
		},
		"of workers that may die there can be others": {
			Options{OnWorker: func(context.Context, Worker) error { return nil }},
			map[string]any{"streaming": false, "environment_expiration_millis": int64(10_000)},
		},
		"no retries": {
			Options{CheckpointingInterval: time.Second, MaxBundleSize: 1, Retries: -1},
			map[string]any{"streaming": true, "checkpointing_interval": int64(1000), "finish_bundle_before_checkpointing": true, "max_bundle_size": int64(1), "max_bundle_time_mills": int64(100),
				"number_of_execution_retries": 0, "execution_retry_delay": int64(1000)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tt.options.Check(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.want, tt.options.runner()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	for want, o := range map[string]Options{
		"parallelism -1":                           {Parallelism: -1},
		"checkpointing interval 1µs":               {CheckpointingInterval: time.Microsecond},
		`state backend "etcd"`:                     {StateBackend: "etcd", StateBackendStoragePath: "x"},
		`"rocksdb" with storage path ""`:           {StateBackend: "rocksdb"},
		"none without a checkpointing interval":    {RetainCheckpoints: true},
		`option "beam:option:x:v1"`:                {Extra: map[string]any{"beam:option:x:v1": 1}},
		"end idle sources after -1s: want a milli": {EndIdleSourcesAfter: -time.Second},
	} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}
