// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package connector

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Page is the page about the options of tables, in Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "\n## %s\n\nFor normal topics, by name servers.\n", Remoting)
	writeKeys(&b, Remoting)
	writeAttributes(&b)
	for _, other := range []string{Remoting4, Remoting5} {
		writeDifferences(&b, other)
	}
	fmt.Fprintf(&b, "\n## %s\n\nFor lite topics, by proxies. Tables read values only: they have no metadata.\n", GRPC)
	writeKeys(&b, GRPC)
	return b.String()
}

//go:embed page_head.md
var pageHead string

func writeKeys(b *strings.Builder, connector string) {
	keys := mustKeys(connector)
	b.WriteString("\n| Key | Type | Default | Needed | Meaning |\n|---|---|---|---|---|\n")
	for _, k := range keys {
		if k.Refused == "" && k.Idle == "" {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", keyCell(k), k.Type, code(k.Default), needed(k.Required), cell(k.Meaning))
		}
	}
	for _, k := range keys {
		if k.Idle != "" {
			fmt.Fprintf(b, "\n%s (%s) is taken and has no effect: %s.\n", keyCell(k), k.Type, k.Idle)
		}
	}
	if !slices.ContainsFunc(keys, func(k Key) bool { return k.Refused != "" }) {
		return
	}
	b.WriteString("\nTaken at their default only, because they would change nothing:\n\n| Key | Default | What it is | Why |\n|---|---|---|---|\n")
	for _, k := range keys {
		if k.Refused != "" {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", keyCell(k), code(k.Default), cell(k.Meaning), cell(k.Refused))
		}
	}
}

func mustKeys(connector string) []Key {
	keys, err := Keys(connector)
	if err != nil {
		panic(err) // a constant of this package
	}
	return keys
}

func keyCell(k Key) string {
	if k.Own {
		return code(k.Name) + " †"
	}
	return code(k.Name)
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", "\\|") + "`"
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func needed(u Use) string {
	return map[Use]string{Read: "FROM", Write: "INTO", Read | Write: "FROM, INTO"}[u]
}

func writeAttributes(b *strings.Builder) {
	b.WriteString("\nMetadata, by `column type METADATA [FROM 'key'] [VIRTUAL]`; what can only be read must be `VIRTUAL`:\n\n| Key | Type | Written | Meaning |\n|---|---|---|---|\n")
	for _, a := range Attributes(Remoting) {
		written := ""
		if a.Writable {
			written = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(a.Key), a.Type, written, a.Meaning)
	}
}

// writeDifferences tells where a connector's keys differ from those of the
// first one.
func writeDifferences(b *strings.Builder, connector string) {
	fmt.Fprintf(b, "\n## %s\n\nThe same keys as `%s`; but the start mode may not stand beside a key that says when or where", connector, Remoting)
	base := mustKeys(Remoting)
	for i, k := range mustKeys(connector) {
		if k.Default != base[i].Default {
			fmt.Fprintf(b, ", and the default of %s is %s", code(k.Name), code(k.Default))
		}
	}
	b.WriteString(".\n")
}
