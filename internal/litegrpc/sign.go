// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpc

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// The metadata that every request carries. The proxy refuses x-mq-language
// "GOLANG", which the SDK's settings use, with "No enum constant".
const (
	clientLanguage  = "GO"
	clientVersion   = "5.1.4"
	protocolVersion = "v2"
	dateTimeLayout  = "20060102T150405Z"
)

// sign adds to ctx the metadata of one request.
func sign(ctx context.Context, clientID, namespace string, k auth.Keys, now time.Time) context.Context {
	dateTime := now.UTC().Format(dateTimeLayout)
	pairs := []string{
		"x-mq-language", clientLanguage,
		"x-mq-protocol", protocolVersion,
		"x-mq-client-version", clientVersion,
		"x-mq-client-id", clientID,
		"x-mq-namespace", namespace,
		"x-mq-date-time", dateTime,
	}
	if !k.IsZero() {
		pairs = append(pairs, "authorization", authorization(k, dateTime))
	}
	if k.SecurityToken != "" {
		pairs = append(pairs, "x-mq-session-token", k.SecurityToken)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// authorization is the signature over the request's date and time that proxies
// of RocketMQ 5.x check.
func authorization(k auth.Keys, dateTime string) string {
	mac := hmac.New(sha1.New, []byte(k.SecretKey))
	mac.Write([]byte(dateTime))
	return fmt.Sprintf("MQv2-HMAC-SHA1 Credential=%s//Rocketmq, SignedHeaders=x-mq-date-time, Signature=%s",
		k.AccessKey, hex.EncodeToString(mac.Sum(nil)))
}
