// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package portable

import (
	"errors"
	"fmt"
	"io"
	"strings"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// State is the state of a job, in Beam's words: "RUNNING", "DONE", "FAILED",
// "CANCELLED", …
type State string

func stateOf(s jobpb.JobState_Enum) State { return State(s.String()) }

// Message is what a runner says of a job. Importance is "ERROR", "WARNING",
// "BASIC", "DETAILED" or "DEBUG".
type Message struct {
	Importance, Text string
}

// follow listens to the runner until it has said its last word.
func (j *Job) follow() {
	defer close(j.ended)
	stream, err := j.server.jobs.GetMessageStream(j.life, &jobpb.JobMessagesRequest{JobId: j.id})
	if err != nil {
		j.err = j.lost(err)
		return
	}
	var seen verdict
	for {
		answer, err := stream.Recv()
		if err != nil {
			j.err = j.conclude(&seen, err)
			return
		}
		if m := answer.GetMessageResponse(); m != nil {
			j.hear(&seen, m)
		}
		if s := answer.GetStateResponse(); s != nil {
			seen.state = s.GetState()
			if j.options.OnState != nil {
				j.options.OnState(stateOf(seen.state))
			}
		}
	}
}

// verdict is what the stream has said so far.
type verdict struct {
	state jobpb.JobState_Enum
	fault string // the last message of the highest importance
}

func (j *Job) hear(seen *verdict, m *jobpb.JobMessage) {
	if m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
		seen.fault = m.GetMessageText()
	}
	if j.options.OnMessage != nil {
		j.options.OnMessage(Message{Importance: strings.TrimPrefix(m.GetImportance().String(), "JOB_MESSAGE_"), Text: m.GetMessageText()})
	}
}

// conclude tells from the end of the stream how the job ended.
func (j *Job) conclude(seen *verdict, err error) error {
	switch seen.state {
	case jobpb.JobState_DONE, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED, jobpb.JobState_UPDATED:
		return nil
	case jobpb.JobState_FAILED:
		if seen.fault == "" {
			return fmt.Errorf("job %s failed at %s, which does not say why: see its log", j.id, j.server.where)
		}
		return plain(seen.fault)
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("its last state is %v", seen.state)
	}
	return j.lost(err)
}

// lost is the error of a job whose end was not seen.
func (j *Job) lost(err error) error {
	return fmt.Errorf("lost sight of job %s: check that %s still runs, and its log: %w", j.id, j.server.where, err)
}
