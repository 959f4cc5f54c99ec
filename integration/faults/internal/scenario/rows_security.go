// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/integration/embedded"
	"github.com/rocketmq-beam/rocketmq-beam/integration/internal/testcert"
)

// refusalLasts is how long a broker refuses a worker's keys, or shows it a
// certificate that it must not accept.
const refusalLasts = 5 * time.Second

// securityRows are access control that comes into force, and certificates that
// change, under the feet of the sources.
func securityRows() []Row {
	const (
		aboutACL  = "the broker begins to ask for keys under load, and the worker has others; a bundle that fails says that the keys are wrong; with the right keys in the worker's file all goes on"
		aboutCert = "the certificate is replaced under load by one of the same authority, which nobody notices, then by one of a stranger, which is refused, then by a good one again"
	)
	return []Row{
		{
			Name: "acl-switched-on", About: aboutACL, Places: []Place{InProcess}, Long: true,
			Play: func(ctx context.Context, s *Stage) error {
				return withKeys(ctx, &s.credentials, s.later, s.embedded().Broker, func(accident func(context.Context) error) error {
					return s.under(ctx, 1, func() error { return accident(ctx) })
				})
			},
			Check: namesCredentials,
		},
		{
			Name: "remoting-acl-switched-on", About: aboutACL, Places: []Place{InProcess}, Long: true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error {
				return withKeys(ctx, &s.credentials, s.later, s.broker, func(accident func(context.Context) error) error { return s.under(ctx, accident) })
			},
			Check: namesCredentials,
		},
		certificateRow(Row{
			Name: "certificate-replaced", About: aboutCert,
			Play: func(ctx context.Context, s *Stage) error {
				return s.under(ctx, 1, func() error { return s.certs.replace(ctx, s.embedded().Broker) })
			},
		}),
		certificateRow(Row{
			Name: "remoting-certificate-replaced", About: aboutCert, Long: true,
			PlayQueues: func(ctx context.Context, s *QueueStage) error {
				return s.under(ctx, func(ctx context.Context) error { return s.certs.replace(ctx, s.broker) })
			},
		}),
	}
}

func namesCredentials(v Verdict) error { return faultsSay(v, "credentials", "access key") }

// withKeys gives workers a file with keys that are wrong, and play an accident:
// the broker asks for keys, and after a while the right ones are in the file.
// later is told what to do when the row is over.
func withKeys(ctx context.Context, credentials *string, later func(func() error), b *embedded.Broker, play func(func(context.Context) error) error) error {
	file, err := newKeyFile("a wrong secret")
	if err != nil {
		return err
	}
	*credentials = file.resolver()
	later(file.remove) // workers read it up to the end of the row
	return play(func(ctx context.Context) error {
		b.RequireCredentials(rightAccess, rightSecret)
		return errors.Join(pause(ctx, refusalLasts), file.set(rightSecret))
	})
}

func certificateRow(r Row) Row {
	r.Places, r.Certificates = []Place{InProcess}, true
	r.Check = func(v Verdict) error { return faultsSay(v, "certificate") }
	return r
}

// certificates are those that an embedded broker shows.
type certificates struct {
	dir                    string
	tls                    auth.TLS // what clients use
	now                    atomic.Pointer[tls.Certificate]
	first, second, foreign *testcert.Certificate
}

func newCertificates() (*certificates, error) {
	ours, err := testcert.NewAuthority("the rows' authority")
	if err != nil {
		return nil, err
	}
	stranger, err := testcert.NewAuthority("a stranger")
	if err != nil {
		return nil, err
	}
	c := &certificates{}
	for _, one := range []struct {
		by *testcert.Authority
		to **testcert.Certificate
	}{{ours, &c.first}, {ours, &c.second}, {stranger, &c.foreign}} {
		if *one.to, err = one.by.Issue(time.Now().Add(time.Hour), "127.0.0.1"); err != nil {
			return nil, err
		}
	}
	if c.dir, err = os.MkdirTemp("", "faults-certificates-"); err != nil {
		return nil, err
	}
	ca, err := ours.WriteCA(c.dir)
	c.tls = auth.TLS{Enabled: true, CAFile: ca}
	c.now.Store(&c.first.TLS)
	return c, err
}

// option makes a broker show them.
func (c *certificates) option() embedded.Option {
	return embedded.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil }})
}

// replace goes through the certificates. Connections are cut each time, or nobody
// would look at the new one.
func (c *certificates) replace(ctx context.Context, b *embedded.Broker) error {
	for _, cert := range []*testcert.Certificate{c.second, c.foreign, c.first} {
		c.now.Store(&cert.TLS)
		b.CutConnections()
		b.DropConnections()
		if cert == c.first {
			return nil
		}
		if err := pause(ctx, refusalLasts); err != nil {
			return err
		}
	}
	return nil
}

func (c *certificates) close() error { return os.RemoveAll(c.dir) }

func (s *Stage) later(do func() error) { s.atEnd = append(s.atEnd, func() { _ = do() }) } // a scratch file

func (s *QueueStage) later(do func() error) { s.close = append(s.close, do) }

func (s *SinkStage) later(do func() error) { s.close = append(s.close, do) }
