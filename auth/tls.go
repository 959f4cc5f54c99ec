// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS says how a connection to RocketMQ is secured. The zero value is plain
// text. Certificates are verified unless SkipVerify says otherwise.
type TLS struct {
	// Enabled switches TLS on.
	Enabled bool `json:"enabled,omitempty"`
	// CAFile is a PEM file, on the worker, of the authorities to trust; empty
	// means those of the system.
	CAFile string `json:"ca_file,omitempty"`
	// ServerName is the name that the certificate must bear; empty means the
	// endpoint's host.
	ServerName string `json:"server_name,omitempty"`
	// CertFile and KeyFile are a client certificate in PEM, on the worker, for
	// proxies that ask for one.
	CertFile string `json:"cert_file,omitempty"`
	KeyFile  string `json:"key_file,omitempty"`
	// SkipVerify accepts any certificate. For tests.
	SkipVerify bool `json:"skip_verify,omitempty"`
}

// Check refuses settings that contradict each other.
func (t TLS) Check() error {
	switch {
	case !t.Enabled && t != (TLS{}):
		return fmt.Errorf("TLS is off, yet CA file, server name, client certificate or skip-verify is set: switch TLS on or leave them out")
	case (t.CertFile == "") != (t.KeyFile == ""):
		return fmt.Errorf("TLS client certificate %q and key %q: give both or neither", t.CertFile, t.KeyFile)
	case t.SkipVerify && (t.CAFile != "" || t.ServerName != ""):
		return fmt.Errorf("TLS skip-verify makes CA file %q and server name %q useless: give one or the other", t.CAFile, t.ServerName)
	}
	return nil
}

// Config loads the files that the settings name, on the worker. It is nil when
// TLS is off.
func (t TLS) Config() (*tls.Config, error) {
	if err := t.Check(); err != nil || !t.Enabled {
		return nil, err
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.SkipVerify}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("TLS CA file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS CA file %q holds no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("TLS client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
