// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wire is a TCP relay that can be a bad network.
package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Relay forwards connections to one address.
type Relay struct {
	listener net.Listener
	target   string
	ctx      context.Context
	end      context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	latency time.Duration
	loss    float64       // probability
	rng     *rand.Rand    // of losses, from a seed
	rate    int           // bytes a second and direction, 0 for any
	open    chan struct{} // closed while traffic passes
	conns   map[net.Conn]bool
	strand  chan struct{} // closed when the connections of now are to fall silent
}

// New starts a relay to target on a free loopback port.
func New(target string) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("relay to %s: %w", target, err)
	}
	r := &Relay{listener: l, target: target, open: make(chan struct{}), strand: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(r.open)
	r.ctx, r.end = context.WithCancel(context.Background())
	r.running.Go(r.accept)
	return r, nil
}

// Addr is where it listens.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Slow delays what is sent from now on by latency in each direction, and lets
// through rate bytes a second, connection and direction; 0 for any.
func (r *Relay) Slow(latency time.Duration, rate int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latency, r.rate = latency, rate
}

// loseAgain is how long TCP waits at first before it sends again what was lost.
const loseAgain = 200 * time.Millisecond

// Lose makes each piece that is sent from now on get lost with this probability.
// TCP sends it again after 200 ms, so that everything behind it waits as long.
func (r *Relay) Lose(probability float64, rng *rand.Rand) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loss, r.rng = probability, rng
}

// Hold stops all traffic, without closing anything, until Release. What is sent
// meanwhile arrives then, as TCP sends it again when a network is back.
func (r *Relay) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.open:
		r.open = make(chan struct{})
	default:
	}
}

// Release ends Hold.
func (r *Relay) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.open:
	default:
		close(r.open)
	}
}

// Strand makes the connections of now half open: nothing that is sent on them
// arrives any more, and they are not closed. New connections work.
func (r *Relay) Strand() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.strand)
	r.strand = make(chan struct{})
}

// Close closes everything and waits for it.
func (r *Relay) Close() {
	r.end()
	_ = r.listener.Close()
	r.mu.Lock()
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

func (r *Relay) accept() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.running.Go(func() { r.forward(c) })
	}
}

// keep enters a connection, unless the relay is closed.
func (r *Relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	r.conns[c] = true
	return true
}

func (r *Relay) drop(c net.Conn) {
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
	_ = c.Close()
}

// forward relays one connection until one side closes.
func (r *Relay) forward(client net.Conn) {
	defer r.drop(client)
	r.mu.Lock()
	strand := r.strand
	r.mu.Unlock()
	var d net.Dialer
	server, err := d.DialContext(r.ctx, "tcp", r.target)
	if err != nil {
		return
	}
	defer r.drop(server)
	if !r.keep(client) || !r.keep(server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { r.pipe(server, client, strand) })
	both.Go(func() { r.pipe(client, server, strand) })
	both.Wait()
}

// piece is what was read at once, and when it may be written.
type piece struct {
	data []byte
	due  time.Time
}

// pipe copies from src to dst and then closes dst.
func (r *Relay) pipe(dst, src net.Conn, strand <-chan struct{}) {
	defer dst.Close()
	const far = 1024
	onTheWay := make(chan piece, far)
	r.running.Go(func() {
		defer close(onTheWay)
		buf := make([]byte, 16<<10)
		for {
			n, err := src.Read(buf)
			if n > 0 {
				select {
				case onTheWay <- r.piece(buf[:n]):
				case <-r.ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for p := range onTheWay {
		if err := r.pass(p, strand); err != nil {
			_ = src.Close()
			continue // until the reader has noticed
		}
		if _, err := dst.Write(p.data); err != nil {
			_ = src.Close()
		}
	}
}

func (r *Relay) piece(data []byte) piece {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := r.latency
	if r.rate > 0 {
		wait += time.Duration(float64(len(data)) / float64(r.rate) * float64(time.Second))
	}
	if r.loss > 0 && r.rng.Float64() < r.loss {
		wait += loseAgain
	}
	return piece{data: append([]byte(nil), data...), due: time.Now().Add(wait)}
}

var errStranded = errors.New("stranded")

// pass waits until a piece may be written. A stranded one waits until the relay
// closes.
func (r *Relay) pass(p piece, strand <-chan struct{}) error {
	r.mu.Lock()
	open := r.open
	r.mu.Unlock()
	timer := time.NewTimer(time.Until(p.due))
	defer timer.Stop()
	for _, ready := range []func() bool{
		func() bool { return wait(r.ctx, timer.C, strand) },
		func() bool { return wait(r.ctx, open, strand) },
	} {
		if !ready() {
			<-r.ctx.Done()
			return errStranded
		}
	}
	select {
	case <-strand:
		<-r.ctx.Done()
		return errStranded
	default:
		return nil
	}
}

// wait says whether c came before the end and before stranding.
func wait[T any](ctx context.Context, c <-chan T, strand <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-strand:
		return false
	case <-ctx.Done():
		return false
	}
}
