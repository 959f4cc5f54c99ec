// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// overtaken is a job service whose client's context ends during one of the steps.
type overtaken struct {
	jobpb.UnimplementedJobServiceServer
	jobpb.UnimplementedArtifactStagingServiceServer

	addr               string
	inStaging, inStart context.CancelFunc
	cancelled          chan string
}

func (o *overtaken) Prepare(context.Context, *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	return &jobpb.PrepareJobResponse{PreparationId: "p", StagingSessionToken: "token",
		ArtifactStagingEndpoint: &pipepb.ApiServiceDescriptor{Url: o.addr}}, nil
}

func (o *overtaken) ReverseArtifactRetrievalService(stream jobpb.ArtifactStagingService_ReverseArtifactRetrievalServiceServer) error {
	if o.inStaging != nil {
		o.inStaging()
		<-stream.Context().Done()
	}
	return nil
}

func (o *overtaken) Run(ctx context.Context, _ *jobpb.RunJobRequest) (*jobpb.RunJobResponse, error) {
	if o.inStart != nil {
		o.inStart()
	}
	return &jobpb.RunJobResponse{JobId: "job"}, ctx.Err()
}

func (o *overtaken) GetMessageStream(_ *jobpb.JobMessagesRequest, stream jobpb.JobService_GetMessageStreamServer) error {
	<-o.cancelled
	return stream.Send(&jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{
		StateResponse: &jobpb.JobStateEvent{State: jobpb.JobState_CANCELLED}}})
}

func (o *overtaken) Cancel(_ context.Context, req *jobpb.CancelJobRequest) (*jobpb.CancelJobResponse, error) {
	o.cancelled <- req.GetJobId()
	return &jobpb.CancelJobResponse{}, nil
}

func (o *overtaken) serve(t *testing.T) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.addr, o.cancelled = l.Addr().String(), make(chan string, 1)
	server := grpc.NewServer()
	jobpb.RegisterJobServiceServer(server, o)
	jobpb.RegisterArtifactStagingServiceServer(server, o)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(o.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &Server{jobs: jobpb.NewJobServiceClient(conn), where: "a test"}
}

func somePipeline() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo(s, length, beam.Impulse(s))
	return p
}

// Beam's way of staging sleeps for seconds, three times, when it was broken off.
func TestHandingOverEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := (&overtaken{inStaging: cancel}).serve(t)
	begin := time.Now()
	if _, err := server.Submit(ctx, "test", somePipeline(), Options{}); err == nil {
		t.Error("want an error")
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

// A job that began while the context ended would go on if nobody knew it.
func TestAJobThatBeganIsKnown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := &overtaken{inStart: cancel}
	job, err := o.serve(t).Submit(ctx, "test", somePipeline(), Options{})
	if err != nil || job.ID() != "job" {
		t.Fatalf("got %v, want the job", err)
	}
	if err := job.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
}
