# SPDX-License-Identifier: MIT
"""The real ezmsg, alone on our graph server: everything that it does itself must work there."""
import os
import subprocess
import sys

from graph_client import Server
from require import require

require("interop")
HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    with Server(log="info") as server:
        result = subprocess.run(
            [os.environ["EZPROF_INTEROP_PYTHON"], os.path.join(HERE, "ezmsg_on_server.py")],
            env={**os.environ, "EZMSG_GRAPHSERVER_ADDR": server.address}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120)
        print(result.stdout, end="")
        assert result.returncode == 0
        for line in ("graph: ok", "sink: all received", "ez.run: ok"):
            assert line in result.stdout, line
        # A greeting that it knows: no complaint about versions.
        assert "ismatch" not in result.stdout
        server.stop()
        print(server.log, end="")
        assert "closed: " not in server.log, "the server complained about a real client"


sys.exit(main())
