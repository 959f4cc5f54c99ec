// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rocketmq-beam/rocketmq-beam/integration/faults/internal/scenario"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
)

// settings are what the command line says.
type settings struct {
	long, real bool
	seed       uint64
	atOnce     int
	markdown   string
}

// summary is the last line.
type summary struct {
	Rows    []scenario.Verdict `json:"rows"`
	Lost    int                `json:"lost"`
	Failed  int                `json:"failed"`
	Skipped []string           `json:"skipped"`
}

// job is a row at a place.
type job struct {
	row     scenario.Row
	place   scenario.Place
	verdict scenario.Verdict
}

func (j *job) name() string { return fmt.Sprintf("%s/%s", j.row.Name, j.place) }

// run runs the rows and says whether all went well. Those on embedded brokers run
// beside each other, for they mostly wait; those on the real one, one by one, run
// beside them.
func run(ctx context.Context, rows []scenario.Row, c settings) bool {
	out := summary{Rows: []scenario.Verdict{}, Skipped: []string{}}
	set := scenario.Settings{Seed: c.seed, Log: func(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }}
	var unavailable error
	if c.real {
		set.Cluster, unavailable = cluster(ctx, rows, c.long)
		if set.Cluster != nil {
			defer set.Cluster.Close()
		}
	}
	var jobs []*job
	for _, row := range rows {
		for _, place := range row.Places {
			j := &job{row: row, place: place}
			switch {
			case row.Long && !c.long:
				out.Skipped = append(out.Skipped, j.name()+": long")
			case place == scenario.RealMQ && !c.real:
				out.Skipped = append(out.Skipped, j.name()+": real RocketMQ switched off")
			case place == scenario.RealMQ && set.Cluster == nil:
				out.Skipped = append(out.Skipped, fmt.Sprintf("%s: no real RocketMQ (%v)", j.name(), unavailable))
			default:
				jobs = append(jobs, j)
			}
		}
	}
	playAll(ctx, jobs, set, c.atOnce)
	for _, j := range jobs {
		out.add(j.verdict)
	}
	for _, s := range out.Skipped {
		fmt.Println("skipped:", s)
	}
	if err := out.print(c.markdown, jobs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	return out.Failed == 0 && out.Lost == 0 && len(out.Rows) > 0
}

// playAll runs the jobs and enters their verdicts.
func playAll(ctx context.Context, jobs []*job, set scenario.Settings, atOnce int) {
	var all sync.WaitGroup
	var beside errgroup.Group
	beside.SetLimit(atOnce)
	var alone errgroup.Group
	alone.SetLimit(1)
	for _, lane := range []struct {
		group *errgroup.Group
		real  bool
	}{{&beside, false}, {&alone, true}} {
		all.Go(func() {
			for _, j := range jobs {
				if (j.place == scenario.RealMQ) != lane.real {
					continue
				}
				lane.group.Go(func() error {
					fmt.Printf("%s: %s\n", j.name(), j.row.About)
					j.verdict = scenario.Run(ctx, j.row, j.place, set)
					fmt.Println(j.verdict)
					return nil
				})
			}
			_ = lane.group.Wait() // what went wrong stands in the verdicts
		})
	}
	all.Wait()
}

// print writes the table to a file, if one is named, and then the last line.
func (s *summary) print(markdown string, jobs []*job) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if markdown != "" {
		if err := os.WriteFile(markdown, table(s, jobs), 0o644); err != nil {
			return fmt.Errorf("the table: %w", err)
		}
	}
	fmt.Println(string(line))
	return nil
}

func (s *summary) add(v scenario.Verdict) {
	s.Rows = append(s.Rows, v)
	s.Lost += v.Lost
	if !v.OK() {
		s.Failed++
	}
}

// cluster starts a real RocketMQ if a row needs one and it can be had.
func cluster(ctx context.Context, rows []scenario.Row, long bool) (*realmq.Cluster, error) {
	needed := false
	for _, row := range rows {
		for _, place := range row.Places {
			needed = needed || place == scenario.RealMQ && (long || !row.Long)
		}
	}
	if !needed {
		return nil, nil
	}
	return realmq.Start(ctx)
}

// list prints the rows.
func list(rows []scenario.Row) {
	for _, row := range rows {
		long := ""
		if row.Long {
			long = " (long)"
		}
		fmt.Printf("%-34s %v%s\n    %s\n", row.Name, row.Places, long, row.About)
	}
}
