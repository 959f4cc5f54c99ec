// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	// Workers run in images that may lack the time zones.
	_ "time/tzdata"
)

var offset = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)

// LoadZone finds a time zone by its name, such as Asia/Shanghai, or by its
// offset, such as +08:00, UTC+8 or GMT+08:00. Empty is UTC. The zone of the
// machine is refused, for workers may be in others.
func LoadZone(name string) (*time.Location, error) {
	if m := offset.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2])
		minutes, _ := strconv.Atoi("0" + m[3])
		if hours > 18 || minutes > 59 {
			return nil, fmt.Errorf("time zone %q: want an offset of at most 18 hours", name)
		}
		seconds := (hours*60 + minutes) * 60
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(name, seconds), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("time zone %q: want a name such as Asia/Shanghai or an offset such as +08:00", name)
	}
	return zone, nil
}
