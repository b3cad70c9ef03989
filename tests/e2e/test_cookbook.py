# SPDX-License-Identifier: MIT
"""Every script of docs/bpftrace/ on a graph whose truth is known, all processes by path and one by pid."""

import sys
import time

from cookbook import SCRIPTS, require_bpftrace
from cookbook_story import CHECKS, as_documented, by_path, by_pid


def main():
    require_bpftrace("bpf")
    assert len(SCRIPTS) >= 10
    for way in (by_path, by_pid):
        began = time.monotonic()
        outputs, truth = way()
        for label, output in outputs.items():
            CHECKS[label](output, truth)
            print(label, "ok", flush=True)
        print(f"{way.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    as_documented()
    return 0


sys.exit(main())
