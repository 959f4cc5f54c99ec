// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/report"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

func init() { beam.RegisterDoFn(&handFn{}) }

// Queues makes a worker read the queues of a normal topic, from the committed
// offsets on, and do nothing else than to note in a file what it was handed.
type Queues struct {
	NameServer string `json:"name_server"`
	// File gets a line for each message, see [ReadHanded].
	File string `json:"file"`
	// Rate bounds the messages a second and queue; 0 is no bound.
	Rate float64 `json:"rate"`
	// Work is how long each message takes, Ready how many may wait for it in each
	// queue; 0 is the default.
	Work  time.Duration `json:"work,omitempty"`
	Ready int           `json:"ready,omitempty"`
}

// buildQueues makes the pipeline. What notes is fused with what reads: a message
// is noted in the bundle that read it, before that bundle ends.
func buildQueues(c Config) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	opts := []rocketmqio.ReadOption{
		rocketmqio.ReadFrom(rocketmqio.Committed(rocketmqio.Earliest())), rocketmqio.ReadCommitInterval(100 * time.Millisecond),
		rocketmqio.ReadPullTimeout(5 * time.Second), rocketmqio.ReadRequestTimeout(c.Timeout),
		rocketmqio.ReadRetryDelay(500 * time.Millisecond), rocketmqio.ReadDiscoveryInterval(time.Second),
	}
	if c.Queues.Rate > 0 {
		opts = append(opts, rocketmqio.ReadRateLimit(c.Queues.Rate))
	}
	if n := c.Queues.Ready; n > 0 {
		opts = append(opts, rocketmqio.ReadThresholds(n, 8*n))
	}
	if c.Credentials != "" {
		opts = append(opts, rocketmqio.ReadCredentials(c.Credentials))
	}
	opts = append(opts, rocketmqio.ReadTLS(c.TLS))
	msgs := rocketmqio.Read(s, c.Queues.NameServer, c.Group, []string{c.Topic}, opts...)
	beam.ParDo0(s, &handFn{File: c.Queues.File, Work: c.Queues.Work}, msgs)
	return p
}

// handFn notes what it is handed: one write for a bundle, to a file that is
// opened for appending. What was written stays when the process is killed.
type handFn struct {
	File string
	Work time.Duration

	lines []byte
	count int
}

// StartBundle forgets what a failed bundle left behind.
func (f *handFn) StartBundle(context.Context) { f.lines, f.count = nil, 0 }

// ProcessElement keeps a line. The line ends with a point: one that was torn by
// a kill has none.
func (f *handFn) ProcessElement(ctx context.Context, m coders.Message) error {
	if err := work(ctx, f.Work); err != nil {
		return err
	}
	f.lines = fmt.Appendf(f.lines, "%d %d %s .\n", m.QueueID, m.QueueOffset, m.Body)
	f.count++
	return nil
}

// FinishBundle writes the lines, and then tells of it.
func (f *handFn) FinishBundle(context.Context) error {
	if f.count == 0 {
		return nil
	}
	out, err := os.OpenFile(f.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("noting: %w", err)
	}
	_, err = out.Write(append([]byte("\n"), f.lines...)) // the line break ends what was torn
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("noting: %w", err)
	}
	return report.Write(os.Stdout, report.Line{Kind: report.Handed, ID: strconv.Itoa(f.count)})
}

// Handed is a message that a worker was handed.
type Handed struct {
	Queue  int
	Offset int64
	Body   string
}

// ReadHanded reads whole lines from the front of what is in the file, and
// returns how many bytes these are. Torn lines are left out.
func ReadHanded(data []byte) (out []Handed, n int) {
	for {
		end := bytes.IndexByte(data[n:], '\n')
		if end < 0 {
			return out, n
		}
		line := bytes.Fields(data[n : n+end])
		n += end + 1
		if len(line) != 4 || string(line[3]) != "." {
			continue
		}
		queue, qErr := strconv.Atoi(string(line[0]))
		offset, oErr := strconv.ParseInt(string(line[1]), 10, 64)
		if qErr == nil && oErr == nil {
			out = append(out, Handed{queue, offset, string(line[2])})
		}
	}
}
