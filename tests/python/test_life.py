# SPDX-License-Identifier: MIT
"""Attach late, again, and after a kill; forks; limits, namespaces; and a thousand graphs in a row."""

import os
import shutil
import signal
import subprocess
import sys
import time

import elf_sites
import environment
import harness
import registry
from harness import eventually
from require import require

LOOPS = harness.HERE / "loops.py"


def raised(pid):
    return sum(elf_sites.semaphores(pid).values())


def topic(document, name):
    publisher, reader = document.publishers[name], document.subscriber(name)
    assert document.data["lost"] == 0, document.data["lost"]
    return publisher, reader


def test_attach_detach_attach():
    python = environment.ensure("3.9.0")
    with harness.Program(python, LOOPS, "steady", "FOLDER") as program:
        program.wait_for("up-STEADY")
        time.sleep(0.3)
        totals = []
        for _ in range(2):
            with harness.Agent(program.pid) as agent:
                assert raised(program.pid) > 0
                publisher, reader = topic(agent.profile(0.5), "STEADY")
                assert publisher["messages"]["total"] > publisher["measured"]["messages"] > 0
                assert reader["processing"]["samples"] > 0
                totals.append(publisher["messages"]["total"])
                assert agent.stop() == 0
            eventually(lambda: raised(program.pid) == 0, what="semaphores at 0")
        assert totals[1] > totals[0]
        agent = harness.Agent(program.pid)
        agent.stop(signal.SIGKILL)
        eventually(lambda: raised(program.pid) == 0, what="semaphores at 0 after kill -9")
        program.finish()
        assert program.facts("STEADY")["messages"] > totals[1]


def forked_and_spawned(python, address):
    with harness.Program(python, LOOPS, "forks", "FOLDER", address) as program:
        program.wait_for("parent-up")
        with harness.Agent(program.pid) as agent:
            program.touch("go")
            for how in ("FORK", "SPAWN"):
                program.wait_for(f"up-{how}")
            time.sleep(0.3)
            pids = program.pids()
            assert len(pids) == 3, pids
            owners = {registry.read(pid).owner for pid in pids}
            assert owners == set(pids)
            for pid in pids[1:]:
                # Nothing of the parent's is left in a child.
                assert {e.topic for e in registry.read(pid).entries} & {"STEADY"} == set()
            document = agent.profile(0.5, address)
            assert set(document.publishers) == {"STEADY"}, document.publishers.keys()
            topic(document, "STEADY")
            assert agent.stop() == 0
        with harness.Agent(*pids) as agent:
            document = agent.profile(0.5, address)
            assert set(document.publishers) == {"STEADY", "FORK", "SPAWN"}
            assert {p["pid"] for p in document.publishers.values()} == set(pids)
        program.finish()
        for name in ("STEADY", "FORK", "SPAWN"):
            assert program.facts(name)["messages"] > 0


def test_fork_and_spawn_while_attached():
    python = environment.ensure("3.9.0")
    from test_versions import LOWLEVEL, free_port
    address = f"127.0.0.1:{free_port()}"
    with harness.Program(python, LOWLEVEL, "serve", "FOLDER", address, 0, probes=False) as server:
        server.wait_for("server-up")
        forked_and_spawned(python, address)
        server.touch("stop")


def test_limits():
    """Few files, no core, little locked memory: nothing that the program would notice."""
    python = environment.ensure("3.9.0")
    limits = "ulimit -n 64 -c 0 -l 64; exec \"$@\""
    with harness.Program("sh", "-c", limits, "sh", python, LOOPS, "steady", "FOLDER") as program:
        program.wait_for("up-STEADY")
        with harness.Agent(program.pid) as agent:
            topic(agent.profile(0.5), "STEADY")
        program.finish()


def test_other_mount_namespace():
    """The extension lies where only the program sees it."""
    python = environment.ensure("3.9.0")
    package = subprocess.run([python, "-c", "import ezmsg_usdt; print(ezmsg_usdt.__path__[0])"],
                             capture_output=True, text=True, check=True).stdout.strip()
    script = ('mount -t tmpfs none /mnt && cp -r "$1" /mnt/ezmsg_usdt && shift && '
              'PYTHONPATH=/mnt exec "$@"')
    with harness.Program("unshare", "-m", "sh", "-c", script, "sh", package, python, LOOPS,
                         "steady", "FOLDER") as program:
        program.wait_for("up-STEADY")
        with open(f"/proc/{program.pid}/maps") as maps:
            assert "/mnt/ezmsg_usdt/_ext" in maps.read()
        with harness.Agent(program.pid) as agent:
            topic(agent.profile(0.5), "STEADY")
            assert agent.stop() == 0
        program.finish()


def test_thousand_cycles():
    python = environment.ensure("3.9.0")
    with harness.Program(python, LOOPS, "cycles", "FOLDER", "1000",
                         EZMSG_DISABLE_BACKPRESSURE_WARNING="1", EZMSG_LOGLEVEL="ERROR") as program:
        program.wait_for("cycles.json", 240)
        facts = program.facts("cycles")
        before, after = facts["before"], facts["after"]
        assert after["fds"] == before["fds"], facts
        assert after["objects"] <= before["objects"] + 2, facts
        left = [e for e in registry.read(program.pid).entries if e.kind != "task"]
        assert left == [], left
        print(f"     resident: {(after['resident'] - before['resident']) / 1000:.0f} bytes "
              "per cycle")
        program.finish()


def test_enable_too_late():
    python = environment.ensure("3.9.0")
    done = subprocess.run([python, str(LOOPS), "late"], env=harness.environment(probes=False),
                          capture_output=True, text=True, timeout=60)
    assert "comes too late" in done.stdout and done.stdout.rstrip().endswith("False"), done


def test_replaced_release():
    """An ezmsg that isn't known is left alone, and that is said once."""
    python = environment.ensure("3.9.0")
    folder = environment.BUILD / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    site = subprocess.run([python, "-c", "import ezmsg.core as e; print(e.__path__[0])"],
                          capture_output=True, text=True, check=True).stdout.strip()
    shutil.copytree(os.path.dirname(site), folder / "ezmsg")
    changed = folder / "ezmsg" / "core" / "messagechannel.py"
    changed.write_text(changed.read_text().replace(
        "buf_idx = msg_id % self.num_buffers", "buf_idx = (msg_id + 0) % self.num_buffers"))
    code = ("import ezmsg.core as e, ezmsg.core.pubclient as p, ezmsg.core.backpressure as b; "
            "import ezmsg_usdt as u; print(u.status()['installed'], b.Backpressure.__module__)")
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60,
                          env=harness.environment(PYTHONPATH=str(folder)))
    assert done.stdout.split() == ["False", "ezmsg.core.backpressure"], done
    assert done.stderr.count("no probes") == 1, done.stderr
    shutil.rmtree(folder)


TESTS = (test_attach_detach_attach, test_fork_and_spawn_while_attached, test_limits,
         test_other_mount_namespace, test_thousand_cycles, test_enable_too_late,
         test_replaced_release)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
