// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

const (
	nameServerFile = "namesrv.conf"
	brokerFile     = "broker.conf"
	proxyFile      = "proxy.json"

	brokerName = "broker"
)

// server is one of the three programs of a cluster. It keeps how it is
// started, so that it can be started again on the same ports.
type server struct {
	name    string // for messages and for its log file
	class   string
	args    []string
	heap    [2]string // at start, at most
	marker  string    // in its output when it is ready
	detail  string    // its own log below the folder of logs
	archive *javaserver.Archive
	proc    *javaserver.Process
}

func nameServer(dir, heap string) *server {
	return &server{name: "namesrv", class: "org.apache.rocketmq.namesrv.NamesrvStartup",
		args: []string{"-c", filepath.Join(dir, nameServerFile)}, heap: [2]string{"16m", heap},
		marker: "boot success", detail: "namesrv.log"}
}

func broker(dir, heap string) *server {
	return &server{name: brokerName, class: "org.apache.rocketmq.broker.BrokerStartup",
		args: []string{"-c", filepath.Join(dir, brokerFile)}, heap: [2]string{"128m", heap},
		marker: "boot success", detail: "broker.log"}
}

func proxy(dir, heap string) *server {
	return &server{name: "proxy", class: "org.apache.rocketmq.proxy.ProxyStartup",
		args: []string{"-pm", "cluster", "-pc", filepath.Join(dir, proxyFile)}, heap: [2]string{"64m", heap},
		marker: "startup successfully", detail: "proxy.log"}
}

// machine is what all servers of a cluster are started with.
type machine struct {
	java      *javaserver.Java
	classpath string
	dir       string
	logs      string
	spawner   *javaserver.Spawner
}

// start starts the server and waits until it says that it is ready.
func (s *server) start(ctx context.Context, m *machine) error {
	args := []string{"-Xms" + s.heap[0], "-Xmx" + s.heap[1], "-XX:+UseSerialGC",
		"--add-opens", "java.base/java.nio=ALL-UNNAMED",
		"--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED",
		// RocketMQ writes its logs below the home folder of the user.
		"-Duser.home=" + m.dir, "-Djava.io.tmpdir=" + m.dir}
	args = append(args, s.archive.Flags()...)
	args = append(args, "-cp", m.classpath, s.class)
	cmd := exec.Command(m.java.Path, append(args, s.args...)...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+m.dir)
	var err error
	s.proc, err = javaserver.StartProcess(m.spawner, cmd, s.output(m.logs), s.marker)
	if err != nil {
		return &startError{server: s.name, err: err}
	}
	select {
	case <-s.proc.Ready():
		return nil
	case <-s.proc.Done():
		return s.failed(m.logs, fmt.Errorf("it ended before it was ready: %w", s.proc.End()))
	case <-ctx.Done():
		return s.failed(m.logs, fmt.Errorf("it was not ready in time: %w", context.Cause(ctx)))
	}
}

func (s *server) output(logs string) string { return filepath.Join(logs, s.name+".out") }

// failed makes the error of a server that did not come up.
func (s *server) failed(logs string, err error) error {
	tail := javaserver.Tail(s.output(logs), 25)
	if detail := javaserver.Tail(filepath.Join(logs, "rocketmqlogs", s.detail), 8); detail != "" {
		tail += "\n-- " + s.detail + "\n" + detail
	}
	return &startError{server: s.name, tail: tail, err: err}
}

// startError tells which server did not come up, why, and its last words.
type startError struct {
	server string
	tail   string
	err    error
}

// Error names the server, the cause and the last lines of its output.
func (e *startError) Error() string {
	msg := fmt.Sprintf("starting RocketMQ: %s: %v", e.server, e.err)
	if e.tail != "" {
		msg += "; last lines of its output:\n" + e.tail
	}
	return msg
}

// Unwrap returns the cause.
func (e *startError) Unwrap() error { return e.err }
