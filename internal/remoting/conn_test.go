// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCallsThatGoWrong(t *testing.T) {
	ok := func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(42)) }
	for _, row := range []struct {
		name   string
		handle func(s *session, cmd *Command)
		class  Class
		is     error  // in the error's chain
		says   string // in the error's text
	}{
		{"a server that accepts and never answers (N04)", func(*session, *Command) {},
			Transient, context.DeadlineExceeded, "no answer within 300ms"},
		{"half a frame", func(s *session, cmd *Command) { b := frame(t, cmd, offsetAnswer(1)); s.raw(b[:len(b)/2]) },
			Transient, context.DeadlineExceeded, "no answer"},
		{"a length and nothing more", func(s *session, cmd *Command) { s.raw([]byte{0, 0, 1, 0}) },
			Transient, context.DeadlineExceeded, "no answer"},
		{"the answer to another request", func(s *session, cmd *Command) { other := *cmd; other.Opaque++; s.reply(&other, offsetAnswer(1)) },
			Transient, context.DeadlineExceeded, "no answer"},
		{"a connection that closes", func(s *session, cmd *Command) { s.nc.Close() },
			Transient, io.EOF, "the server closed the connection"},
		{"a connection that closes within a frame", func(s *session, cmd *Command) { b := frame(t, cmd, offsetAnswer(1)); s.raw(b[:9]); s.nc.Close() },
			Transient, io.ErrUnexpectedEOF, "the server closed the connection"},
		{"an HTTP server", func(s *session, cmd *Command) { s.raw([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
			Transient, ErrMalformed, "an HTTP server answered"},
		{"a TLS server", func(s *session, cmd *Command) { s.raw([]byte{0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46}) },
			Transient, ErrMalformed, "the server speaks TLS"},
		{"a frame of 2 GiB", func(s *session, cmd *Command) { s.raw([]byte{0x7f, 0xff, 0xff, 0xff}) },
			Transient, ErrMalformed, "want 4 to"},
		{"a header longer than its frame", func(s *session, cmd *Command) { s.raw([]byte{0, 0, 0, 8, 0, 0, 0, 5, '{', '}', 0, 0}) },
			Transient, ErrMalformed, "header of 5 bytes"},
		{"a header that is no JSON", func(s *session, cmd *Command) { s.raw([]byte{0, 0, 0, 6, 0, 0, 0, 2, '{', '{'}) },
			Transient, ErrMalformed, "header"},
		{"an answer without the field", func(s *session, cmd *Command) { s.reply(cmd, Command{}) },
			Transient, ErrMalformed, `offset=""`},
		{"an answer with a text for a number", func(s *session, cmd *Command) { s.reply(cmd, Command{Fields: map[string]string{"offset": "x"}}) },
			Transient, ErrMalformed, `offset="x"`},
		{"a negative offset is no offset", func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(-1)) },
			Transient, nil, "offset -1"},
		{"busy", func(s *session, cmd *Command) {
			s.reply(cmd, Command{Code: CodeSystemBusy, Remark: "[TIMEOUT_CLEAN_QUEUE]broker busy"})
		}, Throttled, nil, "SYSTEM_BUSY (2): [TIMEOUT_CLEAN_QUEUE]broker busy"},
		{"flow control", func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeFlowControl}) },
			Throttled, nil, "FLOW_CONTROL"},
		{"a stack trace", func(s *session, cmd *Command) {
			s.reply(cmd, Command{Code: CodeSystemError, Remark: "boom\n\tat java.lang"})
		}, Transient, nil, "boom"},
		{"signature of an old broker", func(s *session, cmd *Command) {
			s.reply(cmd, Command{Code: CodeSystemError, Remark: "org.apache.rocketmq.acl.common.AclException: no"})
		}, Permanent, nil, "check access key"},
		{"a code of tomorrow", func(s *session, cmd *Command) { s.reply(cmd, Command{Code: 4242, Remark: "?"}) },
			Transient, nil, "code 4242"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := oneBroker(t, row.handle)
			c := newClient(t, Config{NameServers: srv.addr, Timeout: 300 * time.Millisecond})
			must[*Route](t)(c.Route(t.Context(), "t"))
			at := time.Now()
			_, err := c.MaxOffset(t.Context(), testQueue)
			if took := time.Since(at); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			wantClass(t, err, row.class)
			if row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("%v is not %v", err, row.is)
			}
			for _, part := range []string{row.says, "topic t", "b/0"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			for _, conn := range c.connections() {
				if n := conn.waiting(); n != 0 {
					t.Errorf("%d requests are still pending (N09)", n)
				}
			}
			// The client itself is as good as new.
			srv.then(ok)
			eventually(t, "it works again", func() bool {
				got, err := c.MaxOffset(t.Context(), testQueue)
				return err == nil && got == 42
			})
		})
	}
}

// A server that is silent for a whole timeout may be gone: the next request
// gets a new connection, and what waits on the old one is not disturbed.
func TestSilentConnectionIsLeftToThoseWhoWait(t *testing.T) {
	var silent atomic.Bool
	silent.Store(true)
	release := make(chan struct{})
	srv := oneBroker(t, func(s *session, cmd *Command) {
		if cmd.Code == codePull {
			s.srv.wg.Go(func() {
				<-release
				s.reply(cmd, Command{Code: CodePullNotFound, Fields: map[string]string{"nextBeginOffset": "7", "minOffset": "0", "maxOffset": "7"}})
			})
		} else if !silent.Load() {
			s.reply(cmd, offsetAnswer(1))
		}
	})
	c := newClient(t, Config{NameServers: srv.addr, Timeout: 200 * time.Millisecond})
	must[*Route](t)(c.Route(t.Context(), "t"))
	done := make(chan error, 1)
	go func() {
		_, err := c.Pull(t.Context(), PullRequest{Queue: testQueue, Group: "g", Offset: 7, Suspend: 30 * time.Second})
		done <- err
	}()
	awaitPending(t, c, 1)
	_, err := c.MaxOffset(t.Context(), testQueue)
	wantClass(t, err, Transient)
	silent.Store(false)
	if got := must[int64](t)(c.MaxOffset(t.Context(), testQueue)); got != 1 || srv.connections() != 2 {
		t.Errorf("got %d over %d connections, want 1 over 2", got, srv.connections())
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the long poll: %v", err)
	}
}

// A caller's own deadline tells of a silent server as well, whatever its cause:
// else a sink, which has one, would send everything again over the dead
// connection.
func TestSilentConnectionIsLeftAfterACallersDeadline(t *testing.T) {
	var silent atomic.Bool
	silent.Store(true)
	srv := oneBroker(t, func(s *session, cmd *Command) {
		if !silent.Load() {
			s.reply(cmd, offsetAnswer(1))
		}
	})
	c := newClient(t, Config{NameServers: srv.addr, Timeout: 300 * time.Millisecond})
	must[*Route](t)(c.Route(t.Context(), "t"))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("the sink's own deadline"))
	defer cancel()
	if _, err := c.MaxOffset(ctx, testQueue); err == nil {
		t.Fatal("a silent server answered")
	}
	silent.Store(false)
	if got := must[int64](t)(c.MaxOffset(t.Context(), testQueue)); got != 1 || srv.connections() != 2 {
		t.Errorf("got %d over %d connections, want 1 over 2", got, srv.connections())
	}
}

func TestNothingIsLeftOfAbandonedCalls(t *testing.T) {
	srv := oneBroker(t, func(*session, *Command) {})
	c := newClient(t, Config{NameServers: srv.addr})
	must[*Route](t)(c.Route(t.Context(), "t"))
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				c.SendV2(ctx, testQueue, "p", &OutMessage{Body: make([]byte, 1000)})
				cancel()
			}
		})
	}
	wg.Wait()
	// A route that is read again, for a call went unanswered, outlives that call.
	eventually(t, "no request is pending (N09)", func() bool {
		for _, conn := range c.connections() {
			if conn.waiting() != 0 {
				return false
			}
		}
		return true
	})
	eventually(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+8 })
}

func TestManyCallsShareOneConnection(t *testing.T) {
	srv := oneBroker(t, func(s *session, cmd *Command) {
		id := cmd.Fields["queueId"]
		s.srv.wg.Go(func() { s.reply(cmd, Command{Fields: map[string]string{"offset": id}}) })
	})
	c := newClient(t, Config{NameServers: srv.addr})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			q := testQueue
			q.ID = i
			if got, err := c.MaxOffset(t.Context(), q); got != int64(i) || err != nil {
				t.Errorf("queue %d: got %d, %v", i, got, err)
			}
		})
	}
	wg.Wait()
	if n := srv.connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestGoAwayMovesToANewConnection(t *testing.T) {
	var asked atomic.Int32
	srv := oneBroker(t, func(s *session, cmd *Command) {
		if asked.Add(1) == 1 {
			s.reply(cmd, Command{Code: CodeGoAway, Remark: "please go away"})
			return
		}
		s.reply(cmd, offsetAnswer(5))
	})
	c := newClient(t, Config{NameServers: srv.addr})
	if got := must[int64](t)(c.MaxOffset(t.Context(), testQueue)); got != 5 || srv.connections() != 2 {
		t.Errorf("got %d over %d connections, want 5 over 2", got, srv.connections())
	}
	t.Run("a server that says it for ever", func(t *testing.T) {
		srv := oneBroker(t, func(s *session, cmd *Command) { s.reply(cmd, Command{Code: CodeGoAway}) })
		c := newClient(t, Config{NameServers: srv.addr})
		_, err := c.MaxOffset(t.Context(), testQueue)
		wantClass(t, err, Transient)
	})
}

func TestCloseEndsCallsAndGoroutines(t *testing.T) {
	for range 20 { // (N05)
		srv := oneBroker(t, func(*session, *Command) {})
		c := newClient(t, Config{NameServers: srv.addr})
		must[*Route](t)(c.Route(t.Context(), "t"))
		done := make(chan error, 1)
		go func() {
			_, err := c.Pull(t.Context(), PullRequest{Queue: testQueue, Group: "g", Suspend: 20 * time.Second})
			done <- err
		}()
		awaitPending(t, c, 1)
		at := time.Now()
		c.Close()
		if err := <-done; !errors.Is(err, ErrClosed) || time.Since(at) > time.Second {
			t.Fatalf("got %v after %v (X15)", err, time.Since(at))
		}
		c.Close()
		_, err := c.MaxOffset(t.Context(), testQueue)
		if wantClass(t, err, Permanent); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	}
}

func TestRequestsOfTheServer(t *testing.T) {
	type seen struct {
		from string
		code int
	}
	got := make(chan seen, 1)
	answers := make(chan *Command, 1)
	var srv *server
	srv = oneBroker(t, func(s *session, cmd *Command) {
		if cmd.IsAnswer() {
			answers <- cmd
			return
		}
		s.write(&Command{Code: 40, Flag: flagOneWay, Fields: map[string]string{"consumerGroup": "g"}})
		s.write(&Command{Code: 307, Opaque: 99})
		s.reply(cmd, offsetAnswer(1))
	})
	c := newClient(t, Config{NameServers: srv.addr, Handler: func(_ context.Context, from string, cmd *Command) *Command {
		if cmd.Code == 40 {
			got <- seen{from, cmd.Code}
		}
		return nil
	}})
	must[int64](t)(c.MaxOffset(t.Context(), testQueue))
	if s := <-got; s.from != srv.addr || s.code != 40 {
		t.Errorf("the handler saw %+v", s)
	}
	if a := <-answers; a.Opaque != 99 || a.Code != CodeRequestNotSupported {
		t.Errorf("the server was answered %+v, want code 3 to 99", a)
	}
}

// A handler that hangs must not hold up answers, however much a server asks.
func TestSlowHandlerDoesNotDelayAnswers(t *testing.T) {
	block := make(chan struct{})
	srv := oneBroker(t, func(s *session, cmd *Command) {
		for range 3 * maxHandled {
			s.write(&Command{Code: 40, Flag: flagOneWay})
		}
		s.reply(cmd, offsetAnswer(1))
	})
	c := newClient(t, Config{NameServers: srv.addr, Handler: func(ctx context.Context, _ string, _ *Command) *Command {
		select {
		case <-block:
		case <-ctx.Done():
		}
		return nil
	}})
	must[int64](t)(c.MaxOffset(t.Context(), testQueue))
	close(block)
}

func TestIdleConnectionsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newInMemory(t)
		release := make(chan struct{})
		srv := net.add("ns:1", func(s *session, cmd *Command) {
			if cmd.Code == codePull {
				<-release
				s.reply(cmd, Command{Code: CodePullNotFound, Fields: map[string]string{"nextBeginOffset": "0", "minOffset": "0", "maxOffset": "0"}})
				return
			}
			s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": {0: "ns:1"}}))
		})
		c, err := NewClient(Config{NameServers: "ns:1", Dial: net.dial, RouteAge: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		must[*Route](t)(c.Route(t.Context(), "t"))
		time.Sleep(59 * time.Second)
		if n := len(c.connections()); n != 1 {
			t.Errorf("after 59 s there are %d connections, want 1", n)
		}
		time.Sleep(2 * time.Second)
		if n := len(c.connections()); n != 0 {
			t.Errorf("after 61 s there are %d connections, want 0", n)
		}
		// A poll that takes longer than that keeps its connection.
		go func() {
			time.Sleep(3 * time.Minute)
			close(release)
		}()
		if _, err := c.Pull(t.Context(), PullRequest{Queue: testQueue, Group: "g", Suspend: 10 * time.Minute}); err != nil {
			t.Error(err)
		}
		if n := net.dialled("ns:1"); n != 2 {
			t.Errorf("dialled %d times, want 2", n)
		}
		srv.cut()
		synctest.Wait()
	})
}

// A server whose machine takes no more bytes.
func TestServerThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ends []net.Conn
		dials := 0
		c, err := NewClient(Config{NameServers: "ns:1", Dial: func(context.Context, string) (net.Conn, error) {
			dials++
			a, b := net.Pipe()
			ends = append(ends, b)
			return a, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		at := time.Now()
		if _, err := c.Route(ctx, "t"); !errors.Is(err, context.Canceled) || time.Since(at) != time.Second {
			t.Errorf("got %v after %v, want cancelled after 1 s", err, time.Since(at))
		}
		time.Sleep(writeTimeout)
		if n := len(c.connections()); n != 0 {
			t.Errorf("%d connections are left after the write's timeout (N04)", n)
		}
		for _, b := range ends {
			b.Close()
		}
	})
}

func TestServerThatIsDownIsNotDialledInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newInMemory(t)
		net.add("ns:1", func(s *session, cmd *Command) {
			s.reply(cmd, routeAnswer(1, map[string]map[int64]string{"b": {0: "b:1"}}))
		})
		c, err := NewClient(Config{NameServers: "ns:1", Dial: net.dial, RouteAge: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		at, calls := time.Now(), 0
		for time.Since(at) < time.Minute {
			if _, err := c.MaxOffset(t.Context(), testQueue); err == nil {
				t.Fatal("no error")
			}
			calls++
		}
		if n := net.dialled("b:1"); n < 20 || n > 60 || calls > 2*n {
			t.Errorf("%d calls and %d dials within a minute (X06b)", calls, n)
		}
		net.add("b:1", func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(9)) })
		at = time.Now()
		if got, err := c.MaxOffset(t.Context(), testQueue); got != 9 || err != nil || time.Since(at) > 2*lastPause {
			t.Errorf("when it is back: got %d, %v after %v", got, err, time.Since(at))
		}
		c.Close()
		net.remove("ns:1")
		net.remove("b:1")
		synctest.Wait()
	})
}

// The frames of callers who have left are not sent.
func TestAbandonedFramesAreNotSent(t *testing.T) {
	var seen bytes.Buffer
	srv := oneBroker(t, func(s *session, cmd *Command) {
		fmt.Fprint(&seen, cmd.Fields["queueId"], " ")
		s.reply(cmd, offsetAnswer(1))
	})
	c := newClient(t, Config{NameServers: srv.addr})
	must[int64](t)(c.MaxOffset(t.Context(), testQueue))
	conn := c.connections()[0]
	x := &exchange{opaque: -1, frame: []byte("garbage that would break the stream"), answer: make(chan *Command, 1)}
	x.state.Store(abandoned)
	conn.out <- x
	must[int64](t)(c.MaxOffset(t.Context(), Queue{Topic: "t", Broker: "b", ID: 3}))
	if d := cmp.Diff("0 3 ", seen.String()); d != "" || srv.connections() != 1 {
		t.Error(d)
	}
}

func TestStartAndStopUnderLoad(t *testing.T) {
	srv := oneBroker(t, func(s *session, cmd *Command) { s.reply(cmd, offsetAnswer(1)) })
	for range 30 {
		c := newClient(t, Config{NameServers: srv.addr})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					_, err := c.MaxOffset(t.Context(), testQueue)
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		eventually(t, "connected", func() bool { return len(c.connections()) > 0 })
		c.Close()
		wg.Wait()
	}
}
