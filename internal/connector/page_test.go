// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/table-options.md anew")

const page = "../../docs/table-options.md"

func TestThePageOfOptionsIsUpToDate(t *testing.T) {
	if *update {
		if err := os.WriteFile(page, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Page(), string(got)); d != "" {
		t.Errorf("docs/table-options.md is not what the keys say, go generate ./internal/connector writes it (-want +got):\n%s", d)
	}
}
