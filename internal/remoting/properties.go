// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of properties that this package or its users know.
const (
	PropertyKeys        = "KEYS"
	PropertyTags        = "TAGS"
	PropertyUniqueKey   = "UNIQ_KEY"
	PropertyShardingKey = "__SHARDINGKEY"
	PropertyDelayLevel  = "DELAY"
	PropertyRetryTopic  = "RETRY_TOPIC"
	PropertyWaitStore   = "WAIT"
	// PropertyCheckImmunity is after how many seconds the broker may begin to
	// check a half message; a later commit is refused with code 604.
	PropertyCheckImmunity = "CHECK_IMMUNITY_TIME_IN_SECONDS"

	propertyPrepared      = "TRAN_MSG"
	propertyProducerGroup = "PGROUP"
)

const (
	nameEnd  = "\x01" // between a name and its value
	valueEnd = "\x02" // after a value
)

// Properties are the properties of a message as the broker keeps them: one
// string, so that a message nobody asks for properties costs no map.
type Properties string

// All yields names and values in the order of the wire. As everywhere in
// RocketMQ, entries without name or value do not count.
func (p Properties) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		rest := string(p)
		for rest != "" {
			var entry string
			entry, rest, _ = strings.Cut(rest, valueEnd)
			name, value, _ := strings.Cut(entry, nameEnd)
			if name != "" && value != "" && !yield(name, value) {
				return
			}
		}
	}
}

// Get returns a value, empty if there is none. Where a name occurs twice, the
// later one counts.
func (p Properties) Get(name string) string {
	found := ""
	for n, v := range p.All() {
		if n == name {
			found = v
		}
	}
	return found
}

// Map returns the properties as a new map.
func (p Properties) Map() map[string]string {
	m := make(map[string]string, strings.Count(string(p), valueEnd)+1)
	maps.Insert(m, p.All())
	return m
}

// NewProperties writes m in the form of the wire, sorted by name. What it refuses
// and leaves out is what [PropertyWriter.Add] does.
func NewProperties(m map[string]string) (Properties, error) {
	var w PropertyWriter
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := w.Add(name, m[name]); err != nil {
			return "", err
		}
	}
	return w.Properties()
}

// PropertiesOf writes names and values in turn. It panics where [PropertyWriter.Add]
// would refuse: it is for those that are known to be right.
func PropertiesOf(pairs ...string) Properties {
	var w PropertyWriter
	for i := 0; i < len(pairs); i += 2 {
		if err := w.Add(pairs[i], pairs[i+1]); err != nil {
			panic(err)
		}
	}
	p, err := w.Properties()
	if err != nil {
		panic(err)
	}
	return p
}

// PropertyWriter writes properties in the form of the wire, in the order of the
// calls. Its zero value is ready.
type PropertyWriter struct{ b strings.Builder }

// Add writes a property, unless it has no value. It refuses what would read back
// differently: an empty name, the separators \x01 and \x02, text that is no UTF-8.
func (w *PropertyWriter) Add(name, value string) error {
	if err := checkProperty(name, value); err != nil || value == "" {
		return err
	}
	w.b.WriteString(name)
	w.b.WriteString(nameEnd)
	w.b.WriteString(value)
	w.b.WriteString(valueEnd)
	return nil
}

func checkProperty(name, value string) error {
	switch {
	case name == "":
		return fmt.Errorf("a property has no name")
	case hasSeparator(name):
		return fmt.Errorf("the name of property %q contains \\x01 or \\x02, which RocketMQ uses itself", name)
	case hasSeparator(value):
		return fmt.Errorf("the value of property %q contains \\x01 or \\x02, which RocketMQ uses itself", name)
	case !utf8.ValidString(name), !utf8.ValidString(value):
		return fmt.Errorf("property %q is not valid UTF-8", name)
	}
	return nil
}

// hasSeparator is asked for each property: twice looking for a byte is quicker than
// once for either.
func hasSeparator(text string) bool {
	return strings.IndexByte(text, nameEnd[0]) >= 0 || strings.IndexByte(text, valueEnd[0]) >= 0
}

// Grow makes room for n bytes more.
func (w *PropertyWriter) Grow(n int) { w.b.Grow(n) }

// Len is how many bytes were written.
func (w *PropertyWriter) Len() int { return w.b.Len() }

// Properties is what was written, unless it is more than the 32767 bytes that a
// broker takes.
func (w *PropertyWriter) Properties() (Properties, error) {
	if err := checkPropertiesSize(w.b.Len()); err != nil {
		return "", err
	}
	return Properties(w.b.String()), nil
}

func checkPropertiesSize(n int) error {
	if n > math.MaxInt16 {
		return fmt.Errorf("properties of %d bytes, more than the %d that RocketMQ takes", n, math.MaxInt16)
	}
	return nil
}
