# SPDX-License-Identifier: MIT
"""The files of the checkout, for the tests that look at all of them."""
import os
import subprocess

from require import skip

ROOT = os.environ["EZPROF_SOURCE_DIR"]


def tracked(*patterns):
    """Paths relative to the root of all files that git tracks or would add."""
    result = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if result.returncode:
        skip("not a git checkout")
    names = [name for name in result.stdout.split("\0") if name]
    return sorted(name for name in set(names) if os.path.isfile(os.path.join(ROOT, name)))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()
