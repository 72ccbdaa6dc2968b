#!/usr/bin/env bash
# Sets up this machine, builds, compiles the sample network to INT8, classifies
# a picture on the NPU, and compares float and INT8 accuracy.
set -euo pipefail
cd "$(dirname "$0")"
tools/dev/setup.sh
bazel build --show_progress_rate_limit=5 //tools/npu
exec examples/roadsigns/demo.sh out/bin/tools/npu/npu
