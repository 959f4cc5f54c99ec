// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"fmt"
	"math"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Server is a job service. Its methods may be called from several goroutines.
type Server struct {
	jobs  jobpb.JobServiceClient
	where string // for errors
	conn  *grpc.ClientConn
	// experiments are what its runner needs to be told.
	experiments []string
}

// dialTimeout is how long a job service may take to answer the first time.
const dialTimeout = 10 * time.Second

// Dial connects to the job service at endpoint, host:port without TLS, and asks
// it for its jobs, so that a wrong endpoint is found out here. It takes ten
// seconds at most.
func Dial(ctx context.Context, endpoint string) (*Server, error) {
	conn, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, unreachable(endpoint, err)
	}
	s := &Server{jobs: jobpb.NewJobServiceClient(conn), where: "the job server at " + endpoint, conn: conn}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if _, err := s.jobs.GetJobs(ctx, &jobpb.GetJobsRequest{}); err != nil {
		_ = conn.Close()
		return nil, unreachable(endpoint, err)
	}
	return s, nil
}

func unreachable(endpoint string, err error) error {
	return fmt.Errorf("no job service answers at %s: check that a Beam job server runs there (Flink's: --job-port), "+
		"and that the port is that of jobs, not of artifacts, expansion or Flink itself: %w", endpoint, err)
}

// Prism starts a prism job server in this process. It lasts as long as the
// process: prism has no way to stop it.
func Prism(ctx context.Context) (*Server, error) {
	jobs, err := prism.CreateJobServer(ctx, prism.Options{})
	if err != nil {
		return nil, fmt.Errorf("starting prism: %w", err)
	}
	// Prism asks running sources to split. A source whose tracker refuses every
	// split only loses time by it.
	return &Server{jobs: jobs, where: "prism", experiments: []string{"prism_disable_sdf_split"}}, nil
}

// Close closes the connection. Jobs of this process must have ended.
func (s *Server) Close() error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close()
}
