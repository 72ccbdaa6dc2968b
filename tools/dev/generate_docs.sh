#!/bin/bash
# Writes docs/generated from the dialects' and passes' definitions, or into the
# folder given. A test fails when a page there is stale.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-docs/generated}
mkdir -p "$out"

tblgen() { # PAGE DEFINITIONS OPTION...
  "${MLIR_TBLGEN:-mlir-tblgen-22}" "${@:3}" -I . -I /usr/lib/llvm-22/include "$2" -o "$out/$1"
}

passes() { # PAGE TITLE DEFINITIONS
  tblgen "$1" "$3" -gen-pass-doc
  { printf '# %s\n\n' "$2"; cat "$out/$1"; } > "$out/$1.new"
  mv "$out/$1.new" "$out/$1"
}

tblgen npu.md dialects/npu/NPUOps.td -gen-dialect-doc -dialect npu
tblgen cmdq.md dialects/cmdq/CmdqOps.td -gen-dialect-doc -dialect cmdq
passes passes-fusion.md "Fusion" passes/fusion/Passes.td
passes passes-legalization.md "Legalisation" passes/legalization/Passes.td
passes passes-memory.md "Memory planning" passes/memory/Passes.td
passes passes-partition.md "Partitioning" passes/partition/Passes.td
passes passes-quantization.md "Quantisation" passes/quantization/Passes.td
passes passes-scheduling.md "Scheduling" passes/scheduling/Passes.td
passes passes-target.md "Target" target/Passes.td
passes passes-tiling.md "Tiling" passes/tiling/Passes.td
passes lowering-npu-to-cmdq.md "From npu to cmdq" lowering/npu_to_cmdq/Passes.td
