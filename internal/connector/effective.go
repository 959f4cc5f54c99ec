// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

// Setting is an option as it holds for a table.
type Setting struct {
	Key string
	// Value is masked if it is a secret, and empty if there is none.
	Value string
	// Given says that it stands in the script; else it is the default.
	Given bool
}

// Effective is all options of a table that have an effect and a value, in the
// order of [Keys], with secrets masked.
func Effective(with map[string]string) ([]Setting, error) {
	keys, err := Keys(with["connector"])
	if err != nil {
		return nil, err
	}
	o := &options{with: with, keys: keys, config: &Config{}}
	settings := []Setting{{"connector", with["connector"], true}}
	for _, k := range keys {
		value, given := with[k.Name]
		switch {
		case given:
			settings = append(settings, Setting{k.Name, o.shown(k.Name, value), true})
		case k.Default != "" && k.Default != unset && k.Refused == "":
			settings = append(settings, Setting{k.Name, k.Default, false})
		}
	}
	return settings, nil
}
