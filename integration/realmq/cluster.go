// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/javaserver"
)

const (
	// startTimeout bounds the start of the three servers, which take 5 to 25
	// seconds on two cores.
	startTimeout = 2 * time.Minute
	// portTries bounds how often the servers are started with other ports.
	portTries = 4
	// closeGrace is what a server gets to end by itself at Close. It is short
	// because nothing of it is kept; a proxy left alone takes 17 seconds.
	closeGrace = 500 * time.Millisecond
)

// Cluster is a running RocketMQ: one name server, one broker and one proxy.
// Its methods may be used from several goroutines.
type Cluster struct {
	cfg    *config
	ports  ports        // but for the broker's, see broker
	broker atomic.Int32 // the broker's port, which MoveBroker changes
	m      *machine

	mu     sync.Mutex // held while servers are started and stopped
	ns     *server
	bk     *server
	px     *server
	topics map[string]bool // created here; a restart waits for their routes
	keep   bool
	closed bool
}

// Start starts a cluster and waits until it takes requests. The context
// bounds the start, not the life, of the cluster. On failure everything that
// was started is stopped, and the error holds the last lines of the log of
// the server that failed. Where a tool is missing the error is a [*Missing].
func Start(ctx context.Context, opts ...Option) (*Cluster, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	j, err := javaserver.FindJava(jars.Server, minJava)
	if err != nil {
		return nil, err
	}
	lib, err := jars.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	cp, err := jars.Classpath(lib)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		c, err := startOnce(ctx, cfg, j, lib, cp)
		if err == nil || try == portTries || !portTaken(err) || cfg.brokerPort != 0 && serverOf(err) == brokerName {
			return c, err
		}
	}
}

// startOnce starts a cluster on newly chosen ports.
func startOnce(ctx context.Context, cfg *config, j *javaserver.Java, lib, cp string) (*Cluster, error) {
	p, err := choosePorts(cfg.brokerPort)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "realmq-")
	if err != nil {
		return nil, fmt.Errorf("scratch folder: %w", err)
	}
	c := newCluster(cfg, p, &machine{java: j, classpath: cp, dir: dir,
		logs: filepath.Join(dir, "logs"), spawner: javaserver.NewSpawner()})
	for _, s := range c.servers() {
		s.archive = javaserver.NewArchive(j, lib, s.name)
	}
	if err := c.boot(ctx); err != nil {
		return nil, errors.Join(err, c.close(false))
	}
	return c, nil
}

func newCluster(cfg *config, p ports, m *machine) *Cluster {
	c := &Cluster{cfg: cfg, ports: p, m: m, topics: map[string]bool{},
		ns: nameServer(m.dir, cfg.heap[0]), bk: broker(m.dir, cfg.heap[1]), px: proxy(m.dir, cfg.heap[2])}
	c.broker.Store(int32(p.broker))
	return c
}

// boot starts name server and broker side by side, and the proxy once the
// broker is registered: a proxy that finds no broker ends at once.
func (c *Cluster) boot(ctx context.Context) error {
	if err := os.MkdirAll(c.m.logs, 0o755); err != nil {
		return fmt.Errorf("folder of logs: %w", err)
	}
	if err := writeSettings(c.m.dir, c.ports, c.cfg); err != nil {
		return err
	}
	both := make(chan error, 2)
	for _, s := range []*server{c.ns, c.bk} {
		go func() { both <- s.start(ctx, c.m) }()
	}
	if err := errors.Join(<-both, <-both); err != nil {
		return err
	}
	if err := c.awaitBroker(ctx); err != nil {
		return err
	}
	if err := c.px.start(ctx, c.m); err != nil {
		return err
	}
	return c.awaitProxy(ctx)
}

// servers lists the three servers in the order in which they are stopped.
func (c *Cluster) servers() []*server { return []*server{c.px, c.bk, c.ns} }

// Endpoints is the address of the proxy for gRPC clients, "127.0.0.1:port".
func (c *Cluster) Endpoints() string { return loopback(c.ports.grpc) }

// NameServer is the address of the name server for remoting clients.
func (c *Cluster) NameServer() string { return loopback(c.ports.nameServer) }

// BrokerAddr is the address of the broker for remoting clients.
func (c *Cluster) BrokerAddr() string { return loopback(int(c.broker.Load())) }

// ProxyRemotingAddr is the address of the proxy for remoting clients.
func (c *Cluster) ProxyRemotingAddr() string { return loopback(c.ports.remoting) }

// Logs is the folder of the servers' output (namesrv.out, broker.out,
// proxy.out) and of their own logs (rocketmqlogs).
func (c *Cluster) Logs() string { return c.m.logs }

// KeepLogs makes Close keep the scratch folder. A test calls it when it fails.
func (c *Cluster) KeepLogs() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = true
}

// Close stops the servers, by SIGTERM and after half a second by SIGKILL,
// waits until they are gone, and removes the scratch folder unless it is to
// be kept. A second call does nothing. The first Close of an account takes
// some seconds longer: it keeps the loaded classes for faster starts.
func (c *Cluster) Close() error {
	return c.close(true)
}

func (c *Cluster) close(dump bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if dump {
		c.dumpArchives()
	}
	var wg sync.WaitGroup
	for _, s := range c.servers() {
		if s.proc != nil {
			wg.Go(func() { s.proc.Stop(closeGrace) })
		}
	}
	wg.Wait()
	c.m.spawner.Close()
	if c.keep {
		return nil
	}
	if err := os.RemoveAll(c.m.dir); err != nil {
		return fmt.Errorf("removing the scratch folder: %w", err)
	}
	return nil
}
