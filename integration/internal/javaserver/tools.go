// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

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

// Missing tells that a tool of this machine is missing or too old, so that a
// server cannot be started here.
type Missing struct {
	// Server is what cannot be started: "RocketMQ".
	Server string
	// Tool is what is needed: "java >= 17" or "mvn".
	Tool string
	// Reason is what was found instead.
	Reason string
}

// Error names the tool and what was found instead of it.
func (m *Missing) Error() string {
	return fmt.Sprintf("no real %s on this machine: %s is missing: %s", m.Server, m.Tool, m.Reason)
}

// Java is a Java runtime that is new enough.
type Java struct {
	Path    string
	Version string // first line of java -version; tells runtimes apart
}

var javaVersion = regexp.MustCompile(`version "(\d+)[^"]*"`)

// FindJava takes $JAVA_HOME/bin/java, or java from the path, for a server that
// needs a Java of that age.
func FindJava(server string, oldest int) (*Java, error) {
	missing := func(reason string) error {
		return &Missing{Server: server, Tool: fmt.Sprintf("java >= %d", oldest), Reason: reason}
	}
	path, err := exec.LookPath("java")
	if home := os.Getenv("JAVA_HOME"); home != "" {
		path, err = exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	if err != nil {
		return nil, missing(err.Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return nil, missing(fmt.Sprintf("%s -version: %v", path, err))
	}
	version := strings.TrimSpace(string(out))
	m := javaVersion.FindStringSubmatch(version)
	if m == nil {
		return nil, missing(fmt.Sprintf("%s -version answers %q", path, version))
	}
	if major, _ := strconv.Atoi(m[1]); major < oldest {
		return nil, missing(fmt.Sprintf("%s is version %s", path, m[1]))
	}
	return &Java{Path: path, Version: version}, nil
}

func findMaven(server string) (string, error) {
	path, err := exec.LookPath("mvn")
	if err != nil {
		return "", &Missing{Server: server, Tool: "mvn", Reason: err.Error()}
	}
	return path, nil
}
