"""Runs a command that must refuse its input, in the manner of every command:

  refuse.py FOLDER [--detail] COMMAND...

exit code 1, one line with an error on stderr ("npu: error: ...", and with
--detail indented lines below it), and no file in FOLDER. Prints the error.
"""

import os
import re
import subprocess
import sys

folder, command = sys.argv[1], sys.argv[2:]
detail = command[0] == "--detail"
if detail:
    command = command[1:]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
# Stages that were done by then: "import      0.06 s", "calibrate   0.22 s, 64 done".
progress = re.compile(r"[a-z]+ +[\d.]+ s(, \d+ done)?$")
lines = [line for line in done.stderr.splitlines() if not progress.match(line)]
problems = []
if done.returncode != 1:
    problems.append("exit code %d" % done.returncode)
if not lines or not lines[0].startswith("npu: error: "):
    problems.append("no line 'npu: error: ...'")
for line in lines[1:]:
    if not detail or not line.startswith("  "):
        problems.append("another line: " + line)
if done.stdout:
    problems.append("text on stdout")
left = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]
if left:
    problems.append("left behind: " + ", ".join(left))
print("\n".join(lines))
if problems:
    sys.exit("refuse.py: " + "; ".join(problems))
