# SPDX-License-Identifier: MIT
"""Documents against what they are about: docs/bpftrace/README.md names each script, and each its own call."""
import os
import re
import sys

from tree import read, tracked


def cookbook():
    readme = read("docs/bpftrace/README.md")
    scripts = [os.path.basename(name) for name in tracked("docs/bpftrace/*.bt")]
    for script in scripts:
        if len(re.findall(rf"^\| \[{script}\]\({script}\) \| .*\?.* \|$", readme, re.M)) != 1:
            yield f"docs/bpftrace/README.md: no line of the table asks the question of {script}"
        if not re.search(rf"^`bpftrace {script} .*`\n\n```\n\S", readme, re.M):
            yield f"docs/bpftrace/README.md: no output of {script}"
        if not re.search(rf"^ \* bpftrace .*{script} \[SECONDS", read(f"docs/bpftrace/{script}"), re.M):
            yield f"docs/bpftrace/{script}: doesn't say how it is called"
    if len(scripts) < 10:
        yield f"docs/bpftrace: {len(scripts)} scripts"


def main():
    found = [*cookbook()]
    print(*found, sep="\n")
    print(f"{len(found)} found")
    return 1 if found else 0


sys.exit(main())
