# SPDX-License-Identifier: MIT
"""Documents that name tests name such as there are: docs/cases.md and docs/conformance.md.

A name in backquotes in the last column of a table is ctest's, or a function's below tests/; in conformance.md a file
in another column is one of this project.
"""
import json
import os
import re
import subprocess
import sys

from tree import read, tracked

WORD = re.compile(r"`([a-z][a-z0-9_]*)`")
FILE = re.compile(r"`([a-z0-9_]+\.[ch])`")


def ctest_names():
    listing = subprocess.run(["ctest", "--test-dir", os.environ["EZPROF_BUILD_DIR"], "--show-only=json-v1"],
                             stdout=subprocess.PIPE, check=True)
    return {test["name"] for test in json.loads(listing.stdout)["tests"]}


def functions():
    """Whatever is followed by a parenthesis."""
    text = "\n".join(read(name) for name in tracked("tests/*.py", "tests/*.c", "tests/*.sh"))
    return set(re.findall(r"\b([a-z][a-z0-9_]*)\s*\(", text))


def rows(document):
    for number, line in enumerate(read(document).split("\n"), 1):
        if line.startswith("|") and not re.match(r"^\|[-|]*$", line):
            yield number, [cell.strip() for cell in line.strip("|").split(" | ")]


def main():
    known = ctest_names() | functions()
    files = {os.path.basename(name) for name in tracked("*.c", "*.h")}
    found, checked = [], 0
    for document in ("docs/cases.md", "docs/conformance.md"):
        for number, cells in rows(document):
            # Most tables have a column of tests, the last one; one has two.
            names = [name for cell in cells[1:] if cell is cells[-1] or "`runtime_" in cell for name in WORD.findall(cell)]
            checked += len(names)
            found += [f"{document}:{number}: no test {name}" for name in names if name not in known]
            found += [f"{document}:{number}: no file {name}" for cell in cells for name in FILE.findall(cell)
                      if name not in files]
    print(*found, sep="\n")
    print(f"{checked} names, {len(found)} unknown")
    return 1 if found or checked < 100 else 0


sys.exit(main())
