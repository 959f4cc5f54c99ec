// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestALockIsHeldByOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v while the lock is held, want a deadline", err)
	}
	unlock()
	unlock, err = lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestAMarkerIsSeenThoughAWriteCutsIt(t *testing.T) {
	f, err := openLog(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &readyLog{file: f, marker: []byte("boot success"), seen: make(chan struct{})}
	for _, part := range []string{"The broker bo", "", "ot suc", "cess. And boot success again"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-l.seen:
	default:
		t.Error("the marker was not seen")
	}
}

func TestJavaVersionsAreRead(t *testing.T) {
	for out, want := range map[string]string{
		`openjdk version "17.0.15" 2025-04-15`: "17",
		`java version "1.8.0_292"`:             "1",
		`openjdk version "21" 2023-09-19`:      "21",
		`openjdk version "25-ea" 2025-09-16`:   "25",
	} {
		if m := javaVersion.FindStringSubmatch(out); m == nil || m[1] != want {
			t.Errorf("%s: got %q, want %s", out, m, want)
		}
	}
}
