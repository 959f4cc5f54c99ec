// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rocketmq-beam/rocketmq-beam/integration/conformance"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
	"github.com/rocketmq-beam/rocketmq-beam/internal/remoting"
)

// commitLogFile is small, so that a few messages fill a file: only whole files
// expire.
const commitLogFile = 16 << 20

func TestRealRemoting(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t,
		realmq.BrokerProperty("waitTimeMillsInSendQueue", "10000"),
		realmq.BrokerProperty("mappedFileSizeCommitLog", fmt.Sprint(commitLogFile)),
		// Files are out of date at once and are deleted only when we say so: not
		// at the hour of deletion, nor because the disk is rather full.
		realmq.BrokerProperty("fileReservedTime", "0"),
		realmq.BrokerProperty("deleteWhen", fmt.Sprintf("%02d", (time.Now().Hour()+12)%24)),
		realmq.BrokerProperty("diskMaxUsedSpaceRatio", "95"),
		realmq.BrokerProperty("cleanResourceInterval", "500"))
	conformance.RunRemoting(t, realRemoting{mq})
}

// TestRealTransactions has a broker of its own: from the first half message on
// one of its threads spins.
func TestRealTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts three JVMs")
	}
	mq := realmqtest.Start(t,
		realmq.BrokerProperty("waitTimeMillsInSendQueue", "10000"),
		realmq.BrokerProperty("transactionCheckInterval", fmt.Sprint(conformance.TransactionCheckInterval.Milliseconds())),
		realmq.BrokerProperty("transactionTimeOut", fmt.Sprint(conformance.TransactionTimeout.Milliseconds())),
		realmq.BrokerProperty("transactionCheckMax", fmt.Sprint(conformance.TransactionCheckMax)))
	conformance.RunTransactions(t, realRemoting{mq})
}

type realRemoting struct{ mq *realmq.Cluster }

func (r realRemoting) Parallel() int { return 10 }

func (r realRemoting) Open(t *testing.T, s conformance.RemotingSetup) conformance.RemotingBroker {
	t.Helper()
	for topic, queues := range s.Topics {
		if err := r.mq.CreateTopic(t.Context(), topic, realmq.Normal, realmq.Queues(queues)); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range s.Groups {
		if err := r.mq.CreateGroup(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r realRemoting) NameServer() string { return r.mq.NameServer() }

func (r realRemoting) BrokerAddr() string { return r.mq.BrokerAddr() }

func (r realRemoting) Now() time.Time { return time.Now() }

func (r realRemoting) Advance(ctx context.Context, d time.Duration) {
	realBroker{r.mq}.Advance(ctx, d)
}

func (r realRemoting) AwaitHold(ctx context.Context, _ string, _ time.Duration, done <-chan struct{}) {
	realBroker{r.mq}.AwaitPoll(ctx, "", 0, done)
}

// Roll fills the file of the commit log.
func (r realRemoting) Roll(t *testing.T) {
	t.Helper()
	const body = 4 << 20
	for range commitLogFile/body + 1 {
		r.call(t, 10, map[string]string{"producerGroup": "P", "topic": "FILLER", "defaultTopic": "TBW102", "defaultTopicQueueNums": "1",
			"queueId": "0", "sysFlag": "0", "bornTimestamp": "0", "flag": "0", "properties": ""}, []byte(strings.Repeat("x", body)))
	}
}

// Expire has the broker delete files (DELETE_EXPIRED_COMMITLOG).
func (r realRemoting) Expire(t *testing.T) {
	t.Helper()
	r.call(t, 329, nil, nil)
}

func (r realRemoting) RestartBroker(t *testing.T) {
	t.Helper()
	if err := r.mq.RestartBroker(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// call sends the broker a request that has to succeed.
func (r realRemoting) call(t *testing.T, code int, fields map[string]string, body []byte) {
	t.Helper()
	nc, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(t.Context(), "tcp", r.BrokerAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	b, err := remoting.AppendCommand(nil, &remoting.Command{Code: code, Language: "GO", Version: 513, Opaque: 1, Fields: fields, Body: body}, 64<<20)
	if err == nil {
		_, err = nc.Write(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := remoting.NewReader(bufio.NewReader(nc), 64<<20).Next()
	if err != nil || a.Code != 0 {
		t.Fatalf("request %d: %+v, %v", code, a, err)
	}
}
