#!/bin/bash
# Writes docs/SUPPORTED_OPS.md from the importer's registry and
# test/conformance/expected.txt. A test fails when the page is stale.
set -eu
cd "$(dirname "$0")/../.."
bazel build --jobs=2 //test/conformance:supported_ops
out/bin/test/conformance/supported_ops test/conformance/expected.txt \
  > docs/SUPPORTED_OPS.md.new
mv docs/SUPPORTED_OPS.md.new docs/SUPPORTED_OPS.md
