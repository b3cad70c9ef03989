# SPDX-License-Identifier: MIT
"""ez.run of every known release on our server: systems of three processes from start to end, and all at once."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python"))

import environment  # noqa: E402
from graph_client import DAG, COMPLETE, Server, eventually, run_tests  # noqa: E402
from require import require  # noqa: E402

WAIT_S = 60


def start(server, version, *arguments):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("EZMSG_", "PYTHONPATH"))}
    return subprocess.Popen([environment.ensure(version), os.path.join(HERE, "run_graph.py"), *arguments],
                            env={**env, "EZMSG_GRAPHSERVER_ADDR": server.address}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def check_end(process, version):
    """It ended well, after everything had come."""
    try:
        output, _ = process.communicate(timeout=WAIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        raise AssertionError(f"{version} did not end:\n{output}") from None
    assert process.returncode == 0, (version, process.returncode, output)
    assert "all received" in output and "\nended" in output, (version, output)
    assert "Traceback" not in output, (version, output)


def edges(server):
    with server.link() as link:
        link.send(DAG)
        link.expect(DAG)
        size = len(link.read_str())
        link.expect(COMPLETE)
        return size


def check_rest(server, empty):
    """Nothing of a system is left: edges, links, segments; and the server had nothing to complain about."""
    eventually(lambda: edges(server) == empty)
    assert server.stop() == 0
    assert "closed: " not in server.log, server.log


def test_each():
    for version in environment.VERSIONS:
        with Server() as server:
            empty = edges(server)
            check_end(start(server, version, "chain", "SYSTEM"), version)
            check_rest(server, empty)


def test_all_at_once():
    """A ring: each release gets its messages from the one before."""
    versions = environment.VERSIONS
    names = ["V" + version.replace(".", "_") for version in versions]
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        empty = edges(server)
        systems = [start(server, version, "ring", names[i], names[i - 1], folder, str(len(versions)))
                   for i, version in enumerate(versions)]
        try:
            for version, system in zip(versions, systems):
                check_end(system, version)
        finally:
            # Each is a process group; one that has ended is none any more.
            for system in systems:
                if system.poll() is None:
                    os.killpg(system.pid, 9)
                    system.wait()
        check_rest(server, empty)


require("interop")
run_tests(globals())
