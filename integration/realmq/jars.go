// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed pom.xml
var pom []byte

// jarsTimeout bounds the download of the jars.
const jarsTimeout = 10 * time.Minute

// cacheDir is where the jars of all users of this package on this account
// live. The version is part of the name: another one gets its own folder.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder for the jars of RocketMQ: %w", err)
	}
	return filepath.Join(base, "rocketmq-beam", "rocketmq-5.5.0"), nil
}

// cachedJars returns the folder of the jars if it is there. It appears by a
// rename once it is complete, so what is there is whole.
func cachedJars() (string, bool) {
	dir, err := cacheDir()
	if err != nil {
		return "", false
	}
	lib := filepath.Join(dir, "lib")
	found, err := filepath.Glob(filepath.Join(lib, "rocketmq-proxy-*.jar"))
	return lib, err == nil && len(found) == 1
}

// jars returns the folder that holds the jars of RocketMQ, and fetches them
// with Maven if they are not there. Parallel callers, also of other processes,
// wait for the one that fetches.
func jars(ctx context.Context) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	lib, ok := cachedJars()
	if ok {
		return lib, nil
	}
	mvn, err := findMaven()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("folder for the jars of RocketMQ: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, jarsTimeout)
	defer cancel()
	unlock, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return "", fmt.Errorf("waiting for another process that fetches the jars of RocketMQ: %w", err)
	}
	defer unlock()
	if _, ok := cachedJars(); ok {
		return lib, nil
	}
	return lib, fetchJars(ctx, mvn, dir, lib)
}

// fetchJars runs Maven into a folder beside lib and renames it at the end.
func fetchJars(ctx context.Context, mvn, dir, lib string) error {
	work, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return fmt.Errorf("folder for fetching the jars of RocketMQ: %w", err)
	}
	defer os.RemoveAll(work)
	pomFile, target := filepath.Join(work, "pom.xml"), filepath.Join(work, "lib")
	if err := os.WriteFile(pomFile, pom, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", pomFile, err)
	}
	cmd := exec.CommandContext(ctx, mvn, "-B", "-f", pomFile,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+target)
	cmd.WaitDelay = 5 * time.Second
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetching the jars of RocketMQ with %q: %w; last lines:\n%s",
			strings.Join(cmd.Args, " "), err, lastLines(string(out), 15))
	}
	if err := os.RemoveAll(lib); err != nil {
		return fmt.Errorf("replacing the jars of RocketMQ: %w", err)
	}
	if err := os.Rename(target, lib); err != nil {
		return fmt.Errorf("keeping the jars of RocketMQ: %w", err)
	}
	return nil
}

// classpath lists the jars one by one and sorted: the class archive of
// [archive] is valid only for exactly the class path that it was made with.
func classpath(lib string) (string, error) {
	found, err := filepath.Glob(filepath.Join(lib, "*.jar"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no jars of RocketMQ in %s: remove that folder to fetch them again", lib)
	}
	return strings.Join(found, string(os.PathListSeparator)), nil
}

// lastLines returns the last n lines of s.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
