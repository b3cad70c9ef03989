# SPDX-License-Identifier: MIT
"""What the .pth file imports when EZPROF_USDT=1: waits for ezmsg to be imported, and nothing else.

It may be imported several times (a virtual environment runs .pth files twice) and must never
keep a program from starting.
"""

try:
    from . import _hook

    _hook.watch()
except Exception as error:  # a start-up hook has nobody to raise to
    import sys

    print(f"ezmsg_usdt: not enabled: {error}", file=sys.stderr)
