#!/bin/bash
# No case is wrong, crashes or does worse than expected.txt says.
set -eu
data=${NPU_ONNX_DATA:-/usr/share/libonnx-testdata/data}
if [ ! -d "$data" ]; then
  echo "skipped: no $data; run tools/dev/setup.sh test"
  exit 0
fi
# Expectations count what ONNX Runtime does on the host.
library=${NPU_ONNXRUNTIME:-$PWD/third_party/onnxruntime/lib/libonnxruntime.so.1}
if [ ! -e "$library" ]; then
  echo "skipped: no ONNX Runtime; run tools/dev/setup.sh test"
  exit 0
fi
export NPU_ONNXRUNTIME=$library
exec test/conformance/conformance --data "$data" \
  --expected test/conformance/expected.txt \
  --json "${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}/conformance.json"
