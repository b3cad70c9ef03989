# SPDX-License-Identifier: MIT
"""The scripts of docs/bpftrace/ on a real ezmsg graph with our extension, by pid, against its own count."""

import sys
import time

from cookbook import require_bpftrace
from cookbook_units_checks import CHECKS
from cookbook_units_story import run


def main():
    require_bpftrace("bpf", "interop")
    began = time.monotonic()
    outputs, truth = run()
    for label, output in outputs.items():
        CHECKS[label](output, truth)
        print(label, "ok", flush=True)
    print(f"{time.monotonic() - began:.1f} s", flush=True)
    return 0


sys.exit(main())
