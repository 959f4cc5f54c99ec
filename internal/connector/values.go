// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// parseEndpoints checks a list of host:port. Vendors print name servers with
// http:// before them.
func parseEndpoints(schemes bool) func(c *Config, s string) error {
	return func(c *Config, s string) error {
		all, err := parseList(s, ";,")
		if err != nil {
			return errors.New("want host:port, several with ; between them")
		}
		for _, address := range all {
			if schemes {
				address = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"), "/")
			}
			host, port, err := net.SplitHostPort(address)
			n, portErr := strconv.ParseUint(port, 10, 16)
			if err != nil || portErr != nil || n == 0 || host == "" {
				return fmt.Errorf("%q is not host:port with a port from 1 to 65535", address)
			}
		}
		c.Client.Endpoints = s
		return nil
	}
}

// parseTags takes tags with || between them; a star and nothing are all.
func parseTags(c *Config, s string) error {
	c.Source.Tags = nil
	if s = strings.TrimSpace(s); s == "" || s == "*" {
		return nil
	}
	for part := range strings.SplitSeq(s, "||") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if strings.ContainsAny(part, "|*") {
			return fmt.Errorf("%q is no whole tag: there are no patterns, several tags have || between them", part)
		}
		c.Source.Tags = append(c.Source.Tags, part)
	}
	if len(c.Source.Tags) == 0 {
		return errors.New("want a tag, several with || between them, or * for all")
	}
	return nil
}

// startModes are the words for start modes in both documents of the connectors.
var startModes = map[string]StartMode{
	"earliest": Earliest, "latest": Latest, "group": Committed, "group_offsets": Committed, "timestamp": AtTime,
	"specific": AtOffset, "specific_offset": AtOffset, "specific_offsets": AtOffset,
}

func parseStartMode(c *Config, s string) error {
	mode, ok := startModes[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", "_")]
	if !ok {
		return errors.New("want earliest, latest, group (or group_offsets), timestamp, or specific (or specific_offset)")
	}
	c.Source.Start.Mode = mode
	return nil
}

// unset is what the documents give as the default of offsets: none.
const unset = "-1"

func parseOffset(c *Config, s string) (err error) {
	if strings.TrimSpace(s) == unset {
		return nil
	}
	c.Source.Start.Offset, err = parseNumber(s, 0, 1<<62)
	return err
}

// parseInstant takes milliseconds since 1970.
func parseInstant(at func(*Config) *time.Time) func(c *Config, s string) error {
	return func(c *Config, s string) error {
		if strings.TrimSpace(s) == unset {
			return nil
		}
		ms, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil || ms <= 0 || ms > lastMillisecond {
			return errors.New("want milliseconds since 1970")
		}
		*at(c) = time.UnixMilli(ms).UTC()
		return nil
	}
}

// lastMillisecond is the end of the year 9999.
const lastMillisecond = 253402300799999

// parseDate checks a date; the zone is known when all options were read.
func parseDate(_ *Config, s string) error {
	_, err := dateIn(s, time.UTC)
	return err
}

func dateIn(s string, zone *time.Location) (time.Time, error) {
	at, err := time.ParseInLocation(time.DateTime, strings.TrimSpace(s), zone)
	if err != nil {
		return time.Time{}, errors.New("want yyyy-MM-dd HH:mm:ss")
	}
	if at.UnixMilli() <= 0 {
		return time.Time{}, errors.New("want a date after 1970")
	}
	return at.UTC(), nil
}

func parseZone(c *Config, s string) error {
	_, err := sqltype.LoadZone(s)
	c.Format.Zone = s
	return err
}

// unescape reads the escapes of Java, in which delimiters are written. Twice, if
// the result is an escape itself: documents show them with two backslashes.
func unescape(s string) (string, error) {
	out, err := unescapeOnce(s)
	if err == nil && strings.HasPrefix(out, `\`) && len(out) > 1 {
		return unescapeOnce(out)
	}
	return out, err
}

func unescapeOnce(s string) (string, error) {
	var b strings.Builder
	for s != "" {
		if s[0] != '\\' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if s == `\` {
			b.WriteByte('\\') // a backslash as delimiter
			break
		}
		r, rest, err := escape(s[1:])
		if err != nil {
			return "", err
		}
		b.WriteRune(r)
		s = rest
	}
	return b.String(), nil
}

var simpleEscapes = map[byte]rune{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f', 'b': '\b', '\\': '\\', '\'': '\'', '"': '"', '|': '|', '0': 0}

// escape reads what stands behind a backslash.
func escape(s string) (r rune, rest string, err error) {
	digits := map[byte]int{'u': 4, 'x': 2}[s[0]]
	if digits == 0 {
		r, ok := simpleEscapes[s[0]]
		if !ok {
			return 0, "", fmt.Errorf("unknown escape \\%c: want \\u0001, \\x01, \\t, \\n, \\r, \\\\", s[0])
		}
		return r, s[1:], nil
	}
	if len(s) < 1+digits {
		return 0, "", fmt.Errorf("escape \\%s: want %d hexadecimal digits", s, digits)
	}
	n, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil || n >= 0xd800 && n < 0xe000 {
		return 0, "", fmt.Errorf("escape \\%s: want %d hexadecimal digits of a character", s[:1+digits], digits)
	}
	return rune(n), s[1+digits:], nil
}

// parseDelimiter takes a delimiter with escapes.
func parseDelimiter(at func(*Config) *string) func(c *Config, s string) error {
	return func(c *Config, s string) (err error) {
		if *at(c), err = unescape(s); err == nil && *at(c) == "" {
			err = errors.New("want at least one character")
		}
		return err
	}
}
