// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/table"
	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/follow"
)

// figures are what a run has done. Bundles that a runner repeats count again.
type figures struct {
	Seconds float64 `json:"seconds"`
	// MessagesRead are messages, RowsRead the rows in them.
	MessagesRead int64 `json:"messages_read"`
	RowsRead     int64 `json:"rows_read"`
	// RowsFiltered are those for which WHERE did not hold.
	RowsFiltered int64 `json:"rows_filtered"`
	// RowsSkipped had the wrong number of fields, RowsUndecodable a field that could
	// not be read.
	RowsSkipped     int64 `json:"rows_skipped"`
	RowsUndecodable int64 `json:"rows_undecodable"`
	// RowsWritten are stored, RowsFailed are not: only with the guarantee NONE.
	RowsWritten int64 `json:"rows_written"`
	RowsFailed  int64 `json:"rows_failed"`
	// MessagesAcked are acknowledged, of lite topics.
	MessagesAcked int64 `json:"messages_acked"`
}

// figuresOf reads the counters. Half messages of transactions are sent and not yet
// there, so that with them the results count.
func figuresOf(counters map[string]int64, elapsed time.Duration, transactions bool) figures {
	of := func(name string) int64 { return counters[table.Namespace+"."+name] }
	written, failed := counters["rocketmq.rocketmqio.write.sent"], counters["rocketmq.rocketmqio.write.failed"]
	if transactions {
		written, failed = of(table.RowsStored), of(table.RowsFailed)
	}
	return figures{
		Seconds: elapsed.Seconds(), MessagesRead: of(table.CountRead), RowsRead: of(table.CountRows), RowsFiltered: of(table.CountFiltered),
		RowsSkipped: of(table.CountSkipped), RowsUndecodable: of(table.CountUndecodable),
		RowsWritten:   written + counters["rocketmq.litegrpcio.write.sent"],
		RowsFailed:    failed,
		MessagesAcked: counters["rocketmq.ackfn.acked"],
	}
}

// progress shows figures as they come.
type progress struct {
	out   io.Writer
	begin time.Time
	last  figures
	// transactions says that there are some.
	transactions bool
}

func newProgress(out io.Writer, transactions bool) *progress {
	return &progress{out: out, begin: time.Now(), transactions: transactions}
}

// Head writes what the columns are. The job begins with it.
func (p *progress) Head() {
	p.begin = time.Now()
	fmt.Fprintln(p.out, "  time  messages read  rows read   filtered    skipped    written      acked   written/s")
}

// Line shows a second.
func (p *progress) Line(now time.Time, counters map[string]int64) {
	f := figuresOf(counters, now.Sub(p.begin), p.transactions)
	rate := follow.Rate(f.RowsWritten-p.last.RowsWritten, f.Seconds-p.last.Seconds)
	fmt.Fprintf(p.out, "%5.0fs %14d %10d %10d %10d %10d %10d %11.0f\n",
		f.Seconds, f.MessagesRead, f.RowsRead, f.RowsFiltered, f.RowsSkipped+f.RowsUndecodable, f.RowsWritten, f.MessagesAcked, rate)
	p.last = f
}

// Result writes the last line. That rows could not be written is no error with the
// guarantee NONE, but that none of them could is.
func (p *progress) Result(now time.Time, counters map[string]int64, err error) error {
	r := struct {
		figures
		Interrupted bool `json:"interrupted,omitempty"`
		Aborted     bool `json:"aborted,omitempty"`
	}{figures: figuresOf(counters, now.Sub(p.begin), p.transactions), Interrupted: errors.Is(err, ErrInterrupted)}
	r.Aborted = err != nil && !r.Interrupted
	if err := json.NewEncoder(p.out).Encode(r); err != nil {
		return err
	}
	if err == nil && r.RowsFailed > 0 && r.RowsWritten == 0 {
		return fmt.Errorf("none of %d rows could be written: the warning before says why", r.RowsFailed)
	}
	return nil
}
