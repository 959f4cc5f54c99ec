// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"fmt"
	"strconv"
	"strings"
)

// orderedReviveQueue marks the handles of ordered queues.
const orderedReviveQueue = 999

// Kinds of the queue that a handle points to.
const (
	handleOfTopic = "0"
	handleOfRetry = "1"
)

// handle is a receipt handle: nine numbers and names separated by blanks. It
// carries its own deadline, which is how a proxy without a session can tell that
// it expired. It does not name the lite topic, which therefore has to be sent
// beside it.
type handle struct {
	startOffset int64
	popTime     int64 // ms
	invisible   int64 // ms
	reviveQueue int
	kind        string
	broker      string
	queue       int32
	offset      int64
	commitLog   int64
}

func (h handle) String() string {
	return fmt.Sprintf("%d %d %d %d %s %s %d %d %d", h.startOffset, h.popTime, h.invisible,
		h.reviveQueue, h.kind, h.broker, h.queue, h.offset, h.commitLog)
}

func (h handle) deadline() int64 { return h.popTime + h.invisible }

// parseHandle reads a receipt handle. Its errors carry the texts of RocketMQ.
func parseHandle(s string) (handle, error) {
	f := strings.Split(s, " ")
	if len(f) < 8 {
		return handle{}, fmt.Errorf("Parse failed, dataList size %d. IllegalArgumentException. org.apache.rocketmq.common.consumer.ReceiptHandle.decode(ReceiptHandle.java:56)", len(f)) //nolint:staticcheck // text of RocketMQ
	}
	if len(f) == 8 {
		f = append(f, "-1")
	}
	var h handle
	var bad string
	num := func(i int) int64 {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil && bad == "" {
			bad = f[i]
		}
		return n
	}
	h.startOffset, h.popTime, h.invisible = num(0), num(1), num(2)
	h.reviveQueue, h.kind, h.broker = int(num(3)), f[4], f[5]
	h.queue, h.offset, h.commitLog = int32(num(6)), num(7), num(8)
	if bad != "" {
		return handle{}, fmt.Errorf("For input string: %q. NumberFormatException. java.base/java.lang.NumberFormatException.forInputString(NumberFormatException.java:67)", bad) //nolint:staticcheck // text of RocketMQ
	}
	return h, nil
}
