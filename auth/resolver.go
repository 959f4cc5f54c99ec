// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Resolver finds the keys for a cluster. It is called on the workers, again and
// again, from many goroutines; endpoints are as the transform was given them,
// and argument is what stood behind the colon in the resolver's name. Keys that
// are zero mean: do not sign. It should honour ctx, and its errors must not
// hold the keys.
type Resolver func(ctx context.Context, endpoints, argument string) (Keys, error)

var resolvers = struct {
	sync.RWMutex
	byName map[string]Resolver
}{byName: map[string]Resolver{"env": fromEnvironment, "file": fromFile}}

// Register makes a resolver known by name. Call it from an init function, so
// that the workers, which run the same binary, know it too. It panics if the
// name is empty, holds a colon, or is taken.
func Register(name string, r Resolver) {
	if name == "" || strings.Contains(name, ":") || r == nil {
		panic(fmt.Sprintf("auth.Register: name %q: want a name without a colon, and a resolver", name))
	}
	resolvers.Lock()
	defer resolvers.Unlock()
	if _, taken := resolvers.byName[name]; taken {
		panic(fmt.Sprintf("auth.Register: resolver %q is registered already", name))
	}
	resolvers.byName[name] = r
}

// find takes a name and its argument apart.
func find(spec string) (r Resolver, argument string, err error) {
	name, argument, _ := strings.Cut(spec, ":")
	resolvers.RLock()
	defer resolvers.RUnlock()
	r, ok := resolvers.byName[name]
	if !ok {
		known := slices.Sorted(maps.Keys(resolvers.byName))
		return nil, "", fmt.Errorf("unknown credentials resolver %q: want one of %s, or register it in an init function (auth.Register)",
			name, strings.Join(known, ", "))
	}
	return r, argument, nil
}

// The environment variables that the resolver "env" reads.
const (
	EnvAccessKey     = "ROCKETMQ_ACCESS_KEY"
	EnvSecretKey     = "ROCKETMQ_SECRET_KEY"
	EnvSecurityToken = "ROCKETMQ_SECURITY_TOKEN"
)

func fromEnvironment(context.Context, string, string) (Keys, error) {
	k := Keys{AccessKey: os.Getenv(EnvAccessKey), SecretKey: os.Getenv(EnvSecretKey), SecurityToken: os.Getenv(EnvSecurityToken)}
	if k.AccessKey == "" || k.SecretKey == "" {
		return Keys{}, fmt.Errorf("resolver env: set %s and %s on the worker", EnvAccessKey, EnvSecretKey)
	}
	return k, nil
}

// fileEntry is what the file of the resolver "file" holds for one cluster.
type fileEntry struct {
	AccessKey     string `json:"accessKey"`
	SecretKey     string `json:"secretKey"`
	SecurityToken string `json:"securityToken"`
}

// fromFile reads a JSON object from endpoints to {"accessKey", "secretKey",
// "securityToken"}; the entry "*" serves all other endpoints.
func fromFile(_ context.Context, endpoints, path string) (Keys, error) {
	if path == "" {
		return Keys{}, errors.New("resolver file: give the path behind a colon, as in file:/etc/rocketmq/keys.json")
	}
	info, err := os.Stat(path)
	if err != nil {
		return Keys{}, fmt.Errorf("resolver file: %w", err)
	}
	if !info.Mode().IsRegular() { // a pipe could be read for ever, and but once
		return Keys{}, fmt.Errorf("resolver file: %s is a %s: want a regular file", path, kindOf(info.Mode()))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Keys{}, fmt.Errorf("resolver file: %w", err)
	}
	var entries map[string]fileEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		// The decoder's error may quote the file, and with it a key.
		return Keys{}, fmt.Errorf("resolver file: %s is no JSON object of {endpoints: {accessKey, secretKey}}", path)
	}
	e, ok := entries[endpoints]
	if !ok {
		e, ok = entries["*"]
	}
	if !ok || e.AccessKey == "" || e.SecretKey == "" {
		return Keys{}, fmt.Errorf("resolver file: %s has no accessKey and secretKey for %q or \"*\"", path, endpoints)
	}
	return Keys(e), nil
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&os.ModeNamedPipe != 0:
		return "pipe"
	}
	return "device or socket"
}
