"""report.py DOC REPORT: the report has every key that the table in DOC names,
of the type that it says, and each file that it lists is there."""

import json
import os
import re
import sys

doc, path = sys.argv[1:]
report = json.load(open(path))
types = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "list": list,
         "list of strings": list, "object": dict}


def values(node, keys):
    """Of a path like similarity.<output>.cosine: <...> is any key."""
    if not keys:
        return [node]
    if keys[0].startswith("<"):
        assert node, "nothing under " + keys[0]
        return [v for child in node.values() for v in values(child, keys[1:])]
    return values(node[keys[0]], keys[1:])


seen = 0
for row in open(doc):
    cells = [cell.strip() for cell in row.split("|")]
    if len(cells) < 5 or not cells[1].startswith("`"):
        continue
    for key in re.findall("`([^`]+)`", cells[1]):
        for value in values(report, key.split(".")):
            assert isinstance(value, types[cells[2]]), (key, value, cells[2])
        seen += 1
assert seen > 20, seen
for name in report["files"]:
    assert os.path.isfile(name), name
print("keys:", seen)
