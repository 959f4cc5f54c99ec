// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"strings"
)

// Identifiers are the values of 'connector'.
func Identifiers() []string { return []string{Remoting, Remoting4, Remoting5, GRPC} }

// Keys are the keys of a connector in the order of the documents, without the
// key 'connector' itself.
func Keys(connector string) ([]Key, error) {
	switch connector {
	case Remoting:
		return remotingKeys("consistent-hash"), nil
	case Remoting4, Remoting5:
		return remotingKeys("hash"), nil
	case GRPC:
		return grpcKeys(), nil
	case "":
		return nil, fmt.Errorf("no 'connector': want one of %s", strings.Join(Identifiers(), ", "))
	}
	return nil, fmt.Errorf("'connector' = '%s': want one of %s", connector, strings.Join(Identifiers(), ", "))
}
