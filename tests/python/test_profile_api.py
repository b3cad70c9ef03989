# SPDX-License-Identifier: MIT
"""ezmsg_usdt.profile() and its fallback: a graph that nobody prepared, and one with an agent."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import environment
import harness
import profile_schema
import registry
from require import require

GRAPHS = harness.HERE / "graphs.py"
CALL = """
import asyncio, json, sys
import ezmsg_usdt
ezmsg_usdt.enable()
from ezmsg.core.graphserver import GraphService
from ezmsg.core.netprotocol import Address
where = Address.from_string(sys.argv[1])
async def main():
    return [await ezmsg_usdt.profile(1.0, sys.argv[1]), await GraphService(where).profile(1.0)]
print(json.dumps(asyncio.run(main())))
"""
OBSERVER = """
import asyncio, json, sys
from ezmsg.core.graphcontext import GraphContext
from ezmsg.core.graphmeta import ProfilingStreamControl, ProfilingTraceControl
from ezmsg.core.netprotocol import Address
async def main():
    async with GraphContext(Address.from_string(sys.argv[1])) as context:
        await context.process_set_profiling_trace(
            "SRC", ProfilingTraceControl(enabled=True, metrics=["publish_delta_ns"]))
        seen, late = set(), 0
        end = asyncio.get_running_loop().time() + float(sys.argv[2])
        async for batch in context.subscribe_profiling_trace(ProfilingStreamControl()):
            for process in batch.batches.values():
                seen |= {s.metric for s in process.samples}
                if asyncio.get_running_loop().time() > end - 2:
                    late += len(process.samples)
            if asyncio.get_running_loop().time() > end:
                break
        print(json.dumps({"metrics": sorted(seen), "late": late}))
asyncio.run(main())
"""


def address_of(program):
    """Where ez.run put its graph server."""
    def found():
        for line in program.text().splitlines():
            if "GraphServer @ " in line or "GraphServer at " in line:
                return line.split("GraphServer @ " if "@" in line else "GraphServer at ")[1].split()[0]
        return None
    return harness.eventually(found, what="the graph server's address")


def call(python, code, address, **env):
    done = subprocess.run([python, "-c", code, address], capture_output=True, text=True,
                          timeout=60, env=harness.environment(
                              probes=False, PATH=f"{harness.BIN}:/usr/bin:/bin", **env))
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def check_fallback(version):
    python = environment.ensure(version)
    with harness.Program(python, GRAPHS, "endless", "FOLDER", probes=False) as program:
        program.wait_for("up")
        program.touch("go")
        address = address_of(program)
        documents, told = call(python, CALL, address)
        for document in documents:
            assert document["source"] == "ezmsg" and document["schema"] == "ezprof.profile/1"
            assert document["graph"]["SRC/OUTPUT"] == ["SINK/INPUT"], document["graph"]
            faults = list(profile_schema.check(document, ours=True))
            assert not faults, faults
            if version in ("3.7.3", "3.8.0"):
                assert "tells its graph and no more" in document["hint"]
                assert document["graph_source"] == "dag"
                continue
            assert document["graph_source"] == "snapshot"
            (publisher,) = document["publishers"]
            assert 50 < publisher["message_rate_hz"] < 250, publisher
            assert publisher["bytes"]["total"] is None
            assert publisher["messages"]["total"] > publisher["messages"]["window"] > 20
            # Neighbours are 5 ms apart at least; a gap of 0 would be the tracing's own beginning.
            assert publisher["gap"]["avg_ms"] >= 5.0, publisher["gap"]
            assert abs(publisher["gap"]["samples"] - publisher["messages"]["window"]) <= 1
            (subscriber,) = document["channels"][0]["subscribers"]
            assert 5.0 <= subscriber["processing"]["avg_ms"] < 15.0, subscriber
            assert subscriber["task"] == "work" and publisher["pid"] == program.pid
            assert "instrumenting" in told.lower(), told
        program.finish()


def test_nobody_prepared():
    for version in environment.VERSIONS:
        check_fallback(version)
        print(f"     {version}", flush=True)


def test_second_observer():
    """Who traces already goes on tracing what it asked for, undisturbed."""
    python = environment.ensure("3.9.0")
    with harness.Program(python, GRAPHS, "endless", "FOLDER", probes=False) as program:
        program.wait_for("up")
        program.touch("go")
        address = address_of(program)
        observer = subprocess.Popen([python, "-c", OBSERVER, address, "6"], stdout=subprocess.PIPE,
                                    text=True, env=harness.environment(probes=False))
        time.sleep(2.0)
        documents, told = call(python, CALL, address)
        assert "another observer" in told, told
        assert documents[0]["publishers"][0]["gap"]["samples"] > 10
        out, _ = observer.communicate(timeout=30)
        assert json.loads(out)["metrics"] == ["publish_delta_ns"], out
        assert json.loads(out)["late"] > 0
        program.finish()


def test_second_observer_of_little():
    """One whose topic has a message now and then only is not mistaken for none."""
    python = environment.ensure("3.9.0")
    with harness.Program(python, GRAPHS, "seldom", "FOLDER", probes=False) as program:
        program.wait_for("up")
        program.touch("go")
        address = address_of(program)
        observer = subprocess.Popen([python, "-c", OBSERVER, address, "8"], stdout=subprocess.PIPE,
                                    text=True, env=harness.environment(probes=False))
        time.sleep(2.5)
        done, document = ask(address, window="1.5")
        assert "another observer" in done.stderr, done.stderr
        (publisher,) = document["publishers"]
        assert publisher["gap"]["avg_ms"] >= 700.0, publisher["gap"]
        assert publisher["blocked"]["time_ms"] is None, publisher  # the observer didn't ask for it
        out, _ = observer.communicate(timeout=60)
        assert json.loads(out)["late"] > 0, out
        program.finish()


def test_observer_who_has_gone():
    """Tracing that an interrupted profile left on ends within the window: no part of it counts."""
    python = environment.ensure("3.9.0")
    with harness.Program(python, GRAPHS, "endless", "FOLDER", probes=False) as program:
        program.wait_for("up")
        program.touch("go")
        address = address_of(program)
        first = subprocess.Popen([harness.BIN / "ezprof", "profile", "--window", "2", "--address",
                                  address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.2)
        first.kill()
        first.wait()
        done, document = ask(address, window="2")
        assert "another observer" not in done.stderr, done.stderr
        gap = document["publishers"][0]["gap"]
        assert gap["avg_ms"] * gap["samples"] > 1000.0, gap
        program.finish()


def ask(address, *options, window="0.5"):
    """`ezprof profile` itself, without any Python around."""
    done = subprocess.run([harness.BIN / "ezprof", "profile", "--window", window, "--address",
                           address, *options], capture_output=True, text=True, timeout=60,
                          env={"PATH": "/nowhere"})
    return done, json.loads(done.stdout) if done.stdout.strip() else None


def test_own_server():
    """Nobody prepared the graph, but its server is ours: the clients tell all the same."""
    server = subprocess.Popen([harness.BIN / "ezprof-graphserver", "--address", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = re.search(r"[\d.]+:\d+", server.stdout.readline()).group()
        done, document = ask(address)
        assert done.returncode == 4 and "no endpoint" in done.stderr, done
        assert document["tool"] == "ezprof-graphserver", document
        with harness.Program(environment.ensure("3.9.0"), GRAPHS, "endless", "FOLDER",
                             probes=False, EZMSG_GRAPHSERVER_ADDR=address) as program:
            program.wait_for("up")
            program.touch("go")
            done, document = ask(address)
            assert done.returncode == 0 and document["source"] == "ezmsg", done
            assert document["publishers"][0]["topic"] == "SRC/OUTPUT", document
            program.finish()
    finally:
        server.terminate()
        server.wait(10)


def test_nothing_to_ask():
    """Programs of the low-level API are no processes that could be asked: the graph alone."""
    from test_versions import LOWLEVEL, free_port
    address = f"127.0.0.1:{free_port()}"
    with harness.Program(environment.ensure("3.9.0"), LOWLEVEL, "serve", "FOLDER", address, 0,
                         probes=False) as server:
        server.wait_for("server-up")
        subprocess.run([harness.BIN / "ezprof", "graph", "--address", address], check=True,
                       stdout=subprocess.DEVNULL)
        done, document = ask(address)
        assert done.returncode == 4 and document["graph"] == {}, done
        assert "this is the graph alone" in done.stderr, done.stderr
        server.finish()


def test_deaf_process():
    """One that is stopped is named, and the others' numbers are there."""
    with harness.Program(environment.ensure("3.9.0"), GRAPHS, "relay", "FOLDER", "SRC,FLT,SINK",
                         probes=False) as program:
        program.wait_for("up")
        address = address_of(program)
        done, document = ask(address)
        assert done.returncode == 4 and document["errors"] == [], done  # nothing passes yet
        pids = {p["pid"] for p in document["processes"]}
        deaf = next(p["pid"] for p in document["processes"] if "SINK" in p["units"])
        assert len(pids) > 1, document["processes"]
        os.kill(deaf, signal.SIGSTOP)
        try:
            done, document = ask(address, window="4.0")
        finally:
            os.kill(deaf, signal.SIGCONT)
        assert done.returncode == 5 and [e["pid"] for e in document["errors"]] == [deaf], done
        program.touch("go")
        program.finish(60)


def as_another_user(address):
    """The agent tells a stranger nothing: that is said, and not that nobody measures."""
    done = subprocess.run(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", harness.BIN / "ezprof",
                           "why", "--window", "0.5", "--address", address], capture_output=True, text=True,
                          timeout=60, env={"PATH": "/usr/bin:/bin"})
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done
    assert "tells this user nothing: these are ezmsg's own figures" in said, done
    assert "No agent measures" not in said and "put sudo before the command" in done.stderr, done


def test_with_agent():
    python = environment.ensure("3.9.0")
    with harness.Program(python, GRAPHS, "endless", "FOLDER") as program:
        program.wait_for("up")
        program.touch("go")
        with harness.Agent(program.pid) as agent:
            time.sleep(1.2)
            documents, _ = call(python, CALL, registry.read(program.pid).graph_address)
            for document in documents:
                assert document["publishers"][0]["source"] == "bpf"
                subscriber = document["channels"][0]["subscribers"][0]
                assert 5.0 <= subscriber["processing"]["avg_ms"] < 15.0, subscriber
            as_another_user(registry.read(program.pid).graph_address)
            assert agent.stop() == 0
        program.finish()


TESTS = (test_nobody_prepared, test_second_observer, test_second_observer_of_little,
         test_observer_who_has_gone,
         test_own_server, test_nothing_to_ask, test_deaf_process, test_with_agent)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
