#!/usr/bin/env python3
"""Counts the test cases in the logs of the last `bazel test`.

A Bazel test holds many cases: those of GoogleTest, lit and unittest are counted one by
one, any other test counts as one. Prints `N passed, N failed` (and skipped
ones, if any) and exits with Bazel's status, or 1 when a case failed.
"""
import os
import re
import sys

GTEST = re.compile(r"^\[  (PASSED |FAILED |SKIPPED) \] (\d+) tests?", re.M)
LIT = re.compile(r"^\s*(Passed|Failed|Skipped|Unsupported|Unresolved|"
                 r"Timed Out|Expectedly Failed|Unexpectedly Passed)\s*:\s*(\d+)", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?$", re.M)
LIT_FAILED = {"Failed", "Unresolved", "Timed Out", "Unexpectedly Passed"}
LIT_SKIPPED = {"Skipped", "Unsupported"}


def count(log, passed):
    """(passed, failed, skipped) of one test log; `passed` is Bazel's verdict."""
    result = [0, 0, 0]
    gtest = GTEST.findall(log)
    if gtest:
        for kind, n in gtest:
            result["PFS".index(kind[0])] += int(n)
        result[0] -= result[2]  # GoogleTest counts a skipped test as passed
    elif UNITTEST.search(log):
        for total, notes in UNITTEST.findall(log):
            counts = {"failures": 0, "errors": 0, "skipped": 0}
            counts.update((k, int(n)) for k, n in re.findall(r"(\w+)=(\d+)", notes))
            failed = counts["failures"] + counts["errors"]
            result[1] += failed
            result[2] += counts["skipped"]
            result[0] += int(total) - failed - counts["skipped"]
    else:
        for kind, n in LIT.findall(log):
            slot = 1 if kind in LIT_FAILED else 2 if kind in LIT_SKIPPED else 0
            result[slot] += int(n)
    if not passed and not result[1]:
        result[1] = 1  # crashed or timed out before it could say so
    elif passed and not any(result):
        result[0] = 1
    return result


def verdict(folder):
    """Bazel's verdict on the test whose logs are in `folder`."""
    try:
        with open(os.path.join(folder, "test.xml"), errors="replace") as xml:
            head = xml.read()
        return "<failure" not in head and "<error" not in head
    except OSError:
        return False


def main():
    bazel_status = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    total = [0, 0, 0]
    for folder, _, files in os.walk("out/testlogs"):
        if "test.log" in files:
            with open(os.path.join(folder, "test.log"), errors="replace") as log:
                one = count(log.read(), verdict(folder))
            total = [a + b for a, b in zip(total, one)]
    if bazel_status and not total[1]:
        total[1] = 1
    line = "%d passed, %d failed" % (total[0], total[1])
    if total[2]:
        line += ", %d skipped" % total[2]
    print(line)
    sys.exit(bazel_status or (1 if total[1] else 0))


if __name__ == "__main__":
    main()
