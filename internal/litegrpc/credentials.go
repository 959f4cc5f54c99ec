// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc/metadata"
)

// Credentials sign requests. The zero value means: do not sign. They show
// themselves as "[redacted]" in every form of printing.
type Credentials struct {
	AccessKey, SecretKey string
	// SecurityToken goes with temporary keys.
	SecurityToken string
}

// IsZero says that requests are not to be signed.
func (c Credentials) IsZero() bool { return c == Credentials{} }

func (Credentials) String() string   { return "[redacted]" }
func (Credentials) GoString() string { return "[redacted]" }

// LogValue keeps keys out of structured logs.
func (Credentials) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// MarshalJSON keeps keys out of anything printed as JSON.
func (Credentials) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }

// The metadata that every request carries. The proxy refuses x-mq-language
// "GOLANG", which the SDK's settings use, with "No enum constant".
const (
	clientLanguage  = "GO"
	clientVersion   = "5.1.4"
	protocolVersion = "v2"
	dateTimeLayout  = "20060102T150405Z"
)

// sign adds to ctx the metadata of one request.
func sign(ctx context.Context, clientID, namespace string, c Credentials, now time.Time) context.Context {
	dateTime := now.UTC().Format(dateTimeLayout)
	pairs := []string{
		"x-mq-language", clientLanguage,
		"x-mq-protocol", protocolVersion,
		"x-mq-client-version", clientVersion,
		"x-mq-client-id", clientID,
		"x-mq-namespace", namespace,
		"x-mq-date-time", dateTime,
	}
	if !c.IsZero() {
		pairs = append(pairs, "authorization", authorization(c, dateTime))
	}
	if c.SecurityToken != "" {
		pairs = append(pairs, "x-mq-session-token", c.SecurityToken)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// authorization is the signature over the request's date and time that proxies
// of RocketMQ 5.x check.
func authorization(c Credentials, dateTime string) string {
	mac := hmac.New(sha1.New, []byte(c.SecretKey))
	mac.Write([]byte(dateTime))
	return fmt.Sprintf("MQv2-HMAC-SHA1 Credential=%s//Rocketmq, SignedHeaders=x-mq-date-time, Signature=%s",
		c.AccessKey, hex.EncodeToString(mac.Sum(nil)))
}
