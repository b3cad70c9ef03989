# SPDX-License-Identifier: MIT
"""
`ezprof record` on a real ezmsg graph SRC -> ONE -> TWO -> SINK: all units on one event loop, and in
processes of their own. Every message once, and the paths are those of the graph.
"""

import os
import subprocess
import sys
import tempfile
import time

import environment
import harness
from recording import Recording, summary_of
from require import require

GRAPHS = harness.HERE / "why_graphs.py"
VERSION = os.environ.get("EZPROF_PYTHON_EZMSG", "3.9.0")


def record(address, path):
    done = subprocess.run([harness.BIN / "ezprof", "record", "--address", address, "-o", path,
                           "--summary", "--duration", "2"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return Recording(path), summary_of(done.stdout)


def recorded(python, folder, *apart):
    with harness.Program(python, GRAPHS, "slow_last", "FOLDER", *apart) as program:
        program.wait_for("up")
        time.sleep(1)
        with harness.Agent(*program.pids()) as agent:
            found = record(agent.address, os.path.join(folder, "python.json"))
        program.finish()
        assert "Traceback" not in program.text(), program.text()
    return found


def arrivals(rows):
    """How many came; ezmsg notes the hand-over of some only once they are there."""
    return rows.get("arrival", (0,))[0] + rows.get("early", 0)


def check(recording, paths):
    names = sorted({track["name"] for track in recording.tracks.values()})
    print(names, paths, flush=True)
    assert recording.about["lost"] == 0, recording.about
    for name in names:
        for kind in ("publish", "process"):
            seen = [message for message, _, _ in recording.of(name, kind)]
            assert seen == list(range(seen[0], seen[0] + len(seen))) if seen else True, (name, seen)
    [longest] = [path for path in paths if path.count(" -> ") == 3]
    samples = arrivals(paths[longest])
    hops = [arrivals(rows) for path, rows in paths.items() if path.count(" -> ") == 1]
    # What was under way at the beginning and at the end has only a part of its path.
    assert len(hops) == 3 and samples > 10 and samples >= max(hops) - 40, paths


def main():
    require("bpf", "interop")
    python = environment.ensure(VERSION)
    with tempfile.TemporaryDirectory() as folder:
        check(*recorded(python, folder))
        check(*recorded(python, folder, "ONE,TWO,SINK"))


if __name__ == "__main__":
    sys.exit(main())
