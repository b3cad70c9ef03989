# SPDX-License-Identifier: MIT
"""libezmsg and ezmsg in one process hear each other."""
import os
import subprocess
import sys

from graph_client import Server
from preload import preloaded
from require import require


def main():
    require("interop")
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/interop/same_process.py")
    library = os.path.join(os.environ["EZPROF_BUILD_DIR"], "lib/libezmsg.so")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with Server() as server:
        done = subprocess.run([os.environ["EZPROF_INTEROP_PYTHON"], script, library, server.address], env=preloaded(env),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    print(done.stdout)
    return 0 if done.returncode == 0 and done.stdout.count(": ok") == 2 else 1


sys.exit(main())
