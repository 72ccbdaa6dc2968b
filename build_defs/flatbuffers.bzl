"""flatbuffer_cc_library, on the system's flatc."""

def flatbuffer_cc_library(name, src, **kwargs):
    """The C++ header `<src>_generated.h` of a schema."""
    header = src.replace(".fbs", "_generated.h")
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [header],
        cmd = "/usr/bin/flatc --cpp --scoped-enums -o $(RULEDIR) $(SRCS)",
    )
    native.cc_library(
        name = name,
        hdrs = [":" + name + "_gen"],
        deps = ["@system//:flatbuffers"],
        **kwargs
    )
