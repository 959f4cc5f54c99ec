// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// leg is what the transforms of one leg share with the program that runs it.
type leg struct {
	ctx   context.Context // ends before the pipeline does
	books *stats.Ledger
	slots *semaphore.Weighted // the workers, first come first served
}

// legs finds a leg by its id. Beam rebuilds a DoFn from its JSON form, in which
// nothing but a name can travel; and the workers are in this process.
var legs = struct {
	sync.Mutex
	byID map[string]*leg
}{byID: make(map[string]*leg)}

func enrol(id string, l *leg) (forget func()) {
	legs.Lock()
	defer legs.Unlock()
	legs.byID[id] = l
	return func() {
		legs.Lock()
		defer legs.Unlock()
		delete(legs.byID, id)
	}
}

// findLeg fails in a bundle that outlived its leg.
func findLeg(id string) (*leg, error) {
	legs.Lock()
	defer legs.Unlock()
	l, ok := legs.byID[id]
	if !ok {
		return nil, fmt.Errorf("fairshare: leg %s has ended, or runs in another process", id)
	}
	return l, nil
}

// member is embedded by the DoFns of a leg.
type member struct {
	Leg string

	leg *leg
}

// Setup finds the leg.
func (m *member) Setup() (err error) {
	m.leg, err = findLeg(m.Leg)
	return err
}
