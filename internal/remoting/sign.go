// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"maps"
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// The fields of a signed request.
const (
	fieldAccessKey     = "AccessKey"
	fieldSecurityToken = "SecurityToken"
	fieldSignature     = "Signature"
)

// sign adds to cmd who sends it and a signature over all fields' values, in the
// order of their names, and the body. It must come last. Brokers of 4.x and
// 5.x check it alike.
func sign(cmd *Command, k auth.Keys) {
	if k.IsZero() {
		return
	}
	if cmd.Fields == nil {
		cmd.Fields = map[string]string{}
	}
	cmd.Fields[fieldAccessKey] = k.AccessKey
	if k.SecurityToken != "" {
		cmd.Fields[fieldSecurityToken] = k.SecurityToken
	}
	delete(cmd.Fields, fieldSignature)
	mac := hmac.New(sha1.New, []byte(k.SecretKey))
	for _, name := range slices.Sorted(maps.Keys(cmd.Fields)) {
		mac.Write([]byte(cmd.Fields[name]))
	}
	mac.Write(cmd.Body)
	cmd.Fields[fieldSignature] = base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
