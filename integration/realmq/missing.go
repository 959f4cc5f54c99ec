// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// minJava is the oldest Java that RocketMQ 5.5.0's proxy runs on with the
// flags used here.
const minJava = 17

// Missing tells that a tool of this machine is missing or too old, so that no
// real RocketMQ can be started here.
type Missing struct {
	// Tool is what is needed: "java >= 17" or "mvn".
	Tool string
	// Reason is what was found instead.
	Reason string
}

// Error names the tool and what was found instead of it.
func (m *Missing) Error() string {
	return fmt.Sprintf("no real RocketMQ on this machine: %s is missing: %s", m.Tool, m.Reason)
}

// Available returns nil if a real RocketMQ can be started here, and a
// [*Missing] that names the first missing tool otherwise. Maven is needed only
// as long as the jars are not in the cache folder.
func Available() error {
	if _, err := findJava(); err != nil {
		return err
	}
	if _, ok := cachedJars(); ok {
		return nil
	}
	_, err := findMaven()
	return err
}

// java is a Java runtime that is new enough.
type java struct {
	path    string
	version string // first line of java -version; tells runtimes apart
}

var javaVersion = regexp.MustCompile(`version "(\d+)[^"]*"`)

// findJava takes $JAVA_HOME/bin/java, or java from the path.
func findJava() (*java, error) {
	need := fmt.Sprintf("java >= %d", minJava)
	path, err := exec.LookPath("java")
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path, err = exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	if err != nil {
		return nil, &Missing{Tool: need, Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return nil, &Missing{Tool: need, Reason: fmt.Sprintf("%s -version: %v", path, err)}
	}
	version := strings.TrimSpace(string(out))
	m := javaVersion.FindStringSubmatch(version)
	if m == nil {
		return nil, &Missing{Tool: need, Reason: fmt.Sprintf("%s -version answers %q", path, version)}
	}
	if major, _ := strconv.Atoi(m[1]); major < minJava {
		return nil, &Missing{Tool: need, Reason: fmt.Sprintf("%s is version %s", path, m[1])}
	}
	return &java{path: path, version: version}, nil
}

func findMaven() (string, error) {
	path, err := exec.LookPath("mvn")
	if err != nil {
		return "", &Missing{Tool: "mvn", Reason: err.Error()}
	}
	return path, nil
}
