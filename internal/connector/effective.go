// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"slices"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/format"
	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Setting is an option as it holds for a table.
type Setting struct {
	Key string
	// Value is masked if it is a secret, and empty if there is none.
	Value string
	// Given says that it stands in the script; else it is the default.
	Given bool
}

// Effective is all options that have a value and an effect on what is done with
// the table, in the order of [Keys], with secrets masked. Options that are given
// are all there.
func Effective(with map[string]string, use Use, columns sqltype.Schema) ([]Setting, error) {
	keys, err := Keys(with["connector"])
	if err != nil {
		return nil, err
	}
	o := &options{with: with, keys: keys, config: &Config{}}
	kind := kindOf(with["format"], columns)
	settings := []Setting{{"connector", with["connector"], true}}
	for _, k := range keys {
		value, given := with[k.Name]
		switch {
		case given:
			settings = append(settings, Setting{k.Name, o.shown(k.Name, value), true})
		case k.Default != "" && k.Default != unset && k.Refused == "" && k.Idle == "" && o.matters(k.Name, use, kind):
			settings = append(settings, Setting{k.Name, k.Default, false})
		}
	}
	return settings, nil
}

// matters says that the default of a key has an effect.
func (o *options) matters(key string, use Use, kind format.Kind) bool {
	owner := belongsTo(key)
	switch {
	case owner != "":
		return owner == kind
	case strings.HasPrefix(key, "rocketmq.source.") && use&Read == 0, strings.HasPrefix(key, "rocketmq.sink.") && use&Write == 0:
		return false
	case key == fieldDelimiter || key == lineDelimiter || key == lengthCheck:
		return kind == format.Delimited
	case key == "rocketmq.client.message.encoding":
		return kind != format.JSON && kind != format.Raw
	case key == transactionTimeout:
		return strings.EqualFold(strings.TrimSpace(o.with["rocketmq.sink.delivery.guarantee"]), string(ExactlyOnce))
	case key == renewalAhead:
		return o.given("rocketmq.source.renewal-policy-class")
	case key == commitInterval:
		return o.on(commitAuto) || o.on(commitCheckpoint)
	case key == "rocketmq.source.startup.scan.mode":
		return !slices.ContainsFunc(startKeys, o.set)
	}
	return true
}
