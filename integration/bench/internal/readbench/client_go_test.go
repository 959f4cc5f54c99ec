// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package readbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program stands for the one with rocketmq-client-go.
func program(t *testing.T, script string) *ClientGoProgram {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "client-go")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &ClientGoProgram{dir: dir, path: path, stderr: t.Output()}
}

func TestWhatTheProgramWithClientGoSaysIsChecked(t *testing.T) {
	b := &Backlog{NameServers: "ns:1", Topic: topic, Ends: []int64{60, 40}}
	for _, c := range []struct {
		name, script, want string
	}{
		{"all messages", `echo '{"messages":100,"seconds":0.5,"cpu_seconds":0.25,"calls":4}'`, ""},
		{"not all messages", `echo '{"messages":99}'`, "99 of 100 messages"},
		{"something else than JSON", "echo hello", "hello"},
		{"a failure", "exit 3", "exit status 3"},
		{"another home folder than the user's", `[ "$HOME" = "$PWD" ] && echo '{"messages":100,"seconds":0.5,"cpu_seconds":0.25,"calls":4}'`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, err := program(t, c.script).run(t.Context(), b)
			if got := fmt.Sprint(err); c.want != "" {
				if err == nil || !strings.Contains(got, c.want) || !strings.Contains(got, topic) {
					t.Errorf("got %v, want an error with %q and the topic", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if run.Messages != 100 || run.Elapsed != 500*time.Millisecond || run.CPU != 250*time.Millisecond || run.Calls != 4 {
				t.Errorf("got %+v", run)
			}
		})
	}
}

func TestAProgramThatDoesNotBuildIsAnErrorThatSaysWhy(t *testing.T) {
	_, err := BuildClientGo(t.Context(), t.TempDir(), t.Output())
	if err == nil || !strings.Contains(err.Error(), "building") {
		t.Errorf("got %v", err)
	}
}
