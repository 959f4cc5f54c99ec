// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Source says where a transform's keys come from. It is part of the pipeline
// graph, so it should name a resolver; static keys would stand in the graph in
// plain text. The zero value means: do not sign.
type Source struct {
	// Resolver is the resolver's name, with its argument behind a colon.
	Resolver string `json:"resolver,omitempty"`
	// StaticAccessKey and StaticSecretKey are keys by explicit choice. Whoever
	// can read the pipeline graph can read them.
	StaticAccessKey string `json:"static_access_key,omitempty"`
	StaticSecretKey string `json:"static_secret_key,omitempty"`
}

// String says where keys come from and does not show them.
func (s Source) String() string {
	switch {
	case s.Resolver != "":
		return "resolver " + s.Resolver
	case s.StaticAccessKey != "":
		return "static keys " + redacted
	}
	return "none"
}

// GoString is String, so that no form of printing shows the keys.
func (s Source) GoString() string { return s.String() }

// Check refuses sources that cannot work, while the pipeline is built.
func (s Source) Check() error {
	static := s.StaticAccessKey != "" || s.StaticSecretKey != ""
	switch {
	case static && s.Resolver != "":
		return fmt.Errorf("credentials: resolver %q and static keys are both given: choose one", s.Resolver)
	case static && (s.StaticAccessKey == "" || s.StaticSecretKey == ""):
		return errors.New("credentials: static access key and secret key go together, one of them is empty")
	case s.Resolver != "":
		_, _, err := find(s.Resolver)
		return err
	}
	if err := (Keys{AccessKey: s.StaticAccessKey, SecretKey: s.StaticSecretKey}).check(); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	return nil
}

// cacheFor is how long keys are used before the resolver is asked again, so
// that one that asks a remote service is not asked at each request.
const cacheFor = 30 * time.Second

// Provider returns a function that gives the keys for a cluster: those of the
// source, asked again every 30 seconds. When the resolver fails, the keys it
// gave before serve on until it answers; without any, its error is returned.
func (s Source) Provider(endpoints string) func(context.Context) (Keys, error) {
	if s.Resolver == "" {
		static := Keys{AccessKey: s.StaticAccessKey, SecretKey: s.StaticSecretKey}
		return func(context.Context) (Keys, error) { return static, nil }
	}
	c := &cache{source: s, endpoints: endpoints}
	return c.keys
}

type cache struct {
	source    Source
	endpoints string

	mu    sync.Mutex
	known Keys
	until time.Time
}

func (c *cache) keys(ctx context.Context) (Keys, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.until) {
		return c.known, nil
	}
	resolve, argument, err := find(c.source.Resolver)
	if err != nil {
		return Keys{}, err
	}
	keys, err := resolve(ctx, c.endpoints, argument)
	if err == nil {
		err = keys.check()
	}
	if err != nil {
		if c.until.IsZero() {
			return Keys{}, fmt.Errorf("credentials for %s: %w", c.endpoints, err)
		}
		keys = c.known
	}
	c.known, c.until = keys, now.Add(cacheFor)
	return keys, nil
}
