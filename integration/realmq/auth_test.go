// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq_test

import (
	"testing"

	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq"
	"github.com/rocketmq-beam/rocketmq-beam/integration/realmq/realmqtest"
)

// A cluster with access control can be administered as one without.
func TestAClusterWithAuthentication(t *testing.T) {
	t.Parallel()
	mq := realmqtest.Start(t, realmq.Authentication("admin", "a-secret-of-the-test"))
	if err := mq.CreateTopic(t.Context(), "guarded", realmq.Lite); err != nil {
		t.Fatal(err)
	}
	if err := mq.CreateGroup(t.Context(), "guards", realmq.LiteBind("guarded"), realmq.Wildcard()); err != nil {
		t.Fatal(err)
	}
}
