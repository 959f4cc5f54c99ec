// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Use is what a statement does with a table; several can be added.
type Use uint8

// The uses of tables.
const (
	// Read is FROM.
	Read Use = 1 << iota
	// Write is INSERT INTO.
	Write
)

// Key is one option.
type Key struct {
	Name string
	// Type is how the value is written.
	Type string
	// Default is the value if none is given; empty if there is none.
	Default string
	// Required says for which uses of the table the key must be given.
	Required Use
	// Secret values are masked wherever options are shown.
	Secret bool
	// Own keys are not known to the connectors for Flink.
	Own bool
	// Meaning is for people, in Markdown.
	Meaning string
	// Refused is why any other value than the default is refused; empty for keys
	// that have an effect.
	Refused string
	// Idle is why the key has no effect, though its words are all taken: scripts
	// commonly carry it.
	Idle string

	read func(c *Config, text string) error
}

func (k Key) required(uses Use) Key { k.Required = uses; return k }
func (k Key) secret() Key           { k.Secret = true; return k }
func (k Key) own() Key              { k.Own = true; return k }

// text takes any text but the empty one.
func text(name, fallback, meaning string, at func(*Config) *string) Key {
	return Key{Name: name, Type: "text", Default: fallback, Meaning: meaning, read: func(c *Config, s string) error {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("want a text, leave the option out instead")
		}
		*at(c) = s
		return nil
	}}
}

// parsed takes what parse reads.
func parsed(name, typ, fallback, meaning string, parse func(c *Config, s string) error) Key {
	return Key{Name: name, Type: typ, Default: fallback, Meaning: meaning, read: parse}
}

// onOff takes true and false.
func onOff(name, fallback, meaning string, at func(*Config) *bool) Key {
	return parsed(name, "boolean", fallback, meaning, func(c *Config, s string) (err error) {
		*at(c), err = parseBoolean(s)
		return err
	})
}

func parseBoolean(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("want true or false")
}

// count takes a whole number from low to high.
func count(name, fallback string, low, high int64, meaning string, at func(*Config) *int) Key {
	return parsed(name, "number", fallback, meaning+rangeText(low, high), func(c *Config, s string) error {
		n, err := parseNumber(s, low, high)
		*at(c) = int(n)
		return err
	})
}

func rangeText(low, high int64) string { return fmt.Sprintf(" %d to %d.", low, high) }

func parseNumber(s string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("want a whole number from %d to %d", low, high)
	}
	return n, nil
}

// span is a range of durations; zero says that 0 is taken, too.
type span struct {
	low, high time.Duration
	zero      bool
}

func (s span) text() string {
	if s.zero {
		return fmt.Sprintf(" 0, or %s to %s.", plain(s.low), plain(s.high))
	}
	return fmt.Sprintf(" %s to %s.", plain(s.low), plain(s.high))
}

func (s span) check(d time.Duration) error {
	if d >= s.low && d <= s.high || s.zero && d == 0 {
		return nil
	}
	return fmt.Errorf("%s is out of range: want%s", plain(d), strings.TrimSuffix(s.text(), "."))
}

// plain is a duration as people write it.
func plain(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if d >= u.unit && d%u.unit == 0 {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// inUnits takes a whole number of milliseconds or seconds.
func inUnits(name, unit string, of time.Duration, fallback string, s span, meaning string, at func(*Config) *time.Duration) Key {
	return parsed(name, unit, fallback, meaning+s.text(), func(c *Config, text string) error {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || n < 0 || n > int64(1<<62)/int64(of) {
			return fmt.Errorf("want a whole number of %s", unit)
		}
		*at(c) = time.Duration(n) * of
		return s.check(*at(c))
	})
}

func millis(name, fallback string, s span, meaning string, at func(*Config) *time.Duration) Key {
	return inUnits(name, "milliseconds", time.Millisecond, fallback, s, meaning, at)
}

// duration takes a number with a unit.
func duration(name, fallback string, s span, meaning string, at func(*Config) *time.Duration) Key {
	return parsed(name, "duration", fallback, meaning+s.text(), func(c *Config, text string) (err error) {
		if *at(c), err = parseDuration(text); err != nil {
			return err
		}
		return s.check(*at(c))
	})
}

// choice takes one of a few words, in any case.
func choice[T ~string](name string, fallback T, values []T, meaning string, at func(*Config) *T) Key {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return parsed(name, "one of "+strings.Join(words, ", "), string(fallback), meaning, func(c *Config, s string) error {
		i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, strings.TrimSpace(s)) })
		if i < 0 {
			return fmt.Errorf("want one of %s", strings.Join(words, ", "))
		}
		*at(c) = values[i]
		return nil
	})
}

// fixed has no effect here, and is taken at its default only.
func fixed(name, typ, fallback, meaning, reason string) Key {
	return Key{Name: name, Type: typ, Default: fallback, Meaning: meaning, Refused: reason, read: func(_ *Config, s string) error {
		if fallback != "" && strings.EqualFold(strings.TrimSpace(s), fallback) {
			return nil
		}
		if fallback == "" {
			return fmt.Errorf("%s: leave the option out", reason)
		}
		return fmt.Errorf("%s: leave the option out, or set it to %s", reason, fallback)
	}}
}

// idle takes any of its words, and none has an effect.
func idle(name, fallback string, words []string, meaning, reason string) Key {
	var none string
	k := choice(name, fallback, words, meaning, func(*Config) *string { return &none })
	k.Idle = reason
	return k
}

// durationUnits are those of Flink; a number without a unit is milliseconds.
var durationUnits = map[string]time.Duration{
	"": time.Millisecond, "ms": time.Millisecond, "milli": time.Millisecond, "millis": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"us": time.Microsecond, "µs": time.Microsecond, "micro": time.Microsecond, "micros": time.Microsecond, "microsecond": time.Microsecond, "microseconds": time.Microsecond,
	"ns": time.Nanosecond, "nano": time.Nanosecond, "nanos": time.Nanosecond, "nanosecond": time.Nanosecond, "nanoseconds": time.Nanosecond,
}

func parseDuration(s string) (time.Duration, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(s)
	}
	n, err := strconv.ParseInt(s[:digits], 10, 64)
	unit, ok := durationUnits[strings.TrimSpace(s[digits:])]
	if err != nil || !ok || n > int64(1<<62)/int64(unit) {
		return 0, fmt.Errorf("want a number with a unit, such as 20 s, 500 ms or 5 min")
	}
	return time.Duration(n) * unit, nil
}

// parseList takes names with semicolons between them.
func parseList(s string, separators string) ([]string, error) {
	var out []string
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if slices.Contains(out, part) {
			return nil, fmt.Errorf("%q is named twice", part)
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("want at least one name")
	}
	return out, nil
}
