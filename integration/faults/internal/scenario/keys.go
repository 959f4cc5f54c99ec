// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
)

// The keys of the rows that switch access control on. The row's own clients
// always sign; a broker that asks for nothing does not look.
const (
	rightAccess = "worker"
	rightSecret = "the-secret-of-the-rows"
)

func ownKeys(context.Context) (auth.Keys, error) {
	return auth.Keys{AccessKey: rightAccess, SecretKey: rightSecret}, nil
}

// keyFile is a file of the resolver "file".
type keyFile string

func newKeyFile(secret string) (keyFile, error) {
	dir, err := os.MkdirTemp("", "faults-keys-")
	if err != nil {
		return "", err
	}
	k := keyFile(filepath.Join(dir, "keys.json"))
	return k, k.set(secret)
}

// set replaces the keys, at once for whoever reads it.
func (k keyFile) set(secret string) error {
	data, err := json.Marshal(map[string]map[string]string{"*": {"accessKey": rightAccess, "secretKey": secret}})
	if err != nil {
		return err
	}
	next := string(k) + ".next"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, string(k))
}

func (k keyFile) remove() error { return os.RemoveAll(filepath.Dir(string(k))) }

func (k keyFile) resolver() string { return "file:" + string(k) }

// faultsSay wants each fault, if there are any, to hold one of the words: what
// failed must say why.
func faultsSay(v Verdict, words ...string) error {
	for _, f := range v.Faults {
		if strings.Contains(f, "exit status 66") { // the race detector, on Beam's own races in the end of a pipeline
			continue
		}
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f, w) }) {
			return fmt.Errorf("want errors with one of %q, got %q", words, f)
		}
	}
	return nil
}
