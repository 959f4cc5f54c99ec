// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"time"
)

const head = `# Faults

Written by ` + "`go run ./integration/faults --long --markdown docs/faults.md`" + `; do not edit.

Each row brings one accident about under load. *embedded* is the broker of this
project in the process that looks on, *embedded-process* the same in a process of
its own, *real* a RocketMQ 5.5.0. Workers are always processes of their own: pipelines
on prism, which are started again when they fail, as a runner does.

- **published**, **delivered**: messages, and how often they came to the work step, or
  of a sink, how many the broker has in the end. **distinct** are without repetitions.
- **lost**: not delivered, or given up; of a sink also what it told to be written and
  the broker does not have.
- **restarts**: bundles that failed and were repeated.
- **recovery**: seconds from the end of the accident until messages came through again;
  for rows under load only. Leases last 10 s here, and while one lasts that nobody ends,
  its lite topic waits.

`

// table is the file for people.
func table(s *summary, jobs []*job) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	verdict := "All rows passed"
	if s.Failed > 0 {
		verdict = fmt.Sprintf("**%d rows failed**", s.Failed)
	}
	fmt.Fprintf(&b, "%s: %d rows, %d messages lost. %s, %d processors, which other programs used as well.\n\n",
		verdict, len(s.Rows), s.Lost, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU())
	if n := len(s.Skipped); n > 0 {
		fmt.Fprintf(&b, "**%d rows were not run**, see the end; `CI=true ./test.sh` plays those on a real RocketMQ.\n\n", n)
	}
	b.WriteString("| row | on | published | delivered | distinct | duplicates | lost | restarts | recovery | seconds | seed | verdict |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, v := range s.Rows {
		recovered, ok := "", "ok"
		if v.Recovery >= 0 {
			recovered = fmt.Sprintf("%.1f", v.Recovery)
		}
		if !v.OK() {
			ok = "failed: " + cell(v.Error)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %s | %.0f | %d | %s |\n", v.Row, v.Target,
			v.Published, v.Delivered, v.Distinct, v.Duplicates, v.Lost, v.Restarts, recovered, v.Seconds, v.Seed, ok)
	}
	b.WriteString("\n## What the rows do\n\n")
	said := map[string]bool{}
	for _, j := range jobs {
		if !said[j.row.Name] {
			said[j.row.Name] = true
			fmt.Fprintf(&b, "- **%s**: %s.\n", j.row.Name, j.row.About)
		}
	}
	for _, name := range s.Skipped {
		fmt.Fprintf(&b, "- not run: %s\n", cell(name))
	}
	return b.Bytes()
}

// cell makes a text fit into a table.
func cell(text string) string {
	const most = 200
	text = strings.NewReplacer("\n", " ", "|", "\\|").Replace(text)
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
