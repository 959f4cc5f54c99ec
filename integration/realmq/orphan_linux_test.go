// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package realmq_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

const orphanEnv = "REALMQ_TEST_ORPHAN"

// TestTheServersDieWithAKilledParent starts itself in another process, which
// starts a cluster, and kills that process by SIGKILL.
func TestTheServersDieWithAKilledParent(t *testing.T) {
	if os.Getenv(orphanEnv) != "" {
		beOrphanMaker()
	}
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	realmqtest.Shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), orphanEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	dir, ok := strings.CutPrefix(strings.TrimSpace(line), "started ")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil || !ok {
		t.Fatalf("got %q, %v from the other process, want the folder of its cluster", line, err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for len(processesUsing(t, dir)) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("got processes %q, want none", processesUsing(t, dir))
		}
	}
}

// beOrphanMaker starts a cluster and waits to be killed.
func beOrphanMaker() {
	mq, err := realmq.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started", filepath.Dir(mq.Logs()))
	select {}
}
