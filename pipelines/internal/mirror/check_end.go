// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"errors"
	"fmt"

	"github.com/rocketmq-beam/rocketmq-beam/auth"
	"github.com/rocketmq-beam/rocketmq-beam/internal/litegrpc"
	"github.com/rocketmq-beam/rocketmq-beam/internal/names"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// checkEnds refuses ends that cannot be. Its error names each flag that is wrong.
func (o *Options) checkEnds() error {
	group := errors.New("--group is empty")
	if o.Group != "" {
		group = flagged("--group", names.CheckGroup(o.Group))
	}
	return errors.Join(o.From.check("--from", o.Lite), o.To.check("--to", o.Lite), group)
}

func (c *Cluster) check(flag string, lite bool) error {
	var faults []error
	switch {
	case c.Address == "":
		faults = append(faults, fmt.Errorf("%s is empty", flag))
	case lite:
		_, err := litegrpc.ParseEndpoints(c.Address)
		faults = append(faults, flagged(flag, err))
	default:
		_, err := remoting.ParseNameServers(c.Address)
		faults = append(faults, flagged(flag, err))
	}
	if c.Topic == "" {
		faults = append(faults, fmt.Errorf("%s-topic is empty", flag))
	} else {
		faults = append(faults, flagged(flag+"-topic", names.CheckTopic(c.Topic)))
	}
	if c.Credentials != "" {
		source := auth.Source{Resolver: c.Credentials}
		faults = append(faults, flagged(flag+"-credentials", source.Check()))
	}
	if err := c.TLS.Check(); err != nil {
		faults = append(faults, flagged(flag+"-tls and its companions", err))
	} else if _, err := c.TLS.Config(); err != nil {
		faults = append(faults, flagged(flag+"-tls-ca", err))
	}
	return errors.Join(faults...)
}

func flagged(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
