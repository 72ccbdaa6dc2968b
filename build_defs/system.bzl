"""Repository rules around what Debian packages install."""

def _dpkg_version(rctx, pkg):
    res = rctx.execute(["dpkg-query", "-W", "-f=${Version}", pkg])
    if res.return_code:
        fail("Debian package %s is not installed" % pkg)
    return res.stdout.strip()

def _system_llvm_impl(rctx):
    root = rctx.os.environ.get("NPU_LLVM_ROOT", "/usr/lib/llvm-22")
    archives = sorted([
        root + "/lib/" + f.basename
        for f in rctx.path(root + "/lib").readdir()
        if f.basename.endswith(".a") and "Test" not in f.basename and "CAPI" not in f.basename and
           (f.basename.startswith("libMLIR") or f.basename.startswith("libLLVM"))
    ])
    version = _dpkg_version(rctx, "libmlir-22-dev")
    rctx.symlink(root + "/bin", "bin")
    rctx.file("version.txt", version + "\n")  # input of every tblgen action
    rctx.file("BUILD.bazel", """
package(default_visibility = ["//visibility:public"])

exports_files(["version.txt", "bin/mlir-tblgen", "bin/mlir-opt", "bin/FileCheck"])

config_setting(name = "static", define_values = {{"mlir": "static"}})

# No hdrs: {root}/include is a built-in include directory of the toolchain
# (BAZEL_CXXOPTS in .bazelrc). The define changes with the package, so that no
# cached object outlives it.
cc_library(
    name = "mlir",
    defines = ["NPU_MLIR_PACKAGE=\\\\\\"{version}\\\\\\""],
    linkopts = select({{
        ":static": ["-Wl,--start-group"] + {archives} +
                   ["-Wl,--end-group", "-lz", "-lzstd", "-lxml2", "-lz3", "-lrt", "-ldl", "-lm", "-pthread"],
        "//conditions:default": ["-L{root}/lib", "-Wl,-rpath,{root}/lib", "-lMLIR", "-lLLVM-22", "-pthread"],
    }}),
)
""".format(root = root, archives = repr(archives), version = version))

system_llvm = repository_rule(
    implementation = _system_llvm_impl,
    local = True,
    environ = ["NPU_LLVM_ROOT"],
)

def _system_libs_impl(rctx):
    libdir = "/usr/lib/x86_64-linux-gnu"
    absl = sorted([
        "-l:" + f.basename
        for f in rctx.path(libdir).readdir()
        if f.basename.startswith("libabsl_") and f.basename.endswith(".a")
    ])
    rctx.file("BUILD.bazel", """
package(default_visibility = ["//visibility:public"])

cc_library(name = "protobuf", linkopts = ["-lprotobuf", "-pthread"])

cc_library(
    name = "onnx_proto",
    defines = ["ONNX_NAMESPACE=onnx", "ONNX_ML=1"],
    linkopts = ["-lonnx_proto"],
    deps = [":protobuf"],
)

# Checker, shape inference, version converter.
cc_library(name = "onnx", linkopts = ["-lonnx"], deps = [":onnx_proto"])

cc_library(name = "absl", linkopts = ["-Wl,--start-group"] + {absl} + ["-Wl,--end-group", "-pthread"])

cc_library(name = "gtest_main", linkopts = ["-lgmock_main", "-lgmock", "-lgtest", "-pthread"])

cc_library(name = "flatbuffers", linkopts = ["-lflatbuffers"])

cc_library(name = "zlib", linkopts = ["-lz"])

cc_library(name = "xxhash", linkopts = ["-lxxhash"])

# Header-only: on the default include path.
cc_library(name = "cli11")

cc_library(name = "json")

cc_library(name = "stb")

cc_library(name = "benchmark", linkopts = ["-lbenchmark", "-pthread"])
""".format(absl = repr(absl)))

system_libs = repository_rule(implementation = _system_libs_impl, local = True)
