// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// jarsTimeout bounds the download of the jars.
const jarsTimeout = 10 * time.Minute

// Jars are the jars of a server, which Maven fetches and the cache folder keeps.
type Jars struct {
	// Server is its name, for messages.
	Server string
	// Folder is where they are kept, below the folder of this module in the
	// user's cache folder. The version is part of the name: another one gets its
	// own folder.
	Folder string
	// POM is the project whose dependencies they are.
	POM []byte
	// Sign is a pattern of the name of one of them.
	Sign string
}

func (j *Jars) dir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder for the jars of %s: %w", j.Server, err)
	}
	return filepath.Join(base, "rocketmq-beam", j.Folder), nil
}

// Available returns nil if the jars are there or can be fetched, else a
// [*Missing].
func (j *Jars) Available() error {
	if _, ok := j.cached(); ok {
		return nil
	}
	_, err := findMaven(j.Server)
	return err
}

// cached returns the folder of the jars if it is there. It appears by a rename
// once it is complete, so what is there is whole.
func (j *Jars) cached() (string, bool) {
	dir, err := j.dir()
	if err != nil {
		return "", false
	}
	lib := filepath.Join(dir, "lib")
	found, err := filepath.Glob(filepath.Join(lib, j.Sign))
	return lib, err == nil && len(found) == 1
}

// Fetch returns the folder that holds the jars, and fetches them with Maven if
// they are not there. Parallel callers, also of other processes, wait for the
// one that fetches.
func (j *Jars) Fetch(ctx context.Context) (string, error) {
	dir, err := j.dir()
	if err != nil {
		return "", err
	}
	lib, ok := j.cached()
	if ok {
		return lib, nil
	}
	mvn, err := findMaven(j.Server)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("folder for the jars of %s: %w", j.Server, err)
	}
	ctx, cancel := context.WithTimeout(ctx, jarsTimeout)
	defer cancel()
	unlock, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return "", fmt.Errorf("waiting for another process that fetches the jars of %s: %w", j.Server, err)
	}
	defer unlock()
	if _, ok := j.cached(); ok {
		return lib, nil
	}
	return lib, j.fetch(ctx, mvn, dir, lib)
}

// fetch runs Maven into a folder beside lib and renames it at the end.
func (j *Jars) fetch(ctx context.Context, mvn, dir, lib string) error {
	work, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return fmt.Errorf("folder for fetching the jars of %s: %w", j.Server, err)
	}
	defer os.RemoveAll(work)
	pomFile, target := filepath.Join(work, "pom.xml"), filepath.Join(work, "lib")
	if err := os.WriteFile(pomFile, j.POM, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", pomFile, err)
	}
	cmd := exec.CommandContext(ctx, mvn, "-B", "-f", pomFile,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+target)
	cmd.WaitDelay = 5 * time.Second
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetching the jars of %s with %q: %w; last lines:\n%s",
			j.Server, strings.Join(cmd.Args, " "), err, lastLines(string(out), 15))
	}
	if err := os.RemoveAll(lib); err != nil {
		return fmt.Errorf("replacing the jars of %s: %w", j.Server, err)
	}
	if err := os.Rename(target, lib); err != nil {
		return fmt.Errorf("keeping the jars of %s: %w", j.Server, err)
	}
	return nil
}

// Classpath lists the jars one by one and sorted: the class archive of
// [Archive] is valid only for exactly the class path that it was made with.
func (j *Jars) Classpath(lib string) (string, error) {
	found, err := filepath.Glob(filepath.Join(lib, "*.jar"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no jars of %s in %s: remove that folder to fetch them again", j.Server, lib)
	}
	return strings.Join(found, string(os.PathListSeparator)), nil
}
