#!/usr/bin/env bash
# Installs what building, testing and running need on Debian 12. Only packages
# that are missing are installed, so a second call costs nothing.
#   tools/dev/setup.sh           build, test, run
#   tools/dev/setup.sh training  also what examples/roadsigns/train.py imports
set -euo pipefail

packages=(
  bazel-bootstrap clang-22 libclang-rt-22-dev lld-22
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools
  libonnx-dev libprotobuf-dev protobuf-compiler
  libabsl-dev libgtest-dev libgmock-dev libbenchmark-dev
  libflatbuffers-dev flatbuffers-compiler
  nlohmann-json3-dev libstb-dev libxxhash-dev zlib1g-dev
  python3 git ca-certificates
)
if [ "${1:-}" = training ]; then
  packages+=(python3-torch python3-numpy python3-pil python3-opencv python3-onnx)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok' ||
    missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=
[ "$(id -u)" -eq 0 ] || root=sudo
echo "installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
$root apt-get update -q >/dev/null
$root apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
