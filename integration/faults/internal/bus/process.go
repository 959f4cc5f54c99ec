// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
)

// Variable is the environment variable that makes a program, which calls [Run]
// first of all, a broker; it holds [Names] in JSON.
const Variable = "ROCKETMQ_BEAM_FAULTS_BROKER"

// Run does nothing unless the environment asks for a broker. Then it is one
// until standard input ends, and ends the process. Requests come on standard
// input, answers go to standard output.
func Run() {
	text, asked := os.LookupEnv(Variable)
	if !asked {
		return
	}
	var n Names
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		fmt.Fprintf(os.Stderr, "broker: %s: %v\n", Variable, err)
		os.Exit(1)
	}
	b := NewEmbedded(context.Background(), n)
	defer b.Broker.Close()
	server := rpc.NewServer()
	if err := server.RegisterName(service, &Service{b}); err != nil {
		panic(err) // the methods of Service do not fit; nothing at run time decides that
	}
	server.ServeConn(pipes{os.Stdin, os.Stdout})
	os.Exit(0)
}

const service = "Broker"

// pipes makes one connection of two.
type pipes struct {
	io.ReadCloser
	out io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p pipes) Close() error { return errors.Join(p.ReadCloser.Close(), p.out.Close()) }

// Service is what the process of a broker answers to. It is exported because
// net/rpc finds only such types.
type Service struct{ b *Embedded }

// None is an empty request or answer.
type None struct{}

// ToPublish is a message.
type ToPublish struct {
	LiteTopic string
	Body      []byte
}

// Endpoints answers where the broker listens.
func (s *Service) Endpoints(_ None, answer *string) error {
	*answer = s.b.Endpoints()
	return nil
}

// NameServer answers where the name server of the remoting side listens.
func (s *Service) NameServer(_ None, answer *string) error {
	*answer = s.b.NameServer()
	return nil
}

// Publish stores a message and answers its id.
func (s *Service) Publish(m ToPublish, id *string) (err error) {
	*id, err = s.b.Publish(context.Background(), m.LiteTopic, m.Body)
	return err
}

// RestartProxy restarts the proxy.
func (s *Service) RestartProxy(None, *None) error { return s.b.RestartProxy(context.Background()) }

// AwaitAcked answers when nothing is pending.
func (s *Service) AwaitAcked(None, *None) error { return s.b.AwaitAcked(context.Background()) }

// Pending answers how many messages are not acked.
func (s *Service) Pending(_ None, n *int) error {
	*n = s.b.PendingIn(s.b.names.Topic, s.b.names.Group)
	return nil
}

// Audit answers what became of the messages.
func (s *Service) Audit(_ None, a *Account) (err error) {
	*a, err = s.b.Audit(context.Background(), nil)
	return err
}

// Process is an embedded broker in a process of its own.
type Process struct {
	cmd       *exec.Cmd
	client    *rpc.Client
	endpoints string
}

var _ = []Bus{(*Embedded)(nil), (*Process)(nil), (*Real)(nil)}

// NewProcess starts one: this program once more, whose main or TestMain must
// call [Run].
func NewProcess(n Names) (*Process, error) {
	config, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("starting a broker: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a broker: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), Variable+"="+string(config))
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, fmt.Errorf("starting a broker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a broker: %w", err)
	}
	p := &Process{cmd: cmd, client: rpc.NewClient(pipes{out, in})}
	if err := p.client.Call(service+".Endpoints", None{}, &p.endpoints); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a broker: %w", err), p.Close())
	}
	return p, nil
}

// call asks the process, for as long as ctx lasts.
func (p *Process) call(ctx context.Context, method string, request, answer any) error {
	c := p.client.Go(service+"."+method, request, answer, make(chan *rpc.Call, 1))
	select {
	case <-c.Done:
		return c.Error
	case <-ctx.Done():
		return fmt.Errorf("asking the broker's process (%s): %w", method, context.Cause(ctx))
	}
}

// Endpoints is that of [Bus].
func (p *Process) Endpoints() string { return p.endpoints }

// NameServer is where the name server of the remoting side listens.
func (p *Process) NameServer() (string, error) {
	var addr string
	err := p.client.Call(service+".NameServer", None{}, &addr)
	return addr, err
}

// Publish is that of [Bus].
func (p *Process) Publish(ctx context.Context, liteTopic string, body []byte) (string, error) {
	var id string
	err := p.call(ctx, "Publish", ToPublish{liteTopic, body}, &id)
	return id, err
}

// RestartProxy is that of [Bus].
func (p *Process) RestartProxy(ctx context.Context) error {
	return p.call(ctx, "RestartProxy", None{}, &None{})
}

// AwaitAcked is that of [Bus].
func (p *Process) AwaitAcked(ctx context.Context) error {
	err := p.call(ctx, "AwaitAcked", None{}, &None{})
	if err != nil {
		var n int
		_ = p.client.Call(service+".Pending", None{}, &n) // only for the text
		return fmt.Errorf("waiting for acks, %d messages pending: %w", n, err)
	}
	return nil
}

// Audit is that of [Bus].
func (p *Process) Audit(ctx context.Context, _ []string) (Account, error) {
	var a Account
	err := p.call(ctx, "Audit", None{}, &a)
	return a, err
}

// Close ends the process.
func (p *Process) Close() error {
	_ = p.client.Close() // ends its standard input, upon which it ends
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the broker's process: %w", err)
	}
	return nil
}
