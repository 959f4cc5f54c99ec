// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package rocketmqio

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"

	"github.com/rocketmq-beam/rocketmq-beam/coders"
	"github.com/rocketmq-beam/rocketmq-beam/internal/option"
	"github.com/rocketmq-beam/rocketmq-beam/internal/userfunc"
)

// The defaults of transactions.
const (
	DefaultTransactionTimeout = 15 * time.Minute
	DefaultCommitConcurrency  = 64
	DefaultCommitSettle       = 4 * time.Second
	// producerGroupPrefix begins the producer groups of transactions.
	producerGroupPrefix = "PID-beam-txn-"
)

// CommitCheck says when the commit step asks the brokers whether a message with
// the key is there already.
type CommitCheck string

// When to ask.
const (
	// CheckAlways asks before each commit. It is what makes a repetition by the
	// runner, in whatever process, harmless.
	CheckAlways CommitCheck = "always"
	// CheckAfterDoubt asks only if this process has tried to commit the key before
	// without knowing the outcome. It saves a request for each message, and stores
	// twice what the runner has committed again in another process, or what is
	// prepared again with the same key.
	CheckAfterDoubt CommitCheck = "after-doubt"
)

// LostPolicy says what to do with a half message that can no longer be committed,
// though no message with its key is there.
type LostPolicy string

// What to do with it.
const (
	// FailLost fails the bundle, with a [*TransactionError].
	FailLost LostPolicy = "fail"
	// ReportLost makes it a [WriteResult] with the error, and goes on. The message
	// is not written.
	ReportLost LostPolicy = "report"
)

// transaction are the settings of EXACTLY_ONCE. They are part of the pipeline
// graph.
type transaction struct {
	Timeout     time.Duration `json:"timeout"`
	Check       CommitCheck   `json:"check"`
	Lost        LostPolicy    `json:"lost"`
	Concurrency int           `json:"concurrency"`
	Settle      time.Duration `json:"settle"`
	Finalize    time.Duration `json:"finalize,omitempty"` // 0: only the commit step commits

	key any // the user's function; a step of its own holds it
}

func newTransaction() transaction {
	return transaction{Timeout: DefaultTransactionTimeout, Check: CheckAlways, Lost: FailLost, Concurrency: DefaultCommitConcurrency, Settle: DefaultCommitSettle}
}

// WriteExactlyOnce writes each message as a transaction, and with the key as its
// unique key: of all messages with the same key and topic, consumers see one.
//
// The key must be a function of the element alone, so that it is the same when the
// runner repeats a bundle or somebody starts the pipeline again, and must differ
// for any two messages of a topic that are both wanted: an order number, or topic,
// queue and offset of what was read. It may have no white space, comma or control
// character. The function must be registered with Beam (register.Function1x1).
//
// Without such a function, [WriteGuarantee] with [ExactlyOnce] takes each message's
// UniqueKey, and where there is none a random one: then what a failed bundle had
// prepared stays invisible, and only what is prepared is written exactly once.
func WriteExactlyOnce[T OutgoingMessage | coders.Message](key func(T) string) WriteOption {
	return func(c *writeConfig) error {
		if key == nil {
			return errors.New("option WriteExactlyOnce: the function is nil: for random keys use WriteGuarantee(ExactlyOnce)")
		}
		if err := userfunc.Check("option WriteExactlyOnce: the function", reflectx.MakeFunc(key)); err != nil {
			return err
		}
		c.Guarantee, c.Transaction.key = ExactlyOnce, key
		return nil
	}
}

// WriteTransactionTimeout bounds the time between the preparation of a message and
// its commit, which includes what the runner takes from one step to the next: on
// Flink up to a checkpoint interval, and the time that the pipeline is down. A
// broker refuses a commit that comes later, and begins to check the message only
// then. The broker's clock and the worker's both count. 1 s to 24 h, default 15 min;
// less than the broker's transactionTimeOut (6 s) counts as that.
//
// Nothing is lost by the broker's transactionCheckMax × transactionCheckInterval
// (7.5 min by default) being less: a half message that was put away can be
// committed all the same.
func WriteTransactionTimeout(d time.Duration) WriteOption {
	return option.InRange("WriteTransactionTimeout", d, time.Second, 24*time.Hour, func(c *writeConfig) { c.Transaction.Timeout = d })
}

// WriteCommitCheck sets when the commit step asks whether a message is there.
// Default [CheckAlways].
func WriteCommitCheck(when CommitCheck) WriteOption {
	return option.OneOf("WriteCommitCheck", when, []CommitCheck{CheckAlways, CheckAfterDoubt}, func(c *writeConfig) { c.Transaction.Check = when })
}

// WriteLostTransactions sets what becomes of a message that can no longer be
// committed. Default [FailLost].
func WriteLostTransactions(policy LostPolicy) WriteOption {
	return option.OneOf("WriteLostTransactions", policy, []LostPolicy{FailLost, ReportLost}, func(c *writeConfig) { c.Transaction.Lost = policy })
}

// WriteCommitConcurrency sets how many commits a worker process has in flight. 1 to
// 1024, default 64.
func WriteCommitConcurrency(n int) WriteOption {
	return option.InRange("WriteCommitConcurrency", n, 1, 1024, func(c *writeConfig) { c.Transaction.Concurrency = n })
}

// WriteCommitSettle sets how long a broker may take to carry out, or throw away,
// a commit that nobody waits for any more, and to index what it stored. It should
// be more than the broker's waitTimeMillsInTransactionQueue, which is 3 s. So long
// the first commits of a process wait, and those that are repeated. 10 ms to 5 min,
// default 4 s.
func WriteCommitSettle(d time.Duration) WriteOption {
	return option.InRange("WriteCommitSettle", d, 10*time.Millisecond, 5*time.Minute, func(c *writeConfig) { c.Transaction.Settle = d })
}

// WriteCommitAtFinalization has the runner's callback at the end of a bundle commit
// what the bundle has prepared, so that it is visible before it has gone through
// the shuffle to the commit step. That step stays behind it and commits what the
// callback did not, for nothing else is certain: runners finalize bundles as well
// as they can, and the SDK, up to 2.77, runs the first callback of each plan only.
// The transform finds that out, logs it once, and goes on without.
//
// A callback commits within the expiry, from the first message of its bundle on; it
// should be more than the time that a bundle takes and the runner needs to finalize
// it, on Flink a checkpoint interval. A commit step in another process leaves what
// is not there yet alone for as long, and until a late commit has settled. So where
// steps run in several processes a long expiry makes what no callback has committed
// visible later. On Flink the commit step is first anyway: handles come through its
// shuffle before the checkpoint. 1 s to 10 min, default: no callbacks.
func WriteCommitAtFinalization(expiry time.Duration) WriteOption {
	return option.InRange("WriteCommitAtFinalization", expiry, time.Second, 10*time.Minute, func(c *writeConfig) { c.Transaction.Finalize = expiry })
}

// checkTransaction judges what belongs together.
func (c *writeConfig) checkTransaction() error {
	if c.Guarantee != ExactlyOnce {
		t := c.Transaction
		if t.key = nil; t != newTransaction() {
			return fmt.Errorf("options of transactions with guarantee %s: they mean something with EXACTLY_ONCE only", c.Guarantee)
		}
		return nil
	}
	if c.FailOnTimeout {
		return errors.New("WriteFailOnTimeout with EXACTLY_ONCE: a request without answer is repeated, for the repetition does no harm")
	}
	if c.Transaction.Finalize > 0 && c.Transaction.Check != CheckAlways {
		return errors.New("WriteCommitCheck(after-doubt) with WriteCommitAtFinalization: the commit step must ask, or it commits again what a callback has committed")
	}
	for status, policy := range c.Unsafe {
		if policy == RetryUnsafe {
			return fmt.Errorf("WriteUnsafe(retry, %s) with EXACTLY_ONCE: what is committed is not written again; use accept or fail", status)
		}
	}
	return nil
}

// nameGroup gives the transform a producer group of its own, unless it was given
// one: the broker asks any producer of the group about half messages. The name is
// the same when the pipeline is started again, so that it is asked about what it
// had left behind.
func (c *writeConfig) nameGroup(scope string) {
	if c.groupGiven {
		return
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.NameServers, c.Namespace, c.Topic, scope))
	c.Group = producerGroupPrefix + hex.EncodeToString(sum[:8])
}
