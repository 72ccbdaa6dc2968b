#!/usr/bin/env python3
"""Writes docs/models.md: how the trained models of test/e2e/golden.json run.

    bazel build //tools/npu //test/e2e:golden_test
    tools/dev/golden_report.py MODELS

MODELS is a folder with golden/*.onnx and data/ (docs/testing.md). Everything in
the page is measured by this run; it takes some minutes.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TARGETS = ["host", "edge", "pc", "micro"]
HEAD = """# Trained models

Measured by `tools/dev/golden_report.py`, which writes this page. *f32*: largest
difference from ONNX Runtime over the largest output, on the worst of the targets
host, edge, pc and micro. *INT8*: smallest cosine over the outputs to ONNX
Runtime's f32 outputs on 8 samples, after calibration on 32 (classifiers that end
in a softmax: of the logits); all targets, 1 and 2 threads, AVX2 and portable
kernels give the same bits. All nodes run on the NPU.

| model | kind | f32 error | INT8 cosine | samples |
| --- | --- | --- | --- | --- |
"""


def golden_lines(models):
    env = dict(os.environ, NPU_MODELS=models, TEST_TMPDIR=tempfile.mkdtemp())
    out = subprocess.run(["out/bin/test/e2e/golden_test"], env=env, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return out.stdout.splitlines()


def parse(lines):
    f32, int8, integers = {}, {}, {}
    for line in lines:
        m = re.match(r"f32 +(\S+) +(\S+) +error (\S+)", line)
        if m:
            f32.setdefault(m[1], {})[m[2]] = float(m[3])
        m = re.match(r"int8 +(\S+) +cosine (\S+)", line)
        if m:
            int8[m[1]] = float(m[2])
        m = re.match(r"quantised +(\S+) +(\S+) +(\d+) of (\d+) differ", line)
        if m:
            integers.setdefault(m[1], []).append((int(m[3]), int(m[4])))
    return f32, int8, integers


def npu(*args):
    return subprocess.run(["out/bin/tools/npu/npu", *args], text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def accuracy(models, entry, scratch):
    """[(mode, top1, top5, samples)] of f32 and INT8 blobs."""
    data = os.path.join(models, "data")
    config = {"quantize": {"calibration_dataset": os.path.join(data, entry["data"]),
                           "calibration_steps": 100}}
    if "input" in entry:
        config["input"] = entry["input"]
    path = os.path.join(scratch, "config.json")
    with open(path, "w") as f:
        json.dump(config, f)
    model = os.path.join(models, "golden", entry["model"] + ".onnx")
    blobs = []
    for mode in ["fp32", "int8"]:
        out = os.path.join(scratch, mode)
        npu("build", model, "-o", out, "--config", path, "--mode", mode, "--target", "host", "-q")
        blobs.append(os.path.join(out, entry["model"] + ".npub"))
    args = ["eval", *blobs, "--labels", os.path.join(data, entry["labels"]), "--json",
            "--label-offset", str(entry.get("label_offset", 0))]
    if entry["labels"].endswith(".csv"):
        args += ["--folder", os.path.join(data, entry["labels"][:-4])]
    return json.loads(npu(*args))


def main():
    models = os.path.abspath(sys.argv[1])
    with open("test/e2e/golden.json") as f:
        entries = json.load(f)["models"]
    f32, int8, integers = parse(golden_lines(models))
    page = HEAD
    for e in entries:
        name = e["model"]
        if name not in f32:
            continue
        worst = max(f32[name].values())
        all_targets = "" if len(f32[name]) == len(TARGETS) else " (not on all targets)"
        cos = "%.4f" % int8[name] if name in int8 else "failed"
        page += "| %s | %s | %.1e%s | %s | %s |\n" % (
            name, e["kind"], worst, all_targets, cos, "real" if "data" in e else "random")
    page += "\n## Quantised models\n\nIntegers equal to ONNX Runtime's (every node as written):\n\n"
    for name, counts in integers.items():
        page += "- %s: %d of %d values differ\n" % (
            name, sum(c[0] for c in counts), sum(c[1] for c in counts))
    page += "\n## Not checked yet\n\n"
    for e in entries:
        if "later" in e:
            page += "- %s: %s\n" % (e["model"], e["later"])
    page += ("\n## Accuracy\n\nOn labelled samples, f32 and INT8 on the software NPU, 100 "
             "calibration samples:\n\n| model | samples | f32 top-1 % | INT8 top-1 % | "
             "same class % |\n| --- | --- | --- | --- | --- |\n")
    for e in entries:
        if "labels" not in e or not os.path.exists(os.path.join(models, "data", e["labels"])):
            continue
        a, b = accuracy(models, e, tempfile.mkdtemp())
        page += "| %s | %d | %.2f | %.2f | %.2f |\n" % (
            e["model"], a["samples"], a["top1"], b["top1"], b["same_as_first"])
    with open("docs/models.md", "w") as f:
        f.write(page)
    print(page)


if __name__ == "__main__":
    main()
