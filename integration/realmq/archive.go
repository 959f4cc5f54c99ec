// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Loading classes is most of what RocketMQ's servers do while they start. The
// JVM can keep loaded classes in an archive file; with it the three servers
// are up in about a third of the time. The archive is made from the running
// servers when the first cluster of an account closes, and only ever an
// improvement: a JVM ignores an archive that does not fit, and every failure
// here is ignored.

// dumpTimeout bounds what the first Close pays for the later starts.
const dumpTimeout = 20 * time.Second

// archive is the class archive of one server for one Java and one set of jars.
type archive struct {
	file string // "" if there is no place for it
	jcmd string // "" if it exists already or cannot be made
}

func newArchive(j *java, lib, server string) *archive {
	sum := sha256.Sum256([]byte(j.version + "\x00" + lib))
	dir := filepath.Join(filepath.Dir(lib), "classes-"+hex.EncodeToString(sum[:6]))
	if os.MkdirAll(dir, 0o755) != nil {
		return &archive{}
	}
	a := &archive{file: filepath.Join(dir, server+".jsa")}
	if _, err := os.Stat(a.file); err == nil {
		return a
	}
	real, err := filepath.EvalSymlinks(j.path)
	if err != nil {
		real = j.path
	}
	a.jcmd, _ = exec.LookPath(filepath.Join(filepath.Dir(real), "jcmd"))
	return a
}

// flags are what the JVM must be told to use the archive, or to be able to
// make it.
func (a *archive) flags() []string {
	switch {
	case a.file == "":
		return nil
	case a.jcmd != "":
		return []string{"-XX:+RecordDynamicDumpInfo", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"}
	default:
		return []string{"-XX:SharedArchiveFile=" + a.file, "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"}
	}
}

// dump makes the archive from the running server.
func (a *archive) dump(ctx context.Context, pid int) {
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

// dumpArchives makes the missing archives of all running servers at once.
func (c *Cluster) dumpArchives() {
	ctx, cancel := context.WithTimeout(context.Background(), dumpTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range c.servers() {
		if s.proc != nil && s.proc.running() {
			wg.Go(func() { s.archive.dump(ctx, s.proc.pid()) })
		}
	}
	wg.Wait()
}
