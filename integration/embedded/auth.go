// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the protocol's signature
	"encoding/hex"
	"strconv"
	"strings"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"
)

// checkSignature refuses a request that is not signed with the broker's key
// pair: HMAC-SHA1 over the value of x-mq-date-time. The texts are RocketMQ's.
func (b *Broker) checkSignature(r *Request) error {
	want := b.credentials()
	if want.accessKey == "" {
		return nil
	}
	deny := func(text string) error { return &grpcFault{v2.Code_UNAUTHORIZED, text} }
	auth := header(r.Metadata, "authorization")
	if auth == "" {
		return deny("username cannot be null.")
	}
	date := header(r.Metadata, "x-mq-date-time")
	if date == "" {
		return deny("datetime is null.")
	}
	_, fields, ok := strings.Cut(auth, " ")
	if !ok {
		return deny("authentication header is incorrect.")
	}
	var user, signature string
	for kv := range strings.SplitSeq(fields, ",") {
		k, v, ok := strings.Cut(strings.TrimSpace(kv), "=")
		if !ok {
			return deny("authentication keyValues length is incorrect, actual length=1.")
		}
		switch k {
		case "Credential":
			parts := strings.Split(v, "/")
			if v == "" {
				return deny("authentication credential length is incorrect, actual length=" + strconv.Itoa(len(parts)) + ".")
			}
			user = parts[0]
		case "Signature":
			signature = v
		}
	}
	switch {
	case user == "":
		return deny("username cannot be null.")
	case user != want.accessKey:
		return deny("User:" + user + " is not found.")
	case !signatureFits(want.secretKey, date, signature):
		return deny("check signature failed.")
	}
	return nil
}

func signatureFits(secret, date, signature string) bool {
	got, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(date))
	return hmac.Equal(got, mac.Sum(nil))
}
