// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race || plainbeam

package security

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/ackfn"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/litegrpcio"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// inner is set in the process that runs the tests.
const inner = "ROCKETMQ_BEAM_SECURITY_INNER"

// TestMain runs the tests in a process of their own and looks for secrets in all
// that it prints: the logs of this project, of Beam and of prism, and the errors.
func TestMain(m *testing.M) {
	if os.Getenv(inner) != "" {
		beam.Init()
		code := realmqtest.Wrap(m).Run()
		litegrpcio.Shutdown()
		rocketmqio.Shutdown()
		ackfn.Shutdown()
		os.Exit(code)
	}
	os.Exit(outer())
}

func outer() int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var printed printed
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), inner+"=1")
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &printed), io.MultiWriter(os.Stderr, &printed)
	code := 0
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the tests:", err)
		code = 1
	}
	for _, secret := range secrets() {
		if i := bytes.Index(printed.text, []byte(secret)); i >= 0 {
			line := printed.text[bytes.LastIndexByte(printed.text[:i], '\n')+1 : i]
			fmt.Fprintf(os.Stderr, "FAIL: a secret was printed, behind %q\n", line)
			code = 1
		}
	}
	return code
}

// printed keeps what two streams print.
type printed struct {
	mu   sync.Mutex
	text []byte
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = append(p.text, b...)
	return len(b), nil
}
