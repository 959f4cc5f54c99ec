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
  say "the legs against a real RocketMQ are SKIPPED, for want of:$missing"
fi

say "tests, with the race detector"
# Two packages at a time: those with a real RocketMQ need the memory and the
# cores of two.
go tool gotestsum --format pkgname --hide-summary=output -- -race -p 2 -timeout 20m "${packages[@]}"

if ((${#packages[@]} == 1)) && [[ ${packages[0]} == ./... ]]; then
  say "the demo, as a newcomer runs it"
  demo=$(mktemp -d)
  trap 'rm -rf "$demo"' EXIT
  go run ./pipelines fairshare --plot "$demo/fairshare.svg" >"$demo/out"
  tail -n 1 "$demo/out"
fi

if [[ -n $missing ]]; then
  say "passed; SKIPPED for want of$missing: everything against a real RocketMQ"
else
  say "passed; nothing was skipped"
fi
