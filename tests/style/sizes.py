# SPDX-License-Identifier: MIT
"""Files have at most 500 lines, functions 70, functions of BPF programs 40."""
import json
import os
import shutil
import subprocess
import sys

from require import skip
from tree import ROOT, read, tracked

FILE_LINES = 500
FUNCTION_LINES = 70
BPF_FUNCTION_LINES = 40


def long_files():
    for name in tracked("*.c", "*.h", "*.py", "*.sh"):
        lines = read(name).count("\n")
        if lines > FILE_LINES and not name.startswith("vmlinux/"):
            yield f"{name}: {lines} lines, at most {FILE_LINES}"


def functions():
    """Yields (file, function, lines) of every function in the C files."""
    names = [name for name in tracked("*.c", "*.h") if not name.startswith("vmlinux/")]
    result = subprocess.run(
        ["ctags", "--output-format=json", "--languages=C", "--langmap=C:+.h", "--kinds-C=f",
         "--fields=+ne", "-L", "-", "-f", "-"],
        input="\n".join(names), stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    for line in result.stdout.splitlines():
        tag = json.loads(line)
        if "end" in tag:
            yield tag["path"], tag["name"], tag["end"] - tag["line"] + 1


def long_functions():
    for path, name, lines in functions():
        cap = BPF_FUNCTION_LINES if ".bpf." in os.path.basename(path) else FUNCTION_LINES
        if lines > cap:
            yield f"{path}: {name}() has {lines} lines, at most {cap}"


def main():
    version = subprocess.run(["ctags", "--version"], stdout=subprocess.PIPE, text=True).stdout \
        if shutil.which("ctags") else ""
    if "Universal Ctags" not in version:
        skip("universal-ctags is not installed")
    found = [*long_files(), *long_functions()]
    print(*found, sep="\n")
    print(f"{len(found)} too long")
    return 1 if found else 0


sys.exit(main())
