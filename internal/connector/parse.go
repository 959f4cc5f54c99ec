// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// Fault is one option that is wrong or missing.
type Fault struct {
	// Key is the option, Value its value as it may be shown: secrets are masked.
	Key, Value string
	// Missing says that the option is not given.
	Missing bool
	Reason  string
}

// Error names key and value.
func (f *Fault) Error() string {
	if f.Missing {
		return fmt.Sprintf("'%s' is missing: %s", f.Key, f.Reason)
	}
	return fmt.Sprintf("'%s' = '%s': %s", f.Key, f.Value, f.Reason)
}

// Masked stands for secrets wherever options are shown.
const Masked = "******"

// options is what was given, while it is read.
type options struct {
	with   map[string]string
	keys   []Key
	config *Config
	faults []error
}

// Parse reads the options of a table, 'connector' among them, for what the
// statements do with the table. Its error joins a [*Fault] for each option that
// is unknown, wrong, missing, or does not go with others or with the columns.
func Parse(with map[string]string, use Use, columns sqltype.Schema) (*Config, error) {
	keys, err := Keys(with["connector"])
	if err != nil {
		return nil, err
	}
	o := &options{with: with, keys: keys, config: &Config{Connector: with["connector"]}}
	o.readAll()
	o.require(use)
	o.settle(use)
	o.checkColumns(use, columns)
	if len(o.faults) > 0 {
		return nil, errors.Join(o.faults...)
	}
	return o.config, nil
}

func (o *options) given(key string) bool { _, ok := o.with[key]; return ok }

// set says that an option is given with a value other than that of none.
func (o *options) set(key string) bool {
	return o.given(key) && strings.TrimSpace(o.with[key]) != unset
}

// on is the value of a boolean.
func (o *options) on(key string) bool {
	v, ok := o.with[key]
	if !ok {
		v = o.key(key).Default
	}
	on, _ := parseBoolean(v)
	return on
}

func (o *options) key(name string) Key {
	i := slices.IndexFunc(o.keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}
	}
	return o.keys[i]
}

func (o *options) fail(key, reason string, args ...any) {
	f := &Fault{Key: key, Reason: fmt.Sprintf(reason, args...)}
	if value, given := o.with[key]; given {
		f.Value = o.shown(key, value)
	} else {
		f.Missing = true
	}
	o.faults = append(o.faults, f)
}

// shown is a value as people may see it.
func (o *options) shown(key, value string) string {
	if k := o.key(key); k.Secret || k.Name == "" && looksSecret(key) {
		return Masked
	}
	return sqltype.Shorten(value)
}

// looksSecret says that a key that is not known may be a secret that is spelled
// wrong.
func looksSecret(key string) bool {
	key = strings.ToLower(key)
	for _, part := range []string{"secret", "access", "key", "password", "token", "credential"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

func (o *options) readAll() {
	for _, k := range o.keys {
		value, given := o.with[k.Name]
		if !given {
			if k.Default != "" {
				// The tests make sure that defaults can be read.
				_ = k.read(o.config, k.Default)
			}
			continue
		}
		if err := k.read(o.config, value); err != nil {
			o.fail(k.Name, "%v", err)
		}
	}
	var unknown []string
	for name := range o.with {
		if name != "connector" && o.key(name).Name == "" {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		o.fail(name, "connector %s has no such option%s", o.config.Connector, o.hint(name))
	}
}

// hint is the key that was perhaps meant.
func (o *options) hint(name string) string {
	plain := func(s string) string {
		return strings.NewReplacer(".", "", "-", "", "_", "").Replace(strings.ToLower(s))
	}
	best, distance := "", max(2, len(name)/8)+1
	for _, k := range o.keys {
		if d := levenshtein.ComputeDistance(plain(name), plain(k.Name)); d < distance {
			best, distance = k.Name, d
		}
	}
	if best != "" {
		return fmt.Sprintf(", do you mean '%s'?", best)
	}
	for _, other := range Identifiers() {
		keys, err := Keys(other)
		if err == nil && slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name }) {
			return fmt.Sprintf(", connector %s has", other)
		}
	}
	return ""
}

func (o *options) require(use Use) {
	for _, k := range o.keys {
		if k.Required&use == 0 || o.given(k.Name) {
			continue
		}
		what := map[Use]string{Read: "a table that is read needs it", Write: "a table that is written needs it", Read | Write: "each table needs it"}[k.Required]
		o.fail(k.Name, "%s", what)
	}
}
