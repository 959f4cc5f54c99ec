// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNoFormOfPrintingShowsKeys(t *testing.T) {
	k := Keys{AccessKey: "AKTESTKEY", SecretKey: "SKTESTSECRET", SecurityToken: "TOKTEST"}
	s := Source{StaticAccessKey: "AKTESTKEY", StaticSecretKey: "SKTESTSECRET"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		fmt.Fprintf(&out, verb+"\n"+verb+"\n"+verb+"\n", k, &k, s)
		fmt.Fprintf(&out, verb+"\n", struct{ K Keys }{k})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "keys", k, "source", s)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "keys", k)
	if data, err := json.Marshal(k); err != nil {
		t.Error(err)
	} else {
		out.Write(data)
	}
	for _, secret := range []string{"AKTESTKEY", "SKTESTSECRET", "TOKTEST"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is shown:\n%s", secret, out.String())
		}
	}
}

func TestTheEnvironmentResolver(t *testing.T) {
	provider := Source{Resolver: "env"}.Provider("h:1")
	t.Setenv(EnvAccessKey, "")
	if _, err := provider(t.Context()); err == nil || !strings.Contains(err.Error(), EnvAccessKey) {
		t.Errorf("without variables: got %v", err)
	}
	t.Setenv(EnvAccessKey, "AK")
	t.Setenv(EnvSecretKey, "SK")
	t.Setenv(EnvSecurityToken, "T")
	if k, err := provider(t.Context()); err != nil || k != (Keys{"AK", "SK", "T"}) {
		t.Errorf("got %v", err)
	}
	t.Setenv(EnvAccessKey, "hush\n")
	if _, err := (Source{Resolver: "env"}).Provider("h:1")(t.Context()); err == nil || !strings.Contains(err.Error(), "access key holds a control character") || strings.Contains(err.Error(), "hush") {
		t.Errorf("with a line end: got %v", err)
	}
}

func TestTheFileResolver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		content, endpoints, want, fault string
	}{
		"the entry of the endpoints": {`{"h:1":{"accessKey":"A","secretKey":"S"},"*":{"accessKey":"B","secretKey":"S"}}`, "h:1", "A", ""},
		"the entry for all others":   {`{"*":{"accessKey":"B","secretKey":"S"}}`, "h:1", "B", ""},
		"no entry":                   {`{"x:1":{"accessKey":"B","secretKey":"S"}}`, "h:1", "", `"h:1"`},
		"half an entry":              {`{"*":{"accessKey":"B"}}`, "h:1", "", "secretKey"},
		"no JSON, with a secret":     {`{"*": SECRET`, "h:1", "", "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			write(c.content)
			k, err := Source{Resolver: "file:" + path}.Provider(c.endpoints)(t.Context())
			if k.AccessKey != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("got %q, %v", k.AccessKey, err)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error shows the file: %v", err)
			}
		})
	}
	if _, err := (Source{Resolver: "file"}).Provider("h:1")(t.Context()); err == nil || !strings.Contains(err.Error(), "path") {
		t.Errorf("without a path: %v", err)
	}
}

// A resolver may ask a remote service: it is asked every half minute, and what
// it gave before serves on while it fails.
func TestAResolverIsAskedSeldomAndMayFailForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, fail := 0, false
		name := "test-" + strings.ReplaceAll(t.Name(), "/", "-")
		Register(name, func(_ context.Context, endpoints, argument string) (Keys, error) {
			asked++
			if fail {
				return Keys{}, errors.New("away")
			}
			return Keys{AccessKey: fmt.Sprint(endpoints, " ", argument, " ", asked), SecretKey: "S"}, nil
		})
		keys := Source{Resolver: name + ":arg"}.Provider("h:1")
		get := func(want string) {
			t.Helper()
			if k, err := keys(t.Context()); err != nil || k.AccessKey != want {
				t.Errorf("got %q, %v, want %q", k.AccessKey, err, want)
			}
		}
		get("h:1 arg 1")
		get("h:1 arg 1")
		time.Sleep(31 * time.Second) // on the test's own clock
		get("h:1 arg 2")
		fail = true
		time.Sleep(31 * time.Second)
		get("h:1 arg 2")
		if asked != 3 {
			t.Errorf("asked %d times, want 3", asked)
		}
	})
}

func TestSourcesAndTLSThatCannotWorkAreRefused(t *testing.T) {
	for want, err := range map[string]error{
		`unknown credentials resolver "vault"`: Source{Resolver: "vault:x"}.Check(),
		"choose one":                           Source{Resolver: "env", StaticAccessKey: "A", StaticSecretKey: "S"}.Check(),
		"one of them is empty":                 Source{StaticSecretKey: "S"}.Check(),
		"the secret key holds a control":       Source{StaticAccessKey: "A", StaticSecretKey: "hush\n"}.Check(),
		"TLS is off":                           TLS{ServerName: "x"}.Check(),
		"give both or neither":                 TLS{Enabled: true, CertFile: "c"}.Check(),
		"skip-verify":                          TLS{Enabled: true, SkipVerify: true, CAFile: "c"}.Check(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	for _, err := range []error{Source{}.Check(), Source{Resolver: "env"}.Check(), TLS{}.Check(), TLS{Enabled: true, SkipVerify: true}.Check()} {
		if err != nil {
			t.Error(err)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.pem")
	if _, err := (TLS{Enabled: true, CAFile: missing}).Config(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing CA file: %v", err)
	}
	if cfg, err := (TLS{}).Config(); cfg != nil || err != nil {
		t.Errorf("TLS off: %v, %v", cfg, err)
	}
}

func TestAResolverIsRegisteredOnce(t *testing.T) {
	none := func(context.Context, string, string) (Keys, error) { return Keys{}, nil }
	for _, name := range []string{"", "a:b", "env"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Register(%q) did not panic", name)
				}
			}()
			Register(name, none)
		}()
	}
}

// A pipe would hold up whoever asks for keys until somebody writes to it.
func TestKeysAreReadFromRegularFilesOnly(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		pipe = os.DevNull // this machine has no pipes
	}
	for _, path := range []string{pipe, t.TempDir()} {
		_, err := Source{Resolver: "file:" + path}.Provider("proxy:8081")(t.Context())
		if err == nil || !strings.Contains(err.Error(), "want a regular file") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}
