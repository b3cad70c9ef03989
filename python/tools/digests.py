#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes src/ezmsg_usdt/_digests.json from installed releases of ezmsg.

    tools/digests.py PYTHON...      each the interpreter of an environment with one release in it
"""

import json
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "ezmsg_usdt"

PROGRAM = """
import importlib.util, json, sys, types
from importlib import import_module
from importlib.metadata import version
spec = importlib.util.spec_from_file_location("digests", sys.argv[1])
digests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(digests)
import ezmsg.core
found = {
    f"{module}.{name}": digests.digest(import_module("ezmsg.core." + module), name)
    for module, names in digests.SEAMS.items() for name in names
}
print(json.dumps([version("ezmsg"), found]))
"""


def main() -> int:
    table = PACKAGE / "_digests.json"
    if not table.exists():
        table.write_text('{"versions": [], "digests": {}}')
    versions, digests = [], {}
    for python in sys.argv[1:]:
        done = subprocess.run(
            [python, "-c", PROGRAM, str(PACKAGE / "_digests.py")],
            check=True, capture_output=True, text=True,
        )
        version, found = json.loads(done.stdout)
        versions.append(version)
        for name, digest in found.items():
            digests.setdefault(name, {}).setdefault(digest, []).append(version)
    made = {"versions": versions, "digests": digests}
    table.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
