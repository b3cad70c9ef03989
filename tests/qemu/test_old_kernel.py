# SPDX-License-Identifier: MIT
"""The BPF tests under Debian 12's stock kernel (6.1), which has no uprobe_multi.

usage: test_old_kernel.py [--maxcpus N] PROGRAM...
"""
import os
import re
import sys

import machine


def main():
    programs, maxcpus = sys.argv[1:], 1
    if programs[0] == "--maxcpus":
        programs, maxcpus = programs[2:], int(programs[1])
    names = [os.path.basename(p) for p in programs if os.path.basename(p) != "probe_player"]
    commands = [f"{name}; echo \"@ {name} $?\"" for name in names]
    console = machine.run(os.environ["EZPROF_BUILD_DIR"], programs, ["uname -r", *commands],
                          maxcpus=maxcpus)
    results = dict(re.findall(r"^@ (\S+) (\d+)", console, re.M))
    print(console[-6000:])
    failed = [name for name in names if results.get(name) != "0"]
    print(f"{len(names)} programs, failed: {failed}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
