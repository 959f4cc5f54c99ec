// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

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
