// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// The few administration requests that a cluster under test needs, over
// RocketMQ's remoting protocol: milliseconds each, where the admin tool starts
// a JVM.

// Request codes of the remoting protocol.
const (
	codeCreateTopic    = 17
	codeUpdateConfig   = 25
	codeRoute          = 105
	codeBrokerCluster  = 106
	codeCreateGroup    = 200
	remotingTimeout    = 5 * time.Second
	maxRemotingFrame   = 16 << 20
	remotingHeaderMask = 0xffffff // the top byte is the serialization, 0 for JSON
)

// header is the JSON header of a request or an answer.
type header struct {
	Code      int               `json:"code"`
	Language  string            `json:"language"`
	Version   int               `json:"version"`
	Opaque    int32             `json:"opaque"`
	Flag      int               `json:"flag"`
	Remark    string            `json:"remark,omitempty"`
	ExtFields map[string]string `json:"extFields,omitempty"`
}

// refused is an answer with another code than success.
type refused struct {
	code   int
	remark string
}

// Error tells the code and the server's own words.
func (r *refused) Error() string { return fmt.Sprintf("answer code %d: %s", r.code, r.remark) }

// call sends one request over a connection of its own and returns the body of
// the answer, or a [*refused].
func call(ctx context.Context, addr string, code int, fields map[string]string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, remotingTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", code, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := writeRequest(conn, code, fields, body); err != nil {
		return nil, fmt.Errorf("request %d to %s: %w", code, addr, err)
	}
	answer, body, err := readAnswer(conn)
	if err != nil {
		return nil, fmt.Errorf("request %d to %s: %w", code, addr, err)
	}
	if answer.Code != 0 {
		return nil, fmt.Errorf("request %d to %s: %w", code, addr, &refused{answer.Code, answer.Remark})
	}
	return body, nil
}

func writeRequest(w io.Writer, code int, fields map[string]string, body []byte) error {
	// 513 is the ordinal of version 5.5.0: the server decides by it how it
	// writes some answers.
	head, err := json.Marshal(header{Code: code, Language: "GO", Version: 513, Opaque: 1, ExtFields: fields})
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(head)))
	frame = append(append(frame, head...), body...)
	_, err = w.Write(frame)
	return err
}

func readAnswer(r io.Reader) (*header, []byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, nil, err
	}
	size := binary.BigEndian.Uint32(prefix[:])
	if size < 4 || size > maxRemotingFrame {
		return nil, nil, fmt.Errorf("answer of %d bytes", size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, nil, err
	}
	n := binary.BigEndian.Uint32(frame) & remotingHeaderMask
	if n > size-4 {
		return nil, nil, fmt.Errorf("header of %d bytes in an answer of %d", n, size)
	}
	var h header
	if err := json.Unmarshal(frame[4:4+n], &h); err != nil {
		return nil, nil, fmt.Errorf("header of the answer: %w", err)
	}
	return &h, frame[4+n:], nil
}
