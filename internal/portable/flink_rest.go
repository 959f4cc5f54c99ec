// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// cancelAtFlink cancels the job at the cluster itself, if its REST service is
// known. That Beam's job server has ended waiting does not end the job there.
func (j *Job) cancelAtFlink(ctx context.Context) error {
	if j.options.FlinkREST == "" {
		return nil
	}
	ids, err := j.flinkIDs(ctx)
	for _, id := range ids {
		err = errors.Join(err, flinkCall(ctx, http.MethodPatch, j.options.FlinkREST, "/jobs/"+id+"?mode=cancel", nil))
	}
	if err != nil {
		return fmt.Errorf("cancelling job %s at Flink: check that %s is the REST service of the cluster: %w", j.id, j.options.FlinkREST, err)
	}
	return nil
}

// flinkIDs are Flink's own names for the job, while it runs. Its job server makes
// the job's id of Flink's name for it and a UUID.
func (j *Job) flinkIDs(ctx context.Context) ([]string, error) {
	var answer struct {
		Jobs []struct{ JID, Name, State string }
	}
	if err := flinkCall(ctx, http.MethodGet, j.options.FlinkREST, "/jobs/overview", &answer); err != nil {
		return nil, err
	}
	var ids []string
	for _, job := range answer.Jobs {
		if strings.HasPrefix(j.id, job.Name+"_") && job.State != "FINISHED" && job.State != "CANCELED" && job.State != "FAILED" {
			ids = append(ids, job.JID)
		}
	}
	return ids, nil
}

func flinkCall(ctx context.Context, method, addr, path string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
