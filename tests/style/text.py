# SPDX-License-Identifier: MIT
"""Licence lines, left-over marks, header names that are used twice, run bits."""
import os
import re
import sys

from tree import ROOT, read, tracked

# Put together here, so that this file doesn't find itself.
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MIT = "SPDX-License-Identifier: MIT"
DUAL = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause"


def expected_licence(name):
    """What BPF programs are made of is dual, since the kernel wants GPL; all else is permissive."""
    if name.startswith("bpf/shared/"):
        return (MIT, DUAL)
    if name.startswith(("bpf/", "vmlinux/")) or ".bpf." in os.path.basename(name):
        return (DUAL,)
    return (MIT, DUAL) if name.endswith(".bt") else (MIT,)


def licences():
    for name in tracked("*.c", "*.h", "*.py", "*.sh", "*.bt", ".ci/run"):
        head = read(name).split("\n")[:2]
        line = head[1] if head[0].startswith("#!") and len(head) > 1 else head[0]
        if not any(licence in line for licence in expected_licence(name)):
            yield f"{name}: first line doesn't say {' or '.join(expected_licence(name))}"


def marks():
    for name in tracked("*.c", "*.h", "*.py", "*.sh", "*.bt", "*.txt", "*.cmake", "*.md", ".ci/run"):
        for number, line in enumerate(read(name).split("\n"), 1):
            if MARKS.search(line):
                yield f"{name}:{number}: left-over mark: {line.strip()[:80]}"


def twin_headers():
    """Headers are included by bare name, so a name stands for one file in the whole project."""
    seen = {}
    for name in tracked("*.h"):
        base = os.path.basename(name)
        if base in seen:
            yield f"{name}: there is {seen[base]} too"
        seen[base] = name


def run_bits():
    for name in tracked("scripts/*.sh", ".ci/run"):
        if not os.access(os.path.join(ROOT, name), os.X_OK):
            yield f"{name}: not executable"


def main():
    found = [*licences(), *marks(), *twin_headers(), *run_bits()]
    print(*found, sep="\n")
    print(f"{len(found)} found")
    return 1 if found else 0


sys.exit(main())
