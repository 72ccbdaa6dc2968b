#!/usr/bin/env bash
# Installs what building, testing and running need on Debian 12. Only packages
# that are missing are installed, so a second call costs nothing.
#   tools/dev/setup.sh           to build and run
#   tools/dev/setup.sh test      also ONNX Runtime, the tests' reference
#   tools/dev/setup.sh training  also what examples/roadsigns/train.py imports
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=(
  bazel-bootstrap clang-22 libclang-rt-22-dev lld-22
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools
  libonnx-dev libprotobuf-dev protobuf-compiler
  libabsl-dev libgtest-dev libgmock-dev libbenchmark-dev
  libflatbuffers-dev flatbuffers-compiler
  libcli11-dev nlohmann-json3-dev libstb-dev libxxhash-dev zlib1g-dev
  python3 git ca-certificates
)
if [ "${1:-}" = test ]; then
  packages+=(libonnx-testdata)
fi
if [ "${1:-}" = test ] && ! command -v npm >/dev/null; then
  packages+=(npm)
fi
if [ "${1:-}" = training ]; then
  packages+=(python3-torch python3-numpy python3-pil python3-opencv python3-onnx)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok' ||
    missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  root=
  [ "$(id -u)" -eq 0 ] || root=sudo
  echo "installing: ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  $root apt-get update -q >/dev/null
  $root apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
fi

# The library and the C header, out of the package that ships both.
onnxruntime=third_party/onnxruntime
if [ "${1:-}" = test ] && [ ! -e $onnxruntime/lib/libonnxruntime.so.1 ]; then
  echo "installing: ONNX Runtime (npm)" >&2
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  npm pack --silent --pack-destination "$scratch" \
    com.github.asus4.onnxruntime@0.4.9 >/dev/null
  headers='Plugins/iOS~/onnxruntime.xcframework/ios-arm64/onnxruntime.framework/Headers'
  tar -xzf "$scratch"/*.tgz -C "$scratch" \
    "package/$headers" package/Plugins/Linux/x64/libonnxruntime.so
  mkdir -p $onnxruntime/include $onnxruntime/lib
  cp "$scratch/package/$headers"/onnxruntime*.h $onnxruntime/include/
  cp "$scratch"/package/Plugins/Linux/x64/libonnxruntime.so \
    $onnxruntime/lib/libonnxruntime.so.1
fi
