#!/usr/bin/env bash
# Sets up this machine, builds everything and runs all tests. The last line is
# `N passed, N failed`. Arguments go to `bazel test` (say, //passes/...).
set -uo pipefail
cd "$(dirname "$0")"
tools/dev/setup.sh test || exit 1
# Trained models to check against, when there are any (docs/testing.md).
[ $# -gt 0 ] || set -- //...
models=${NPU_MODELS:-../shared/models}
[ -d "$models" ] && set -- "--test_env=NPU_MODELS=$(realpath "$models")" "$@"
bazel test --build_tests_only=false --keep_going \
  --show_progress_rate_limit=30 "$@"
status=$?
python3 tools/dev/count_tests.py "$status"
