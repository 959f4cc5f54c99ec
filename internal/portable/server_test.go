// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/google/go-cmp/cmp"
)

var counted = beam.NewCounter("portable_test", "bytes")

func init() { register.Function2x0(count) }

func count(ctx context.Context, b []byte) { counted.Inc(ctx, int64(len(b))) }

func TestNobodyListeningIsAnErrorThatNamesTheEndpoint(t *testing.T) {
	begin := time.Now()
	_, err := Dial(t.Context(), "127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "check that a Beam job server runs there") {
		t.Errorf("got %v, want it to name the endpoint and what to check", err)
	}
	if took := time.Since(begin); took > dialTimeout+time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAnEndpointThatIsNoJobServiceIsAnError(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	addr := strings.TrimPrefix(web.URL, "http://")
	if _, err := Dial(t.Context(), addr); err == nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v, want it to name %s", err, addr)
	}
}

func TestCountersAndStatesAreSeen(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, count, beam.Create(s, []byte("abc"), []byte("de")))
	var states []State
	job, err := start(t).Submit(t.Context(), "test", p, Options{OnState: func(s State) { states = append(states, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"portable_test.bytes": 5}, job.Counters()); diff != "" {
		t.Errorf("counters, -want +got:\n%s", diff)
	}
	if n := len(states); n == 0 || states[n-1] != "DONE" {
		t.Errorf("got states %v, want DONE for the last", states)
	}
	if s, err := job.State(t.Context()); err != nil || s != "DONE" {
		t.Errorf("got state %q, %v; want DONE", s, err)
	}
	if err := job.Cancel(t.Context()); err != nil {
		t.Errorf("cancelling a job that has ended: %v", err)
	}
}

// Beam's job server forgets a job that it cancels; the cluster must be told.
func TestAJobIsCancelledAtFlinkItself(t *testing.T) {
	var cancelled []string
	rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			cancelled = append(cancelled, r.URL.String())
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprint(w, `{"jobs":[{"jid":"01","name":"orders","state":"RUNNING"},{"jid":"02","name":"orders","state":"CANCELED"},{"jid":"03","name":"other","state":"RUNNING"}]}`)
	}))
	t.Cleanup(rest.Close)
	job := &Job{id: "orders_0c7c5b16-9ab8", options: Options{FlinkREST: strings.TrimPrefix(rest.URL, "http://")}}
	if err := job.cancelAtFlink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/jobs/01?mode=cancel"}, cancelled); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	rest.Close()
	if err := job.cancelAtFlink(t.Context()); err == nil || !strings.Contains(err.Error(), job.options.FlinkREST) {
		t.Errorf("got %v, want it to name %s", err, job.options.FlinkREST)
	}
}
