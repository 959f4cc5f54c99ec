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
# Two packages at a time: those with a real RocketMQ need the memory and the
# cores of two.
demo=$(mktemp -d)
events=$demo/events
: >"$events.race"
: >"$events.plain"
ahead=""
trap '[[ -z $ahead ]] || kill "$ahead" 2>/dev/null || true; rm -rf "$demo"' EXIT
whole=""
((${#packages[@]} == 1)) && [[ ${packages[0]} == ./... ]] && whole=yes
# Without the race detector Beam is built once more: while the tests wait.
demo_tests=(./internal/portable ./pipelines/internal/fairshare ./integration/runners ./integration/security)
if [[ -n $whole ]]; then
  (nice -n 19 go test -vet=off -run '^$' "${demo_tests[@]}" && nice -n 19 go build -o "$demo/pipelines" ./pipelines) >/dev/null 2>&1 &
  ahead=$!
fi
run() { go tool gotestsum --format pkgname --hide-summary=output --jsonfile "$events.$1" -- "${@:2}"; }
run race -race -p 2 -timeout 20m "${packages[@]}"

ran="the packages named"
if [[ -n $whole ]]; then
  say "what Beam's own races keep from the race detector"
  wait "$ahead" || true # what is wrong shows below
  ahead=""
  run plain -vet=off -p 2 -timeout 20m "${demo_tests[@]}"
  say "the demo, as a newcomer runs it"
  go run ./pipelines fairshare --plot "$demo/fairshare.svg" >"$demo/out"
  tail -n 1 "$demo/out"
  ran="all packages and the demo"
fi

# The tests themselves say what was skipped, such as for a Java that is too old,
# or rows of integration/faults that take a minute and run with CI=true only.
skipped=$(cat "$events".* | grep '"Action":"skip"' | grep -c '"Test":' || true)
say "passed: $ran; tests skipped: $skipped"
if ((skipped > 0)); then
  cat "$events".* | grep '"Action":"skip"' | sed -n 's/.*"Package":"\([^"]*\)","Test":"\([^"]*\)".*/  skipped: \1 \2/p'
  if [[ ${CI:-} == true ]]; then
    echo "with CI=true nothing may be skipped"
    exit 1
  fi
fi
