// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
)

// diagnose looks closer at a session that could not be opened in plain text. A
// proxy that wants TLS closes such a connection without a word, as one does that
// is just going down; the difference is that between an error for ever and one
// that passes.
func (l *link) diagnose(ctx context.Context, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Class != Transient || l.client.cfg.TLS.Enabled || !refusesPlainText(e.Err.Error()) || l.openedBefore() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.client.cfg.RequestTimeout)
	defer cancel()
	if !wantsTLS(ctx, l.addr.String()) {
		return err
	}
	certain := *e
	certain.Class, certain.Hint = Permanent, "the proxy speaks TLS only, and TLS is off here: switch TLS on"
	return &certain
}

// wantsTLS says that a server takes TLS and refuses HTTP/2 in plain text. TLS is
// tried on both sides of the other, lest a server that began to answer in between
// is taken for one that refuses.
func wantsTLS(ctx context.Context, address string) bool {
	return takesTLS(ctx, address) && !takesPlainText(ctx, address) && takesTLS(ctx, address)
}

// takesTLS says that the server answers a handshake, if only with an alert. Whom
// the certificate is for does not matter, for nothing is sent.
func takesTLS(ctx context.Context, address string) bool {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		conn.Close()
		return true
	}
	alert, ok := errors.AsType[*net.OpError](err)
	return ok && alert.Op == "remote error"
}

// takesPlainText says that the server answers the beginning of HTTP/2 with its
// own, a SETTINGS frame, as each must. Any other failure than a closed connection
// proves nothing and counts as yes.
func takesPlainText(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return true
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		conn.SetDeadline(end)
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	noSettings := []byte{0, 0, 0, byte(http2.FrameSettings), 0, 0, 0, 0, 0}
	if _, err := conn.Write(append([]byte(http2.ClientPreface), noSettings...)); err != nil {
		return false
	}
	var header [9]byte // length 3, type 1, flags 1, stream 4
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		timeout, ok := errors.AsType[net.Error](err)
		return ok && timeout.Timeout()
	}
	return header[3] == byte(http2.FrameSettings) && binary.BigEndian.Uint32(header[5:]) == 0
}
