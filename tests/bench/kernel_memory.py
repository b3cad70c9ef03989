# SPDX-License-Identifier: MIT
"""kernel_memory.c on a machine with 64 possible CPUs.

usage: kernel_memory.py PROGRAM
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "qemu"))

import machine  # noqa: E402


def main():
    program = sys.argv[1]
    console = machine.run(os.environ["EZPROF_BUILD_DIR"], [program], [os.path.basename(program)],
                          maxcpus=64, memory="1200M")
    for line in console.splitlines():
        if "possible CPUs" in line or line.startswith("{"):
            print(line.strip())
    assert re.search(r"64 possible CPUs", console), console[-2000:]


main()
