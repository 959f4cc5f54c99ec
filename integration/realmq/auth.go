// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the protocol's signature
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// keys are those of the cluster's administrator.
type keys struct{ access, secret string }

// Authentication switches the access control of RocketMQ 5 on, in broker and
// proxy: each request must be signed with these keys, which are those of a user
// who may do everything. The name server asks for nothing. The cluster's own
// requests are signed with them.
func Authentication(accessKey, secretKey string) Option {
	return func(c *config) error {
		if accessKey == "" || secretKey == "" {
			return errors.New("Authentication: access key and secret key must not be empty")
		}
		c.keys = keys{accessKey, secretKey}
		user, err := json.Marshal(map[string]string{"username": accessKey, "password": secretKey})
		if err != nil {
			return err
		}
		// What broker and proxy sign their own requests with.
		inner, err := json.Marshal(map[string]string{"accessKey": accessKey, "secretKey": secretKey})
		if err != nil {
			return err
		}
		maps.Copy(c.broker, map[string]string{
			"authenticationEnabled":                "true",
			"authenticationMetadataProvider":       "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider",
			"initAuthenticationUser":               string(user),
			"innerClientAuthenticationCredentials": string(inner),
			"authorizationEnabled":                 "true",
			"authorizationMetadataProvider":        "org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider",
		})
		maps.Copy(c.proxy, map[string]any{
			// Without it the proxy does not sign what it asks the broker itself.
			"enableAclRpcHookForClusterMode":       true,
			"authenticationEnabled":                true,
			"authenticationMetadataProvider":       "org.apache.rocketmq.proxy.auth.ProxyAuthenticationMetadataProvider",
			"innerClientAuthenticationCredentials": string(inner),
			"authorizationEnabled":                 true,
			"authorizationMetadataProvider":        "org.apache.rocketmq.proxy.auth.ProxyAuthorizationMetadataProvider",
		})
		return nil
	}
}

// Certificate makes the proxy use this certificate and key, PEM files, for TLS.
// By default it makes one of its own at each start. It goes on taking plain text
// on the same port.
func Certificate(certFile, keyFile string) Option {
	return func(c *config) error {
		if certFile == "" || keyFile == "" {
			return errors.New("Certificate: a file's name is empty")
		}
		maps.Copy(c.proxy, map[string]any{"tlsTestModeEnable": false, "tlsCertPath": certFile, "tlsKeyPath": keyFile})
		return nil
	}
}

// call is the function call, signed if the servers want that.
func (c *Cluster) call(ctx context.Context, addr string, code int, fields map[string]string, body []byte) ([]byte, error) {
	return call(ctx, addr, code, c.cfg.keys.sign(fields, body), body)
}

// sign adds the fields of a signed remoting request: the signature is over the
// values of all fields, in the order of their names, and the body.
func (k keys) sign(fields map[string]string, body []byte) map[string]string {
	if k == (keys{}) {
		return fields
	}
	signed := map[string]string{"AccessKey": k.access}
	maps.Copy(signed, fields)
	mac := hmac.New(sha1.New, []byte(k.secret))
	for _, name := range slices.Sorted(maps.Keys(signed)) {
		mac.Write([]byte(signed[name]))
	}
	mac.Write(body)
	signed["Signature"] = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return signed
}

// authorization is the header of a signed gRPC request of that instant.
func (k keys) authorization(dateTime string) string {
	mac := hmac.New(sha1.New, []byte(k.secret))
	mac.Write([]byte(dateTime))
	return "MQv2-HMAC-SHA1 Credential=" + k.access + ", SignedHeaders=x-mq-date-time, Signature=" +
		strings.ToUpper(hex.EncodeToString(mac.Sum(nil)))
}
