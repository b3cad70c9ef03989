# SPDX-License-Identifier: MIT
"""The wheel with its programs, in an environment of its own; the sdist; and our graph server."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import bare
import environment
import harness
from require import require
from test_profile_api import address_of


def pip(python, *arguments):
    """The programs of the build that is tested are not taken: the package makes its own."""
    done = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", *arguments],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={k: v for k, v in os.environ.items() if k != "EZPROF_BIN_DIR"})
    assert done.returncode == 0, done.stderr[-2000:]


def check_nobody_measures(python, bin_folder):
    """No agent, no probes: `ezprof profile` says what ezmsg tells by itself."""
    with harness.Program(python, harness.HERE / "graphs.py", "endless", "FOLDER",
                         probes=False) as program:
        program.wait_for("up")
        program.touch("go")
        done = subprocess.run([bin_folder / "ezprof", "profile", "--window", "0.5", "--address",
                               address_of(program)], capture_output=True, text=True, timeout=60)
        document = json.loads(done.stdout)
        assert done.returncode == 0 and document["source"] == "ezmsg", done
        assert document["publishers"][0]["topic"] == "SRC/OUTPUT", document
        assert "instrumenting" in done.stderr, done.stderr
        program.finish()


def test_wheel():
    """pip install, ezprof run, attach by full path, profile: all from the environment. The programs
    are the wheel's own, built by it, and need nothing of the machine but libc."""
    python = environment.ensure("3.9.0", "build", name="-wheel")
    with tempfile.TemporaryDirectory() as folder:
        pip(python, "wheel", "--no-deps", "-w", folder, str(environment.SOURCE / "python"))
        (wheel,) = Path(folder).glob("ezmsg_usdt-*.whl")
        pip(python, "install", "--force-reinstall", "--no-deps", str(wheel))
    bin_folder = Path(python).parent
    assert all(os.access(bin_folder / name, os.X_OK) for name in bare.PROGRAMS)
    bare.check_libc_only(bin_folder)
    bare.check_in_bare_root(bin_folder)
    with harness.Program(bin_folder / "ezprof", "run", "--", python,
                         harness.HERE / "graphs.py", "endless", "FOLDER", probes=False) as program:
        program.wait_for("up")
        program.touch("go")
        harness.BIN = bin_folder
        with harness.Agent(program.pid) as agent:
            time.sleep(0.7)
            document = agent.profile(0.5)
            assert document.publishers["SRC/OUTPUT"]["messages"]["window"] > 10
            assert agent.stop() == 0
        program.finish()
    check_nobody_measures(python, bin_folder)
    pip(python, "uninstall", "-y", "ezmsg-usdt")
    left = list(Path(python).parents[1].rglob("*ezmsg_usdt*")) + \
        [name for name in bare.PROGRAMS if (bin_folder / name).exists()]
    assert left == [], left
    (Path(python).parents[1] / "own").unlink()
    harness.BIN = Path(os.environ["EZPROF_BIN_DIR"])


def test_sdist():
    """It has what everything is built from, and builds where the repository is not."""
    python = environment.ensure("3.9.0", "build", name="-wheel")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "build", "--sdist", "-o", folder,
                        str(environment.SOURCE / "python")], check=True, capture_output=True)
        (sdist,) = Path(folder).glob("*.tar.gz")
        pip(python, "wheel", "--no-deps", "-w", folder, str(sdist))
        (wheel,) = Path(folder).glob("ezmsg_usdt-*linux*.whl")
        with zipfile.ZipFile(wheel) as archive:
            files = {Path(name).name for name in archive.namelist()}
        assert files >= set(bare.PROGRAMS), files


def test_own_graph_server():
    """Python clients on ezprof-graphserver: the document comes through PROFILE."""
    python = environment.ensure("3.9.0")
    server = subprocess.Popen([harness.BIN / "ezprof-graphserver", "--address", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"[\d.]+:\d+", server.stdout.readline()).group()
        with harness.Program(python, harness.HERE / "graphs.py", "endless", "FOLDER",
                             EZMSG_GRAPHSERVER_ADDR=address) as program:
            program.wait_for("up")
            program.touch("go")
            with harness.Agent(program.pid) as agent:
                assert "left alone" not in agent.text(), agent.text()
                time.sleep(1.2)
                document = agent.profile(1.0, address)
                assert document.data["tool"] == "ezprof-graphserver", document.data["tool"]
                assert document.publishers["SRC/OUTPUT"]["source"] == "bpf"
                assert document.tasks["SINK:work"]["calls"] > 0
                reader = document.subscriber("SINK/INPUT")
                assert 5.0 <= reader["processing"]["p50_ms"] < 50.0, reader
                assert agent.stop() == 0
            program.finish()
    finally:
        server.terminate()
        server.wait(10)


TESTS = (test_wheel, test_sdist, test_own_graph_server)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
