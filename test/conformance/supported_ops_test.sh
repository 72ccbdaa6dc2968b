#!/bin/bash
# docs/SUPPORTED_OPS.md is what the registry and expected.txt say.
set -eu
test/conformance/supported_ops test/conformance/expected.txt \
  > "$TEST_TMPDIR/SUPPORTED_OPS.md"
diff -u docs/SUPPORTED_OPS.md "$TEST_TMPDIR/SUPPORTED_OPS.md" || {
  echo "docs/SUPPORTED_OPS.md is stale: run tools/dev/supported_ops.sh"
  exit 1
}
