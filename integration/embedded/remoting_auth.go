// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the protocol's signature
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// checkRemotingSignature refuses a request that is not signed with the broker's
// key pair, in the words of 5.5.0.
func (b *Broker) checkRemotingSignature(cmd *remoting.Command) error {
	want := b.credentials()
	if want.accessKey == "" {
		return nil
	}
	user := cmd.Fields["AccessKey"]
	switch {
	case user == "":
		return errors.New("username cannot be null.")
	case user != want.accessKey:
		return fmt.Errorf("User:%s is not found.", user)
	case !hmac.Equal([]byte(remotingSignature(cmd, want.secretKey)), []byte(cmd.Fields["Signature"])):
		return errors.New("check signature failed.")
	}
	return nil
}

// remotingSignature is over the values of all fields but itself, in the order of
// their names, and the body.
func remotingSignature(cmd *remoting.Command, secret string) string {
	mac := hmac.New(sha1.New, []byte(secret))
	for _, name := range slices.Sorted(maps.Keys(cmd.Fields)) {
		if name != "Signature" {
			mac.Write([]byte(cmd.Fields[name]))
		}
	}
	mac.Write(cmd.Body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
