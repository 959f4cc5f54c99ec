#!/usr/bin/env bash
# Copyright The rocketmq-beam Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Proves the whole project: unit tests and the embedded broker with the race
# detector, and, where Java 17 and Maven are found, a real RocketMQ, which the
# tests fetch, start and stop themselves.
#
#   ./test.sh            all that this machine can run; says what it skipped
#   CI=true ./test.sh    all of it, or failure
#   ./test.sh ./coders   the packages named
set -euo pipefail
cd "$(dirname "$0")"

packages=("$@")
((${#packages[@]})) || packages=(./...)

say() { printf '\n== %s\n' "$*"; }

say "format"
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [[ -n $unformatted ]]; then
  printf 'not formatted (gofmt -w):\n%s\n' "$unformatted"
  exit 1
fi

say "modules"
go mod verify >/dev/null && echo "verified"

missing=""
for tool in java mvn; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [[ -n $missing ]]; then
  if [[ ${CI:-} == true ]]; then
    echo "missing:$missing; with CI=true nothing may be skipped"
    exit 1
  fi
  say "the legs against a real RocketMQ and on Flink are SKIPPED, for want of:$missing"
fi

say "tests, with the race detector"
events=$(mktemp -d)
touch "$events/all" "$events/plain"
trap 'rc=$?; ((rc == 0)) || failures; rm -rf "$events"' EXIT
# What the tests that failed said, without what they logged.
failures() {
  cat "$events"/{all,plain} | grep '"Action":"fail"' | sed -n 's/.*\("Package":"[^"]*","Test":"[^"]*"\).*/\1/p' >"$events/names" || true
  [[ -s $events/names ]] || return 0
  say "what they said"
  cat "$events"/{all,plain} | grep -F -f "$events/names" |
    sed -nE 's/.*"Test":"([^"]*)".*"Output":"( +[a-z0-9_]+_test\.go:[0-9]+: .*|        .*|panic: .*|WARNING: DATA RACE.*)\\n".*/\1: \2/p' | tail -n 60 || true
}
# Beam is left out of it: its harness and prism have races of their own, over which
# a test that lets a job fail would trip.
# Nothing may be inlined into it: what it would bring along of the standard library
# and of instances of generic code would be linked for all, without the detector.
build=(-race -tags plainbeam "-gcflags=github.com/apache/beam/...=-race=false -l")
# Those that take longest begin first, so that the others pass beside them. Real
# servers need the memory and the cores of a package.
atonce=2
[[ -z $missing ]] || atonce=5 # most of the time they wait
whole="" failed=""
((${#packages[@]} == 1)) && [[ ${packages[0]} == ./... ]] && whole=yes
[[ -z $whole ]] || packages=(./rocketmqio ./integration/faults ./integration/conformance ./integration/runners ./...)
go tool gotestsum --format pkgname --hide-summary=output --jsonfile "$events/all" -- "${build[@]}" -p "$atonce" -timeout 20m "${packages[@]}" || failed=yes

ran="the packages named"
# Some tests have the constraint !race, for Beam reads one gRPC stream from two
# goroutines when a job is cancelled, and finalizes bundles without a lock.
files=$(grep -l --include=*_test.go -r '^//go:build !race$' .)
plain=$(dirname $files | sort -u)
names=$(sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/\1/p' $files | paste -sd'|')
if [[ -n $whole && -z $missing ]]; then
  say "what Beam does not let the race detector see"
  go tool gotestsum --format pkgname --hide-summary=output --jsonfile "$events/plain" -- -vet=off -p 2 -timeout 20m -run "^($names)$" $plain || failed=yes
elif [[ -n $whole ]]; then
  say "the tests without the race detector, most of them on Flink, are SKIPPED with the legs above: go test -run '^($names)\$'" $plain
fi
[[ -z $failed ]] || exit 1
if [[ -n $whole ]]; then
  say "the demo"
  go build "${build[@]}" -o "$events/pipelines" ./pipelines
  "$events/pipelines" fairshare --plot "$events/fairshare.svg" >"$events/out"
  tail -n 1 "$events/out"
  ran="all packages and the demo"
fi

# The tests themselves say what was skipped, such as for a Java that is too old,
# or rows of integration/faults that take long and run with CI=true only.
skipped=$(cat "$events/all" "$events/plain" | grep '"Action":"skip"' | grep -c '"Test":' || true)
say "passed: $ran; tests skipped: $skipped"
if ((skipped > 0)); then
  cat "$events/all" "$events/plain" | grep '"Action":"skip"' | sed -n 's/.*"Package":"\([^"]*\)","Test":"\([^"]*\)".*/  skipped: \1 \2/p'
  if [[ ${CI:-} == true ]]; then
    echo "with CI=true nothing may be skipped"
    exit 1
  fi
fi
