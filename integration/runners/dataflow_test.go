// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	beamruntime "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	v1pb "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx/v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/protox"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	"google.golang.org/protobuf/proto"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
	"github.com/rocketmq-beam/rocketmq-beam/throttlefn"
)

const (
	dataflowImage = "apache/beam_go_sdk:latest"
	keyInEnv      = "ACCESS-KEY-OF-THE-TEST"
	secretInEnv   = "SECRET-KEY-OF-THE-TEST"
)

// everyTransform is a pipeline with all transforms of this module, with keys
// that come from a resolver by its name.
func everyTransform(s beam.Scope) {
	lite := litegrpcio.Read(s, "proxy:8081", busTopic, busGroup, litegrpcio.ReadCredentials("env"))
	bounded := litegrpcio.ReadBounded(s, "proxy:8081", busTopic, busGroup, litegrpcio.ReadCredentials("env"), litegrpcio.ReadIdleTimeout(time.Second))
	for _, msgs := range []beam.PCollection{lite, bounded} {
		groups := throttlefn.GroupByLiteTopic(s, msgs, throttlefn.GroupEvery(time.Second))
		fair := throttlefn.Throttle(s, groups, throttlefn.Quota{PerWindow: 50, Defer: 20 * time.Second}, throttlefn.Credentials("env"))
		ackfn.Ack(s, fair.Passed, ackfn.Credentials("env"))
	}
	orders := rocketmqio.Read(s, "ns1:9876;ns2:9876", ordersGroup, []string{ordersTopic}, rocketmqio.ReadCredentials("env"))
	rocketmqio.ReadBounded(s, "ns1:9876;ns2:9876", ordersGroup, []string{ordersTopic}, rocketmqio.ReadCredentials("env"),
		rocketmqio.ReadFrom(rocketmqio.Earliest()), rocketmqio.ReadTo(rocketmqio.AtLatest()))
	rocketmqio.Write(s, "ns1:9876;ns2:9876", orders, rocketmqio.WriteTopic("copies"), rocketmqio.WriteCredentials("env"))
}

// forDataflow makes of the pipeline what Beam's Dataflow runner would send, as
// far as that can be done without the service.
func forDataflow(t *testing.T) (*pipepb.Pipeline, []byte) {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	everyTransform(s)
	edges, nodes, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	image := func(context.Context) string { return dataflowImage }
	environment, err := graphx.CreateEnvironment(t.Context(), graphx.URNEnvDocker, image)
	if err != nil {
		t.Fatal(err)
	}
	model, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(protox.MustEncode(model))
	job, err := dataflowlib.Translate(t.Context(), model, &dataflowlib.JobOptions{
		Name: "orders", Project: "project", Region: "europe-west1", TempLocation: "gs://bucket/temp",
		Streaming: !graph.Bounded(nodes), Options: beam.PipelineOptions.Export(), ContainerImage: dataflowImage,
	}, "gs://bucket/staging/worker", "gs://bucket/staging/model", hex.EncodeToString(hash[:]))
	if err != nil {
		t.Fatal(err)
	}
	if job.Type != "JOB_TYPE_STREAMING" {
		t.Errorf("got a job of type %s, want a streaming one", job.Type)
	}
	description, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	return model, description
}

// decoded are all bytes of the pipeline, with what is base64 inside read.
func decoded(t *testing.T, model *pipepb.Pipeline, description []byte) string {
	t.Helper()
	all := append(protox.MustEncode(model), description...)
	for _, text := range regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`).FindAll(all, -1) {
		for cut := range 4 { // a length byte before it may look like a part of it
			if inner, err := base64.StdEncoding.DecodeString(string(text[min(cut, len(text)):])); err == nil {
				all = append(all, inner...)
			}
		}
	}
	return string(all)
}

// X04a, B28: what goes to Dataflow holds names of resolvers and no keys, and no
// path of the machine that submits. No step needs another language.
func TestThePipelineForDataflowHoldsNothingOfThisMachine(t *testing.T) {
	t.Setenv("ROCKETMQ_ACCESS_KEY", keyInEnv)
	t.Setenv("ROCKETMQ_SECRET_KEY", secretInEnv)
	model, description := forDataflow(t)
	all := decoded(t, model, description)
	for _, secret := range []string{keyInEnv, secretInEnv} {
		if strings.Contains(all, secret) {
			t.Errorf("the pipeline holds %q", secret)
		}
	}
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	for what, text := range map[string]string{
		"the folder of the program": work, "the temporary folder": os.TempDir() + "/", "the home folder": os.Getenv("HOME") + "/",
		"the file of the program": os.Args[0], "the host": host,
	} {
		if len(text) > 3 && strings.Contains(all, text) {
			t.Errorf("the pipeline holds %s, %q", what, text)
		}
	}
	if !strings.Contains(all, `"resolver":"env"`) && !strings.Contains(all, `"Resolver":"env"`) {
		t.Error("the pipeline does not name the resolver: this test looks at the wrong bytes")
	}
	for id, environment := range model.GetComponents().GetEnvironments() {
		if environment.GetUrn() != graphx.URNEnvDocker {
			t.Errorf("environment %s is a %s", id, environment.GetUrn())
		}
	}
}

// onlyRegistered stands for a worker's program, in which functions and types are
// found by the names that they were registered under, and in no symbol table.
type onlyRegistered struct{}

func (onlyRegistered) Sym2Addr(name string) (uintptr, error) {
	return 0, fmt.Errorf("%s is not registered", name)
}

// Each DoFn and coder is found by a worker, which is the same program elsewhere.
func TestAWorkerOnDataflowFindsEveryDoFnAndCoder(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	model, _ := forDataflow(t)
	before := beamruntime.Resolver
	beamruntime.Resolver = onlyRegistered{}
	t.Cleanup(func() { beamruntime.Resolver = before })
	seen := map[string]bool{}
	for _, transform := range model.GetComponents().GetTransforms() {
		if edge := edgeOf(t, transform); edge != nil {
			_, fn, _, _, _, err := graphx.DecodeMultiEdge(edge)
			if err != nil {
				t.Errorf("%s: %v", transform.GetUniqueName(), err)
				continue
			}
			seen[fn.Name()] = true
		}
	}
	for _, want := range []string{"litegrpcio.readFn", "litegrpcio.readBoundedFn", "rocketmqio.readFn", "rocketmqio.readBoundedFn",
		"rocketmqio.discoverFn", "rocketmqio.commitFn", "rocketmqio.writeReadFn", "throttlefn.throttleFn", "ackfn.ackMessagesFn"} {
		if !seen["github.com/rocketmq-beam/rocketmq-beam/"+want] {
			t.Errorf("%s is not among those found: %v", want, slices.Sorted(maps.Keys(seen)))
		}
	}
	coders := model.GetComponents().GetCoders()
	for id, c := range coders {
		if c.GetSpec().GetUrn() == "beam:go:coder:custom:v1" { // comes inside a length-prefixed one
			continue
		}
		if _, err := graphx.NewCoderUnmarshaller(coders).Coder(id); err != nil {
			t.Errorf("coder %s: %v", id, err)
		}
	}
}

// edgeOf is what Beam's Go SDK says of a transform, or nil if it is none of its.
func edgeOf(t *testing.T, transform *pipepb.PTransform) *v1pb.MultiEdge {
	t.Helper()
	if transform.GetSpec().GetUrn() != graphx.URNParDo {
		return nil
	}
	var pardo pipepb.ParDoPayload
	if err := proto.Unmarshal(transform.GetSpec().GetPayload(), &pardo); err != nil {
		t.Fatal(err)
	}
	if pardo.GetDoFn().GetUrn() != graphx.URNDoFn { // a part of a Reshuffle
		return nil
	}
	var payload v1pb.TransformPayload
	if err := protox.DecodeBase64(string(pardo.GetDoFn().GetPayload()), &payload); err != nil {
		t.Fatal(err)
	}
	return payload.GetEdge()
}

const ownProcess = "RUNNERS_TEST_OWN_PROCESS"

// inOwnProcess runs the test once more in a process of its own, and returns true
// there: Beam remembers what other tests have looked up.
func inOwnProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownProcess) != "" {
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), ownProcess+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
