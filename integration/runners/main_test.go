// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package runners

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/internal/portable"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// patience bounds what a test waits for; on two free cores it takes seconds.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	portable.Init(io.Discard, false)
	code := m.Run()
	closeShared()
	shutdown()
	if code == 0 {
		code = checkGoroutines()
	}
	os.Exit(code)
}

// shutdown closes what the transforms hold in this process.
func shutdown() {
	litegrpcio.Shutdown()
	ackfn.Shutdown()
	rocketmqio.Shutdown()
}

// checkGoroutines fails if one that runs this module's code is left. The job
// servers of prism, which cannot be stopped, leave many others, among them those
// of gRPC, so that goleak has no way to tell.
func checkGoroutines() int {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(15 * time.Second)
	for {
		var left []string
		for _, g := range strings.Split(allStacks(), "\n\n") {
			if strings.Contains(g, "rocketmq-beam/rocketmq-beam/") && !strings.Contains(g, "allStacks") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return 0
		}
		select {
		case <-ticker.C:
		case <-limit:
			fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
			return 1
		}
	}
}

func allStacks() string {
	buf := make([]byte, 16<<20)
	return string(buf[:runtime.Stack(buf, true)])
}
