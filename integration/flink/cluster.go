// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package flink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"time"
)

// Cluster is a Flink cluster that the job server has made for one job. It ends
// with the job.
type Cluster struct {
	// REST is the address of its REST service, "127.0.0.1:port".
	REST string
}

// restLine is what a cluster logs when its REST service is up.
var restLine = regexp.MustCompile(`Rest endpoint listening at (\S+)`)

// Clusters are the clusters that were made so far, the latest last; those of
// bounded pipelines too.
func (s *Server) Clusters() ([]Cluster, error) {
	log, err := os.ReadFile(s.output())
	if err != nil {
		return nil, fmt.Errorf("log of the Flink job server: %w", err)
	}
	var out []Cluster
	for _, m := range restLine.FindAllSubmatch(log, -1) {
		out = append(out, Cluster{REST: string(m[1])})
	}
	return out, nil
}

// Checkpoint is how far a job's checkpoints are.
type Checkpoint struct {
	// Completed counts them.
	Completed int
	// Path is where the latest one is, if it was written to files; a job can be
	// started from it.
	Path string
	// Bytes is the size of the latest one.
	Bytes int64
}

// Checkpoint asks for the checkpoints of the cluster's job.
func (c Cluster) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var jobs struct{ Jobs []struct{ ID string } }
	if err := c.get(ctx, "/jobs", &jobs); err != nil {
		return Checkpoint{}, err
	}
	if len(jobs.Jobs) == 0 {
		return Checkpoint{}, errors.New("the cluster has no job yet")
	}
	var answer struct {
		Counts struct{ Completed int }
		Latest struct {
			Completed struct {
				Path string `json:"external_path"`
				Size int64  `json:"state_size"`
			}
		}
	}
	if err := c.get(ctx, "/jobs/"+jobs.Jobs[0].ID+"/checkpoints", &answer); err != nil {
		return Checkpoint{}, err
	}
	last := answer.Latest.Completed
	return Checkpoint{Completed: answer.Counts.Completed, Path: last.Path, Bytes: last.Size}, nil
}

// Gone says whether the cluster has ended.
func (c Cluster) Gone(ctx context.Context) bool {
	var ignored struct{}
	return c.get(ctx, "/jobs", &ignored) != nil && ctx.Err() == nil
}

// restTimeout bounds one question to a cluster.
const restTimeout = 5 * time.Second

func (c Cluster) get(ctx context.Context, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.REST+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Close = true // the cluster may be gone before the connection is used again
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking the Flink cluster: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking the Flink cluster for %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
