"""npu_pass_plugin: a shared library that npu-opt loads with --load-pass-plugin."""

load("//build_defs:cc.bzl", "npu_cc_binary")

def _headers_only_impl(ctx):
    return [CcInfo(compilation_context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context)]

_headers_only = rule(
    implementation = _headers_only_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

def npu_pass_plugin(name, srcs, deps, **kwargs):
    """Compiles against `deps` and links none of them: npu-opt has them, once."""
    _headers_only(name = name + "_headers", deps = deps)
    npu_cc_binary(
        name = name,
        srcs = srcs,
        linkshared = True,
        deps = [":" + name + "_headers"],
        **kwargs
    )
