#!/usr/bin/env bash
# The main job on the sample network: ONNX -> INT8 blob -> a classified picture
# with a table of what ran where -> float and INT8 accuracy side by side.
#   demo.sh [path of the npu tool] [output folder]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
npu=${1:-npu}
out=${2:-out/demo}
picture=$here/eval/0005.jpg
count=$(($(wc -l <"$here/eval/labels.csv") - 1))

echo "== compile $(basename "$here") to INT8"
"$npu" build "$here/roadsigns_mbv3.onnx" -o "$out/int8" --config "$here/npu.json"
echo
echo "== classify $(basename "$picture"), a $(sed -n 's/^0005.jpg,//p' "$here/eval/labels.csv") sign"
"$npu" run "$out/int8/roadsigns_mbv3.npub" --input "$picture" --top 3 --profile
echo
echo "== accuracy on $count labelled pictures, float and INT8"
"$npu" build "$here/roadsigns_mbv3.onnx" -o "$out/fp32" --config "$here/npu.json" \
  --mode fp32 --quiet
"$npu" eval "$out/fp32/roadsigns_mbv3.npub" "$out/int8/roadsigns_mbv3.npub" \
  --labels "$here/eval/labels.csv"
