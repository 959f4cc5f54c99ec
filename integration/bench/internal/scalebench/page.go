// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scalebench

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// What is between these lines of a page is written anew by [Result.WritePage].
const (
	pageBegin = "<!-- bench scale: begin, written by the command -->\n"
	pageEnd   = "<!-- bench scale: end -->\n"
)

// WritePage writes tables and links to the plots into the page, a file of
// Markdown: between its two marks, or at its end if it has none.
func (r *Result) WritePage(file string, dimensions []Dimension, target string) error {
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("page: %w", err)
	}
	before, rest, _ := strings.Cut(string(old), pageBegin)
	_, after, _ := strings.Cut(rest, pageEnd)
	page := before + pageBegin + "\n" + r.markdown(dimensions, target) + "\n" + pageEnd + after
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

func (r *Result) markdown(dimensions []Dimension, target string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Measured on %s, target %s, in %.0f s: %d processors (%s), load average %.1f before and %.1f after. Speeds are medians of the pairs of runs.\n",
		r.When, target, r.Seconds, r.Processors, r.System, r.LoadBefore, r.LoadAfter)
	for _, d := range dimensions {
		if why, ok := r.Skipped[d.Name]; ok {
			fmt.Fprintf(&b, "\n### %s\n\nNot measured, or not to the end: %s\n", d.Title, why)
		}
		curve, ok := r.Curves[d.Name]
		if !ok {
			continue
		}
		if _, incomplete := r.Skipped[d.Name]; !incomplete {
			fmt.Fprintf(&b, "\n### %s\n", d.Title)
		}
		fmt.Fprintf(&b, "\n![%s](%s)\n\n", d.Title, plotName(d))
		row(&b, d.head())
		fmt.Fprintln(&b, strings.Repeat("|--:", len(d.head()))+"|")
		for _, p := range curve.Points {
			row(&b, p.row(d))
		}
	}
	return b.String()
}

func row(b *bytes.Buffer, cells []string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}
