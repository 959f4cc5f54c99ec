// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package asyncsink

import (
	"container/heap"
	"time"
)

// alarms has the lane that is to be looked at first on top.
type alarms[In, Entry, Ack any] []*lane[In, Entry, Ack]

func (a alarms[In, Entry, Ack]) Len() int           { return len(a) }
func (a alarms[In, Entry, Ack]) Less(i, j int) bool { return a[i].wake.Before(a[j].wake) }
func (a alarms[In, Entry, Ack]) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}
func (a *alarms[In, Entry, Ack]) Push(x any) {
	l := x.(*lane[In, Entry, Ack])
	l.index = len(*a)
	*a = append(*a, l)
}
func (a *alarms[In, Entry, Ack]) Pop() any {
	last := len(*a) - 1
	l := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	l.index = -1
	return l
}

// setAlarm has the lane looked at again at that time, zero for never. The lock
// is held.
func (s *Sink[In, Entry, Ack]) setAlarm(l *lane[In, Entry, Ack], at time.Time) {
	if at.Equal(l.wake) && at.IsZero() == (l.index < 0) {
		return
	}
	l.wake = at
	switch {
	case at.IsZero() && l.index >= 0:
		heap.Remove(&s.alarms, l.index)
		return
	case at.IsZero():
		return
	case l.index >= 0:
		heap.Fix(&s.alarms, l.index)
	default:
		heap.Push(&s.alarms, l)
	}
	if s.alarms[0] == l && (s.nextAlarm.IsZero() || at.Before(s.nextAlarm)) {
		select {
		case s.kick <- struct{}{}:
		default: // it is about to look anyway
		}
	}
}

// keepTime looks at lanes when their time has come, until the sink is closed.
func (s *Sink[In, Entry, Ack]) keepTime() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.kick:
		case <-timer.C:
		}
		s.mu.Lock()
		now := time.Now()
		for len(s.alarms) > 0 && !s.alarms[0].wake.After(now) {
			l := s.alarms[0]
			s.setAlarm(l, time.Time{})
			s.assess(l, now)
		}
		s.pump(now)
		s.nextAlarm = time.Time{}
		wait := time.Hour
		if len(s.alarms) > 0 {
			s.nextAlarm = s.alarms[0].wake
			wait = max(s.nextAlarm.Sub(now), 0)
		}
		s.mu.Unlock()
		timer.Reset(wait)
	}
}
