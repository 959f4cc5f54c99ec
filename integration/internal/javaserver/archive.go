// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package javaserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Loading classes is most of what the servers do while they start. The JVM can
// keep loaded classes in an archive file; with it they are up in about a third
// of the time. The archive is made from a running server when the first of an
// account is closed, and only ever an improvement: a JVM ignores an archive that does not fit, and every failure
// here is ignored.

// Archive is the class archive of one server for one Java and one set of jars.
type Archive struct {
	file string // "" if there is no place for it
	jcmd string // "" if it exists already or cannot be made
}

// NewArchive finds the archive of a server, or where it may be made.
func NewArchive(j *Java, lib, server string) *Archive {
	sum := sha256.Sum256([]byte(j.Version + "\x00" + lib))
	dir := filepath.Join(filepath.Dir(lib), "classes-"+hex.EncodeToString(sum[:6]))
	if os.MkdirAll(dir, 0o755) != nil {
		return &Archive{}
	}
	a := &Archive{file: filepath.Join(dir, server+".jsa")}
	if _, err := os.Stat(a.file); err == nil {
		return a
	}
	real, err := filepath.EvalSymlinks(j.Path)
	if err != nil {
		real = j.Path
	}
	a.jcmd, _ = exec.LookPath(filepath.Join(filepath.Dir(real), "jcmd"))
	return a
}

// Flags are what the JVM must be told to use the archive, or to be able to
// make it.
func (a *Archive) Flags() []string {
	switch {
	case a.file == "":
		return nil
	case a.jcmd != "":
		return []string{"-XX:+RecordDynamicDumpInfo", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"}
	default:
		return []string{"-XX:SharedArchiveFile=" + a.file, "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"}
	}
}

// Dump makes the archive from the running server, if there is none.
func (a *Archive) Dump(ctx context.Context, pid int) {
	if a.jcmd == "" {
		return
	}
	tmp := a.file + "." + strconv.Itoa(pid)
	defer os.Remove(tmp)
	cmd := exec.CommandContext(ctx, a.jcmd, strconv.Itoa(pid), "VM.cds", "dynamic_dump", tmp)
	cmd.WaitDelay = time.Second
	if cmd.Run() != nil {
		return
	}
	if info, err := os.Stat(tmp); err == nil && info.Size() > 0 {
		_ = os.Rename(tmp, a.file)
	}
}

// DumpTimeout bounds what the first Close pays for the later starts.
const DumpTimeout = 20 * time.Second
