// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"
)

// Keys sign requests. The zero value means: do not sign. However they are
// printed, they show as "[redacted]".
type Keys struct {
	// AccessKey names the user, SecretKey proves it.
	AccessKey, SecretKey string
	// SecurityToken goes with temporary keys; mostly empty.
	SecurityToken string
}

const redacted = "[redacted]"

// IsZero says that requests are not to be signed.
func (k Keys) IsZero() bool { return k == Keys{} }

// check refuses keys that cannot be sent, such as those with a line end, which
// a file or a shell adds easily. Its error does not hold them.
func (k Keys) check() error {
	for _, part := range []struct{ name, value string }{
		{"access key", k.AccessKey}, {"secret key", k.SecretKey}, {"security token", k.SecurityToken},
	} {
		if strings.ContainsFunc(part.value, unicode.IsControl) {
			return fmt.Errorf("the %s holds a control character: look for a line end that does not belong to it", part.name)
		}
	}
	return nil
}

// String hides the keys.
func (Keys) String() string { return redacted }

// GoString hides the keys.
func (Keys) GoString() string { return redacted }

// LogValue hides the keys in structured logs.
func (Keys) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON hides the keys in anything printed as JSON.
func (Keys) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
