#!/usr/bin/env bash
# Sets up this machine, builds everything and runs all tests. The last line is
# `N passed, N failed`. Arguments go to `bazel test` (say, //passes/...).
set -uo pipefail
cd "$(dirname "$0")"
tools/dev/setup.sh || exit 1
[ $# -gt 0 ] || set -- //...
bazel test --build_tests_only=false --keep_going \
  --show_progress_rate_limit=30 "$@"
status=$?
python3 tools/dev/count_tests.py "$status"
