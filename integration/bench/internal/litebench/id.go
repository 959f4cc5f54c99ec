// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litebench

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// ids are the message ids of one leg. They end with the message's number, so
// that counting distinct ids takes no map: the counting must cost next to
// nothing beside what is measured.
type ids struct{ prefix string }

const (
	numberDigits = 8
	randomBytes  = 12
)

func newIDs() ids {
	random := make([]byte, randomBytes)
	_, _ = rand.Read(random) // never fails
	return ids{prefix: "01" + strings.ToUpper(hex.EncodeToString(random))}
}

// of is the id of message i, in the form that RocketMQ's clients give their
// ids.
func (x ids) of(i int) string { return fmt.Sprintf("%s%0*X", x.prefix, numberDigits, i) }

// number is the number in an id, or -1 if it is none of ours.
func (x ids) number(id string) int {
	digits, ok := strings.CutPrefix(id, x.prefix)
	if !ok || len(digits) != numberDigits {
		return -1
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return -1
	}
	return int(n)
}
