// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
)

// Broker is a running in-process RocketMQ.
//
// All methods are safe for concurrent use and, but for Close, also from inside a
// control function.
type Broker struct {
	core    *core
	cfg     *config
	proxies []*proxy
	// endpoints are the name server and then, broker by broker, its master and
	// its slaves.
	endpoints []*endpoint
	controls  controls
	faults    faults
	counts    counts
	ids       publishedIDs
	demanded  atomic.Pointer[credentialPair] // set by RequireCredentials

	closing   sync.Once
	stopWatch atomic.Pointer[func() bool] // ends the watch of the context given to Start
}

// Start starts a broker and returns when it accepts connections. It ends when
// ctx is done or Close is called, whichever comes first.
//
// Like httptest.NewServer it panics, with a text that says why, if an option is
// wrong or it cannot listen: there is nothing that a test could do about it.
func Start(ctx context.Context, opts ...Option) *Broker {
	cfg, err := resolve(opts)
	if err != nil {
		panic("embedded.Start: " + err.Error())
	}
	b := &Broker{cfg: cfg, core: newCore(cfg), ids: publishedIDs{broker: rand.Uint64()}}
	b.core.onUnsubscribe = b.notifyUnsubscribe
	for i := range cfg.proxies {
		p := newProxy(b, i)
		if err := p.listen(cfg.listen); err != nil {
			b.Close()
			panic("embedded.Start: " + err.Error())
		}
		b.proxies = append(b.proxies, p)
	}
	if err := b.startEndpoints(); err != nil {
		b.Close()
		panic("embedded.Start: " + err.Error())
	}
	for _, p := range b.proxies {
		p.serve()
	}
	stop := context.AfterFunc(ctx, b.Close) // may run at once
	b.stopWatch.Store(&stop)
	return b
}

// Endpoints returns where the broker listens, "127.0.0.1:port"; with several
// proxies their addresses separated by semicolons.
func (b *Broker) Endpoints() string {
	addrs := make([]string, len(b.proxies))
	for i, p := range b.proxies {
		addrs[i] = p.addr
	}
	return strings.Join(addrs, ";")
}

// startEndpoints starts the name server and the brokers of the remoting side.
func (b *Broker) startEndpoints() error {
	b.endpoints = append(b.endpoints, newEndpoint(b, "name server", -1, 0))
	for i, name := range b.cfg.brokers {
		for id := range b.cfg.slaves + 1 {
			e := newEndpoint(b, name, i, int64(id))
			b.endpoints = append(b.endpoints, e)
		}
	}
	for _, e := range b.endpoints {
		if err := e.start("127.0.0.1:0"); err != nil {
			return err
		}
	}
	return nil
}

// endpointsOf are the master and the slaves of a broker.
func (b *Broker) endpointsOf(broker int) []*endpoint {
	n := b.cfg.slaves + 1
	return b.endpoints[1+broker*n : 1+(broker+1)*n]
}

// NameServer returns where the name server of the remoting side listens,
// "127.0.0.1:port".
func (b *Broker) NameServer() string { return b.endpoints[0].address() }

// BrokerAddr returns where the first broker's remoting side listens,
// "127.0.0.1:port".
func (b *Broker) BrokerAddr() string { return b.BrokerAddrOf(b.cfg.brokers[0]) }

// BrokerAddrOf returns where a broker listens, by its name.
func (b *Broker) BrokerAddrOf(name string) string { return b.master(name).address() }

// Close ends the broker: connections are cut, long polls and control functions'
// delays end, and no goroutine of it is left when Close returns. Only a control
// function that does not return holds it up, so it must not be called from one.
// Closing twice does nothing.
func (b *Broker) Close() {
	b.closing.Do(func() {
		if stop := b.stopWatch.Load(); stop != nil {
			(*stop)()
		}
		b.core.close()
		for _, e := range b.endpoints {
			e.stop()
		}
		for _, p := range b.proxies {
			p.retire()
		}
		for _, p := range b.proxies {
			p.drain()
		}
		for _, e := range b.endpoints {
			e.drain()
		}
		b.core.strays.Wait()
	})
}
