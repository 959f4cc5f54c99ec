// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Read receives the messages of all lite topics below the main topic, for a
// consumer group with a wildcard subscription, and returns a
// PCollection<coders.AckableMessage>. It never acknowledges: let the pipeline
// end in ackfn.Ack, or messages come back when their leases end.
//
// endpoints are the proxies, as host:port[;host:port]. The result is unbounded;
// with [ReadMaxRecords], [ReadMaxDuration] or [ReadIdleTimeout] it ends all the
// same. Event times are those of arrival unless [ReadPublishTime] says
// otherwise.
//
// Read panics if an argument or option is wrong, with a text that names it. A
// proxy that cannot be reached, wrong credentials, a missing topic and a group
// of the wrong kind fail the pipeline within 10 seconds of its start; later
// faults that may pass are waited out, see [ReadStallTimeout].
func Read(s beam.Scope, endpoints, topic, group string, opts ...ReadOption) beam.PCollection {
	s = s.Scope("litegrpcio.Read")
	cfg, err := newReadConfig(endpoints, topic, group, opts)
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.Read: %v", err))
	}
	return beam.ParDo(s, &readFn{source{Config: cfg}}, beam.Impulse(s))
}

// ReadBounded is [Read] with a bounded result, for batches and for runners that
// know no unbounded sources, such as the direct runner. It reads in one bundle,
// so what follows a shuffle sees nothing before the reading has ended; that is
// after [ReadMaxRecords], [ReadMaxDuration] or [ReadIdleTimeout], of which one
// must be given, and in any case after half the invisible duration, for the
// leases must outlive the reading.
func ReadBounded(s beam.Scope, endpoints, topic, group string, opts ...ReadOption) beam.PCollection {
	s = s.Scope("litegrpcio.ReadBounded")
	cfg, err := newReadConfig(endpoints, topic, group, opts)
	if err == nil {
		err = cfg.makeBounded()
	}
	if err != nil {
		panic(fmt.Sprintf("litegrpcio.ReadBounded: %v", err))
	}
	return beam.ParDo(s, &readBoundedFn{source{Config: cfg}}, beam.Impulse(s))
}

// makeBounded checks and completes the limits of a bounded reading.
func (c *readConfig) makeBounded() error {
	if !c.bounded() {
		return fmt.Errorf("no limit: give one with ReadMaxRecords, ReadMaxDuration or ReadIdleTimeout")
	}
	longest := c.InvisibleDuration / 2
	if c.MaxDuration > longest {
		return fmt.Errorf("max duration %v is more than half the invisible duration %v: leases would end before the bundle that reads them",
			c.MaxDuration, c.InvisibleDuration)
	}
	if c.MaxDuration == 0 {
		c.MaxDuration = longest
	}
	return nil
}
