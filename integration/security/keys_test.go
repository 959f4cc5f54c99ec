// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race || plainbeam

package security

import (
	"context"
	"fmt"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// The one user of the brokers.
const (
	user   = "security-user"
	secret = "S3CR3T-of-the-user-7391"
	wrong  = "S3CR3T-that-is-wrong-2846"
)

func secrets() []string { return []string{secret, wrong} }

// resolver is the name of the resolver that gives workers their keys. Its
// argument says which.
const resolver = "security-test"

func init() {
	auth.Register(resolver, func(_ context.Context, _, which string) (auth.Keys, error) {
		switch which {
		case "right":
			return auth.Keys{AccessKey: user, SecretKey: secret}, nil
		case "wrong-secret":
			return auth.Keys{AccessKey: user, SecretKey: wrong}, nil
		case "stranger":
			return auth.Keys{AccessKey: "a-stranger", SecretKey: wrong}, nil
		case "none":
			return auth.Keys{}, nil
		}
		return auth.Keys{}, fmt.Errorf("no keys %q", which)
	})
}
