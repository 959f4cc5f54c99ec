// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The layouts in which dates and times are written; a fraction of a second may
// follow the seconds, a T may stand for the blank.
const (
	dateLayout      = "2006-01-02"
	timeLayout      = "15:04:05"
	timestampLayout = dateLayout + " " + timeLayout
)

func temporalParser(t Type, zone *time.Location) Parser {
	switch t.Kind {
	case Date:
		return parseDate
	case Time:
		return func(s string) (any, error) { return parseTime(t, s) }
	case Timestamp:
		return func(s string) (any, error) { return parseTimestamp(t, s, zone) }
	}
	return func(s string) (any, error) { return parseInstant(t, s, zone) }
}

func parseDate(s string) (any, error) {
	d, err := time.Parse(dateLayout, strings.TrimSpace(s))
	if err != nil {
		return nil, fmt.Errorf("%w: want yyyy-MM-dd", ErrSyntax)
	}
	return d, checkYear(d)
}

// parseTime reads a time of day, or milliseconds since midnight.
func parseTime(t Type, s string) (any, error) {
	s = strings.TrimSpace(s)
	if ms, ok := wholeNumber(s); ok {
		if ms < 0 || ms >= 24*time.Hour.Milliseconds() {
			return nil, fmt.Errorf("%w of a day: %d milliseconds", ErrRange, ms)
		}
		return (time.Duration(ms) * time.Millisecond).Truncate(fraction(t)), nil
	}
	at, err := time.Parse(timeLayout, s)
	if err != nil {
		return nil, fmt.Errorf("%w: want HH:mm:ss or milliseconds", ErrSyntax)
	}
	return sinceMidnight(at).Truncate(fraction(t)), nil
}

func sinceMidnight(at time.Time) time.Duration {
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute +
		time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
}

// parseTimestamp reads a clock; milliseconds since 1970 are read off a clock in
// the zone.
func parseTimestamp(t Type, s string, zone *time.Location) (any, error) {
	s = strings.TrimSpace(s)
	if ms, ok := wholeNumber(s); ok {
		at := ClockIn(time.UnixMilli(ms), zone)
		return at.Truncate(fraction(t)), checkYear(at)
	}
	at, err := parseClock(s, time.UTC)
	if err != nil {
		return nil, err
	}
	return at.Truncate(fraction(t)), nil
}

// parseInstant reads a clock with an offset such as Z or +08:00, a clock in the
// zone, or milliseconds since 1970.
func parseInstant(t Type, s string, zone *time.Location) (any, error) {
	s = strings.TrimSpace(s)
	if ms, ok := wholeNumber(s); ok {
		at := time.UnixMilli(ms).UTC()
		return at.Truncate(fraction(t)), checkYear(at)
	}
	for _, suffix := range []string{"Z07:00", " Z07:00"} {
		if at, err := time.Parse(timestampLayout+suffix, blankForT(s)); err == nil {
			return at.UTC().Truncate(fraction(t)), checkYear(at)
		}
	}
	at, err := parseClock(s, zone)
	if err != nil {
		return nil, err
	}
	return at.UTC().Truncate(fraction(t)), nil
}

func parseClock(s string, zone *time.Location) (time.Time, error) {
	if at, err := time.ParseInLocation(timestampLayout, blankForT(s), zone); err == nil {
		return at, checkYear(at)
	}
	if at, err := time.ParseInLocation(dateLayout, s, zone); err == nil {
		return at, checkYear(at)
	}
	return time.Time{}, fmt.Errorf("%w: want yyyy-MM-dd HH:mm:ss or milliseconds since 1970", ErrSyntax)
}

func blankForT(s string) string {
	if len(s) > 10 && s[10] == 'T' {
		return s[:10] + " " + s[11:]
	}
	return s
}

func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// checkYear refuses clocks that SQL cannot write.
func checkYear(clock time.Time) error {
	if y := clock.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("%w: the year %d lies beyond the years 1 to 9999", ErrRange, y)
	}
	return nil
}

// ClockIn is what a clock in the zone shows at an instant, as a TIMESTAMP.
func ClockIn(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
}

// InstantOf is when a clock in the zone shows the TIMESTAMP.
func InstantOf(clock time.Time, zone *time.Location) time.Time {
	return time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), zone).UTC()
}

// fraction is the smallest step of a TIME or TIMESTAMP.
func fraction(t Type) time.Duration {
	step := time.Second
	for range t.Precision {
		step /= 10
	}
	return step
}
