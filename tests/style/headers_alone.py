# SPDX-License-Identifier: MIT
"""headers_alone.py --includes=A:B FOLDER... -- COMPILER FLAG...

Compiles each header below the folders by itself, and once more on top of itself, which shows
a missing include guard.
"""
import os
import subprocess
import sys


def headers_below(folder):
    for root, folders, files in os.walk(folder):
        # A folder with a target of its own is checked with that target's include folders.
        folders[:] = sorted(f for f in folders
                            if not os.path.exists(os.path.join(root, f, "CMakeLists.txt")))
        yield from (os.path.join(root, name) for name in sorted(files) if name.endswith(".h"))


def main():
    split = sys.argv.index("--")
    includes, folders = sys.argv[1].removeprefix("--includes="), sys.argv[2:split]
    command = sys.argv[split + 1:] + [f"-I{path}" for path in includes.split(":") if path]
    headers = [header for folder in folders for header in headers_below(folder)]
    failed = []
    for header in headers:
        text = f'#include "{header}"\n#include "{header}"\n'
        result = subprocess.run([*command, "-fsyntax-only", "-"], input=text, text=True)
        if result.returncode:
            failed.append(header)
    print(f"{len(headers)} headers, {len(failed)} don't compile alone", *failed, sep="\n  ")
    return 1 if failed or not headers else 0


sys.exit(main())
