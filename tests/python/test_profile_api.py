# SPDX-License-Identifier: MIT
"""ezmsg_usdt.profile() and its fallback: a graph that nobody prepared, and one with an agent."""

import json
import subprocess
import sys
import time

import environment
import harness
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
        seen = set()
        end = asyncio.get_running_loop().time() + 6
        async for batch in context.subscribe_profiling_trace(ProfilingStreamControl()):
            for process in batch.batches.values():
                seen |= {s.metric for s in process.samples}
                late = len(process.samples)
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
            if version in ("3.7.3", "3.8.0"):
                assert "tells its graph and no more" in document["hint"]
                continue
            (publisher,) = document["publishers"]
            assert 50 < publisher["message_rate_hz"] < 250, publisher
            assert publisher["bytes"]["total"] is None
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
        observer = subprocess.Popen([python, "-c", OBSERVER, address], stdout=subprocess.PIPE,
                                    text=True, env=harness.environment(probes=False))
        time.sleep(2.0)
        documents, told = call(python, CALL, address)
        assert "another observer" in told, told
        assert documents[0]["publishers"][0]["gap"]["samples"] > 10
        out, _ = observer.communicate(timeout=30)
        assert json.loads(out)["metrics"] == ["publish_delta_ns"], out
        assert json.loads(out)["late"] > 0
        program.finish()


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
            assert agent.stop() == 0
        program.finish()


TESTS = (test_nobody_prepared, test_second_observer, test_with_agent)

if __name__ == "__main__":
    require("bpf")
    sys.exit(harness.run_tests(TESTS))
