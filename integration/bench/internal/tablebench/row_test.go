// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package tablebench

import (
	"bytes"
	"testing"
)

func TestBodiesAreRowsOfTheScript(t *testing.T) {
	for _, size := range []int{1, 40, 1000} {
		body := rowBody(1234, size)
		fields := bytes.Split(body, []byte("\x01"))
		if len(fields) != 3 || string(fields[0]) != "1234" || len(fields[2]) == 0 {
			t.Errorf("%d bytes: fields %q, want three, the first a number", size, fields)
		}
		if size >= 40 && len(body) != size {
			t.Errorf("%d bytes, want %d", len(body), size)
		}
	}
}
