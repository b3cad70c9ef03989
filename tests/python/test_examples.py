# SPDX-License-Identifier: MIT
"""The examples that ezmsg ships, of every release: the same with probes, and profiled."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment
import harness
from require import require

ENDING = ("ezmsg_count", "ezmsg_normalterm")


def run(python, script, probes):
    """How it ended; 3.7.3's ezmsg_count doesn't, by itself."""
    with harness.Program(python, script, probes=probes) as program:
        try:
            status = program.process.wait(15)
        except subprocess.TimeoutExpired:
            status = "still running"
        return status, "Traceback" in program.text()


def check_toy(python, examples):
    """It runs for ever, in several processes."""
    with harness.Program(python, examples / "ezmsg_toy.py") as program:
        harness.eventually(lambda: len(program.pids()) > 1, what="the toy's processes")
        time.sleep(1.5)
        with harness.Agent(*program.pids()) as agent:
            time.sleep(0.7)
            document = agent.profile(0.5)
            assert agent.stop() == 0, agent.text()
        assert document.data["lost"] == 0 and document.data["errors"] == []
        assert len(document.publishers) > 3 and len(document.subscribers) > 3
        busy = [p for p in document.publishers.values() if p["messages"]["window"]]
        assert busy and all(p["bytes"]["total"] > 0 or p["unsized_messages"] for p in busy)
        assert "Traceback" not in program.text(), program.text()


def left_behind():
    return {p.name for p in Path("/dev/shm").glob("psm_*")}


def test_examples():
    harness.own_shm()
    for version in environment.VERSIONS:
        python = environment.ensure(version)
        folder = tempfile.mkdtemp(prefix="ezprof-python-")
        try:
            examples = environment.sources(version, folder) / "examples"
            for name in ENDING:
                with_probes, without = (run(python, examples / f"{name}.py", p)
                                        for p in (True, False))
                assert with_probes == without, (version, name, with_probes, without)
            check_toy(python, examples)
            print(f"     {version}", flush=True)
        finally:
            shutil.rmtree(folder)
        assert not left_behind(), (version, left_behind())


TESTS = (test_examples,)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
