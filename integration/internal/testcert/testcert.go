// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testcert makes certificates for tests and for the rows of faults.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	der  []byte
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one that nobody knows yet.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert: cert, der: der, key: key}, err
}

// WriteCA writes the authority's own certificate to a file in dir and returns its
// name.
func (a *Authority) WriteCA(dir string) (string, error) {
	name := filepath.Join(dir, "ca.pem")
	return name, os.WriteFile(name, pemBlock("CERTIFICATE", a.der), 0o600)
}

// Issue makes a certificate for hosts, names or addresses, that ends at an
// instant.
func (a *Authority) Issue(end time.Time, hosts ...string) (*Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "server"},
		NotBefore: time.Now().Add(-12 * time.Hour), NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &Certificate{TLS: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, key: key}, nil
}

// Certificate is one with its key.
type Certificate struct {
	TLS tls.Certificate
	key *ecdsa.PrivateKey
}

// Write writes certificate and key to two files in dir.
func (c *Certificate) Write(dir string) (certFile, keyFile string, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		return "", "", err
	}
	certFile, keyFile = filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	if err := os.WriteFile(certFile, pemBlock("CERTIFICATE", c.TLS.Certificate[0]), 0o600); err != nil {
		return "", "", err
	}
	return certFile, keyFile, os.WriteFile(keyFile, pemBlock("PRIVATE KEY", der), 0o600)
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
