// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestALockIsHeldByOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v while the lock is held, want a deadline", err)
	}
	unlock()
	unlock, err = lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestChosenPortsAreFreeAndDifferent(t *testing.T) {
	p, err := choosePorts(0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range []int{p.nameServer, p.broker, p.broker - 2, p.ha, p.grpc, p.remoting} {
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			t.Errorf("port %d: %v", port, err)
			continue
		}
		l.Close()
		if seen[port] {
			t.Errorf("port %d was chosen twice", port)
		}
		seen[port] = true
	}
}

func TestAMarkerIsSeenThoughAWriteCutsIt(t *testing.T) {
	f, err := openLog(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &readyLog{file: f, marker: []byte("boot success"), seen: make(chan struct{})}
	for _, part := range []string{"The broker bo", "", "ot suc", "cess. And boot success again"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-l.seen:
	default:
		t.Error("the marker was not seen")
	}
}

func TestHostileAnswersAreErrors(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":                         "",
		"a size of nothing":               "\x00\x00\x00\x00",
		"a size beyond reason":            "\x7f\xff\xff\xff",
		"less than its size":              "\x00\x00\x00\x10ab",
		"a header longer than the answer": "\x00\x00\x00\x06\x00\x00\x00\x09{}",
		"a header that is not JSON":       "\x00\x00\x00\x06\x00\x00\x00\x02ab",
	} {
		t.Run(name, func(t *testing.T) {
			if h, _, err := readAnswer(strings.NewReader(answer)); err == nil {
				t.Errorf("got %v and no error", h)
			}
		})
	}
}

func TestARequestReadsBackAsItWasWritten(t *testing.T) {
	var b bytes.Buffer
	if err := writeRequest(&b, codeCreateTopic, map[string]string{"topic": "t"}, []byte("body")); err != nil {
		t.Fatal(err)
	}
	h, body, err := readAnswer(&b)
	if err != nil || h.Code != codeCreateTopic || h.ExtFields["topic"] != "t" || string(body) != "body" {
		t.Errorf("got %v, %q, %v", h, body, err)
	}
}

func TestATakenPortIsReadOffTheOutput(t *testing.T) {
	logs := t.TempDir()
	s := broker(t.TempDir(), "1g")
	var out strings.Builder
	out.WriteString("java.net.BindException: Address already in use\n")
	for range 100 {
		out.WriteString("\tat io.netty.channel.nio.NioEventLoop.run(NioEventLoop.java:569)\n")
	}
	if err := os.WriteFile(s.output(logs), []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	err := fmt.Errorf("wrapped: %w", s.failed(logs, errors.New("ended")))
	if !portTaken(err) || serverOf(err) != brokerName {
		t.Errorf("got server %q, port taken %v of %v, want broker and true", serverOf(err), portTaken(err), err)
	}
	if portTaken(errors.New("Address already in use, says another error")) {
		t.Error("got true for an error that is not of a server")
	}
}

func TestJavaVersionsAreRead(t *testing.T) {
	for out, want := range map[string]string{
		`openjdk version "17.0.15" 2025-04-15`: "17",
		`java version "1.8.0_292"`:             "1",
		`openjdk version "21" 2023-09-19`:      "21",
		`openjdk version "25-ea" 2025-09-16`:   "25",
	} {
		if m := javaVersion.FindStringSubmatch(out); m == nil || m[1] != want {
			t.Errorf("%s: got %q, want %s", out, m, want)
		}
	}
}
