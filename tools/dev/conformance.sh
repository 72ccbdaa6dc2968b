#!/bin/bash
# Runs ONNX's backend tests and records the outcomes in
# test/conformance/expected.txt and docs/SUPPORTED_OPS.md.
set -eu
cd "$(dirname "$0")/../.."
export NPU_ONNXRUNTIME=${NPU_ONNXRUNTIME:-$PWD/third_party/onnxruntime/lib/libonnxruntime.so.1}
bazel build --jobs=2 //test/conformance
out/bin/test/conformance/conformance --write test/conformance/expected.txt "$@"
tools/dev/supported_ops.sh
