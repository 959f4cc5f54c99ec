// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package beamlog

import (
	"context"
	"log/slog"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/google/go-cmp/cmp"
)

type recorder struct{ lines []string }

func (r *recorder) Log(_ context.Context, sev log.Severity, _ int, msg string) {
	r.lines = append(r.lines, map[log.Severity]string{log.SevInfo: "info ", log.SevWarn: "warn ", log.SevError: "error "}[sev]+msg)
}

// L36: the client's log reaches Beam's at the right level.
func TestRecordsReachBeamsLogAtTheirLevel(t *testing.T) {
	r := &recorder{}
	log.SetLogger(r)
	t.Cleanup(func() { log.SetLogger(&log.Standard{}) })
	l := Logger("lite").With("proxy", "h:1")
	l.Debug("not seen")
	l.Info("open", "tries", 2)
	l.WithGroup("g").Warn("lost", slog.String("why", "eof"))
	l.Error("gone")
	want := []string{"info lite proxy=h:1: open tries=2", "warn lite proxy=h:1: lost g.why=eof", "error lite proxy=h:1: gone"}
	if diff := cmp.Diff(want, r.lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
