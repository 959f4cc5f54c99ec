// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package option_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
)

type config struct {
	wait time.Duration
	rate float64
	mode string
	keys auth.Source
}

type configOption func(*config) error

func wait(d time.Duration) configOption {
	return option.InRange("Wait", d, time.Second, time.Minute, func(c *config) { c.wait = d })
}

func poll(d time.Duration) configOption {
	return option.ZeroOrInRange("Poll", d, time.Second, time.Minute, func(c *config) { c.wait = d })
}

func rate(r float64) configOption {
	return option.InRange("Rate", r, 0, math.MaxFloat64, func(c *config) { c.rate = r })
}

func mode(m string) configOption {
	return option.OneOf("Mode", m, []string{"fail", "skip"}, func(c *config) { c.mode = m })
}

func keys(c *config) *auth.Source { return &c.keys }

func TestOptionsChangeTheConfiguration(t *testing.T) {
	var c config
	opts := []configOption{wait(time.Minute), poll(0), wait(time.Second), rate(0), mode("skip"), option.StaticKeys("Keys", "a", "s", keys)}
	if err := option.Apply(&c, opts); err != nil {
		t.Fatal(err)
	}
	if want := (config{wait: time.Second, mode: "skip", keys: auth.Source{StaticAccessKey: "a", StaticSecretKey: "s"}}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if err := option.Apply(&c, []configOption{option.Resolver("Credentials", "env", keys)}); err != nil || c.keys.Resolver != "env" {
		t.Errorf("resolver %q, %v", c.keys.Resolver, err)
	}
}

// All faults come together, each with the option's name and the value.
func TestFaultsNameOptionAndValue(t *testing.T) {
	var c config
	before := c
	err := option.Apply(&c, []configOption{
		nil, wait(61 * time.Second), wait(0), poll(time.Millisecond), rate(math.NaN()), mode("explode"),
		option.Resolver("Credentials", "", keys), option.StaticKeys("Keys", "", "secret-1", keys),
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"option 1 of 8 is nil", "option Wait: 1m1s is out of range: want 1s to 1m0s", "option Wait: 0s", "option Poll: 1ms is out of range: want 0s, or 1s to 1m0s",
		"option Rate: NaN", `option Mode: "explode" is unknown: want one of ["fail" "skip"]`, "option Credentials: the resolver's name is empty", "option Keys:",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "secret-1") {
		t.Errorf("the error shows a secret:\n%v", err)
	}
	if c != before {
		t.Errorf("refused options changed the configuration: %+v", c)
	}
}
