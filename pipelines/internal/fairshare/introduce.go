// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"fmt"
	"io"
	"time"
)

// introduce says in a few lines what is going to be seen, and where.
func introduce(out io.Writer, o Options) {
	where := "a broker inside this program"
	if o.Endpoints != "" {
		where = fmt.Sprintf("the cluster at %s, topic %s, group %s", o.Endpoints, o.Topic, o.Group)
	}
	l := o.Load
	fmt.Fprintf(out, "On %s, by %s: %d calm tenants with %g messages a second each, and a noisy one with %g in %d lite topics, for %v.\n",
		where, o.Runner.Name(), l.Tenants, l.CalmRate, l.NoisyRate, l.NoisySessions, l.Duration)
	fmt.Fprintf(out, "The work takes %v a message, %d at a time: %.0f a second. Leg \"none\" has no policy; in leg \"fair\" at most %d messages of a tenant\n"+
		"pass in each %v, and the rest is delivered again after about %v (so \"delivered\" counts it again). \"-\": no such messages are left.\n\n",
		o.Work, o.Workers, float64(o.Workers)*float64(time.Second)/float64(o.Work), o.Quota, o.Window, o.Defer)
}
