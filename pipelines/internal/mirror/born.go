// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
	"github.com/rocketmq-beam/rocketmq-beam/rocketmqio"
)

// checkBorn refuses a name of a property that no message could have.
func checkBorn(name string) error {
	const flag = "--born-property"
	if name == "" {
		return nil
	}
	some := map[string]string{name: time.Time{}.Format(time.RFC3339Nano)}
	kept := rocketmqio.Outgoing(coders.Message{Properties: some}).Properties
	switch _, err := remoting.NewProperties(some); {
	case len(kept) == 0 || strings.HasPrefix(name, "__RMQ.TRANSIENT."):
		return fmt.Errorf("%s %q: RocketMQ uses this name itself", flag, name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%s %q: it contains a control character", flag, name)
	case err != nil:
		return fmt.Errorf("%s %.100q: %w", flag, name, err)
	}
	return nil
}

// withBorn adds the property, if it is wanted, to a copy of properties.
func withBorn(properties map[string]string, name string, born time.Time) map[string]string {
	if name == "" || born.IsZero() {
		return properties
	}
	out := make(map[string]string, len(properties)+1)
	maps.Copy(out, properties)
	out[name] = born.UTC().Format(time.RFC3339Nano)
	return out
}
