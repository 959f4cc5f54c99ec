// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package flink

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

//go:embed pom.xml
var pom []byte

var jars = &javaserver.Jars{Server: "Flink job server", Folder: "beam-flink-1.19-2.62.0", POM: pom, Sign: "beam-runners-flink-*.jar"}

const (
	// minJava is the oldest Java that the flags used here fit.
	minJava = 17
	// startTimeout bounds the start, which takes 2 to 10 seconds on two cores.
	startTimeout = 90 * time.Second
	// portTries bounds how often the server is started with another port.
	portTries = 4
	// closeGrace is what the server gets to end by itself at Close. Nothing of it
	// is kept.
	closeGrace = 300 * time.Millisecond
	// marker is in its output when it takes jobs.
	marker = "JobService started on"
)

// Missing tells which tool is missing or too old to start a job server here.
type Missing = javaserver.Missing

// Available returns nil if a job server can be started here, and a [*Missing]
// that names the first missing tool otherwise. Maven is needed only as long as
// the jars are not in the cache folder.
func Available() error {
	if _, err := javaserver.FindJava(jars.Server, minJava); err != nil {
		return err
	}
	return jars.Available()
}

// Server is a running job server.
type Server struct {
	port    int
	dir     string
	proc    *javaserver.Process
	spawner *javaserver.Spawner
	archive *javaserver.Archive

	mu     sync.Mutex
	keep   bool
	closed bool
}

// Option changes how a server is started.
type Option func(*config)

type config struct {
	heap string
	conf map[string]string
}

// Heap sets the largest heap in the JVM's notation. Default: 1g.
func Heap(size string) Option { return func(c *config) { c.heap = size } }

// FlinkConf sets an option of Flink itself, such as
// FlinkConf("taskmanager.memory.network.max", "256m").
func FlinkConf(key, value string) Option { return func(c *config) { c.conf[key] = value } }

// Start starts a job server and waits until it takes jobs. The context bounds
// the start, not the life, of the server. Where a tool is missing the error is a
// [*Missing]; the error of a server that did not come up holds its last words.
func Start(ctx context.Context, opts ...Option) (*Server, error) {
	cfg := &config{heap: "1g", conf: map[string]string{}}
	for _, opt := range opts {
		opt(cfg)
	}
	java, err := javaserver.FindJava(jars.Server, minJava)
	if err != nil {
		return nil, err
	}
	lib, err := jars.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	classpath, err := jars.Classpath(lib)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		s, err := startOnce(ctx, cfg, java, lib, classpath)
		if err == nil || try == portTries || !javaserver.PortTaken(err.Error()) {
			return s, err
		}
	}
}

// startOnce starts a server on a newly chosen port.
func startOnce(ctx context.Context, cfg *config, java *javaserver.Java, lib, classpath string) (*Server, error) {
	port, err := new(javaserver.Ports).Free(0)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "flink-")
	if err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	s := &Server{port: port, dir: dir, spawner: javaserver.NewSpawner(), archive: javaserver.NewArchive(java, lib, "job-server")}
	if err := s.boot(ctx, cfg, java, classpath); err != nil {
		tail := javaserver.Tail(s.output(), 25)
		return nil, errors.Join(fmt.Errorf("starting the Flink job server: %w; last lines of its output:\n%s", err, tail), s.end(false))
	}
	return s, nil
}

func (s *Server) boot(ctx context.Context, cfg *config, java *javaserver.Java, classpath string) error {
	if err := s.configure(cfg); err != nil {
		return err
	}
	cmd := exec.Command(java.Path, s.command(cfg, classpath)...)
	cmd.Dir = s.dir
	var err error
	if s.proc, err = javaserver.StartProcess(s.spawner, cmd, s.output(), marker); err != nil {
		return err
	}
	select {
	case <-s.proc.Ready():
		return nil
	case <-s.proc.Done():
		return fmt.Errorf("it ended before it was ready: %w", s.proc.End())
	case <-ctx.Done():
		return fmt.Errorf("it was not ready in time: %w", context.Cause(ctx))
	}
}

func (s *Server) command(cfg *config, classpath string) []string {
	args := []string{"-Xms128m", "-Xmx" + cfg.heap, "-XX:+UseSerialGC"}
	// Flink's serializers look into classes of the JDK.
	for _, opened := range []string{"java.lang", "java.util", "java.nio", "java.time"} {
		args = append(args, "--add-opens=java.base/"+opened+"=ALL-UNNAMED")
	}
	args = append(args, s.archive.Flags()...)
	return append(args, "-Djava.io.tmpdir="+s.dir, "-Duser.home="+s.dir,
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=info", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", classpath, "org.apache.beam.runners.flink.FlinkJobServerDriver",
		"--job-host=127.0.0.1", fmt.Sprintf("--job-port=%d", s.port), "--artifact-port=0", "--expansion-port=0",
		"--artifacts-dir="+filepath.Join(s.dir, "artifacts"), "--flink-master=[local]", "--flink-conf-dir="+s.confDir())
}

// configure writes Flink's own settings.
func (s *Server) configure(cfg *config) error {
	conf := map[string]string{
		"rest.address": "127.0.0.1", "rest.bind-address": "127.0.0.1",
		"io.tmp.dirs": s.dir,
	}
	maps.Copy(conf, cfg.conf)
	return writeConf(s.confDir(), conf)
}

func writeConf(dir string, conf map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("settings of Flink: %w", err)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		fmt.Fprintf(&b, "%s: %s\n", key, conf[key])
	}
	if err := os.WriteFile(filepath.Join(dir, "flink-conf.yaml"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("settings of Flink: %w", err)
	}
	return nil
}

func (s *Server) confDir() string { return filepath.Join(s.dir, "conf") }
func (s *Server) output() string  { return filepath.Join(s.dir, "job-server.out") }

// Endpoint is the address of the job service, "127.0.0.1:port".
func (s *Server) Endpoint() string { return javaserver.Loopback(s.port) }

// Log is the file that the server's output goes to.
func (s *Server) Log() string { return s.output() }

// Dir is the server's scratch folder, for what a job shares with it, such as
// checkpoints.
func (s *Server) Dir() string { return s.dir }

// KeepLogs makes Close keep the scratch folder. A test calls it when it fails.
func (s *Server) KeepLogs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = true
}

// Kill ends the server, with the clusters in it, by SIGKILL. Close is still to be
// called.
func (s *Server) Kill() { s.proc.Stop(0) }

// Close ends the server with all jobs, waits until it is gone, and removes the
// scratch folder unless it is to be kept. A second call does nothing. The first
// Close of an account takes some seconds longer: it keeps the loaded classes for
// faster starts.
func (s *Server) Close() error { return s.end(true) }

func (s *Server) end(dump bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.proc != nil {
		if dump && s.proc.Running() {
			ctx, cancel := context.WithTimeout(context.Background(), javaserver.DumpTimeout)
			s.archive.Dump(ctx, s.proc.PID())
			cancel()
		}
		s.proc.Stop(closeGrace)
	}
	s.spawner.Close()
	if s.keep {
		return nil
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("removing the scratch folder: %w", err)
	}
	return nil
}
