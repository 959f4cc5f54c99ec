// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"net"
	"time"
)

// paced is a connection whose deadlines are for silence, not for the whole of a
// frame: a slow link on which bytes keep moving is not cut. How long a request may
// take altogether is its caller's to say.
type paced struct {
	nc       net.Conn
	patience time.Duration // for what the next reads bring; the reading goroutine's
}

// pieceSize is how much must be written within writeTimeout.
const pieceSize = 256 << 10

// Read waits for bytes as long as patience says.
func (p *paced) Read(b []byte) (int, error) {
	p.nc.SetReadDeadline(time.Now().Add(p.patience))
	return p.nc.Read(b)
}

// Write gives each piece its time.
func (p *paced) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		piece := b[:min(len(b), pieceSize)]
		p.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
		n, err := p.nc.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}

// writeParts writes what follows each other without a copy, at once if it is no more
// than a piece.
func (p *paced) writeParts(head, body []byte) error {
	if len(head)+len(body) <= pieceSize {
		p.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
		parts := net.Buffers{head, body}
		_, err := parts.WriteTo(p.nc)
		return err
	}
	for _, part := range [...][]byte{head, body} {
		if _, err := p.Write(part); err != nil {
			return err
		}
	}
	return nil
}
