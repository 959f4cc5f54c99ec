// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a server's end of a link that carries so many bytes a second.
type slow struct {
	net.Conn
	rate int
}

func (s *slow) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b[:min(len(b), s.rate/10)])
	s.carry(n)
	return n, err
}

func (s *slow) Write(b []byte) (written int, err error) {
	for err == nil && len(b) > 0 {
		var n int
		n, err = s.Conn.Write(b[:min(len(b), s.rate/10)])
		s.carry(n)
		written += n
		b = b[n:]
	}
	return written, err
}

func (s *slow) carry(n int) {
	time.Sleep(time.Duration(float64(n) / float64(s.rate) * float64(time.Second))) // on the test's own clock
}

// overSlowLink makes a client of one server, and says how often it was dialled.
func overSlowLink(t *testing.T, rate int, timeout time.Duration, handle func(*session, *Command)) (c *Client, dials func() int) {
	t.Helper()
	srv := &server{t: t, addr: "b:1", handle: handle}
	c = newClient(t, Config{NameServers: "b:1", Timeout: timeout, Dial: func(context.Context, string) (net.Conn, error) {
		a, b := net.Pipe()
		srv.run(&slow{b, rate})
		return a, nil
	}})
	t.Cleanup(func() {
		c.Close()
		srv.cut()
		srv.wg.Wait()
	})
	return c, srv.connections
}

// A link that is never idle, and on which bytes move all the time, is not cut, however
// long there is something to send: what waited would be sent again, and stored twice.
func TestALinkThatIsBusyAllTheTimeIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const senders, size, rate = 30, 32 << 10, 512 << 10
		c, dials := overSlowLink(t, rate, 5*time.Second, func(s *session, cmd *Command) { s.reply(cmd, Command{}) })
		var all sync.WaitGroup
		begin := time.Now()
		for range senders {
			all.Go(func() {
				for time.Since(begin) < 35*time.Second {
					if _, err := c.do(t.Context(), request{op: operation{verb: "sending", queue: -1}, addr: "b:1", code: codeSendBatch, body: make([]byte, size)}); err != nil {
						t.Errorf("after %v: %v", time.Since(begin), err)
						return
					}
				}
			})
		}
		all.Wait()
		if n := dials(); n != 1 {
			t.Errorf("dialled %d times, want once", n)
		}
	})
}

// Frames that take longer than either side may be silent come through if their
// callers wait.
func TestAFrameMayTakeItsTimeWhileBytesMove(t *testing.T) {
	const long = 4 << 20 // 16 s at 250 kB/s
	for _, tt := range []struct {
		name            string
		request, answer int
	}{{"a long request", long, 0}, {"a long answer", 0, long}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := overSlowLink(t, 250_000, 40*time.Second, func(s *session, cmd *Command) { s.reply(cmd, Command{Body: make([]byte, tt.answer)}) })
				got, err := c.do(t.Context(), request{op: operation{verb: "pulling", queue: -1}, addr: "b:1", code: codePull, body: make([]byte, tt.request)})
				if err != nil || len(got.Body) != tt.answer {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// A server that stops in the middle of a frame is given up.
func TestAFrameOfWhichNothingMoreComesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := overSlowLink(t, 1<<20, time.Hour, func(s *session, cmd *Command) {
			f := frame(t, cmd, Command{Body: make([]byte, 100)})
			s.raw(f[:len(f)-1])
		})
		at := time.Now()
		_, err := c.do(t.Context(), request{op: operation{verb: "pulling", queue: -1}, addr: "b:1", code: codePull})
		if took := time.Since(at); !errors.Is(err, os.ErrDeadlineExceeded) || took < frameTimeout || took > frameTimeout+time.Second {
			t.Errorf("got %v after %v, want a timeout after %v", err, took, frameTimeout)
		}
	})
}
