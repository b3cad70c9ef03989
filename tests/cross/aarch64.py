# SPDX-License-Identifier: MIT
"""aarch64: everything compiles for it, the probes' arguments are where they belong, the runtime runs
under user-mode emulation against a server of this machine.

usage: aarch64.py CC   (CC: preprocesses the probe list)
"""
import os
import shutil
import subprocess
import sys

from graph import Graph
from require import skip

SOURCE = os.environ["EZPROF_SOURCE_DIR"]
BUILD = os.path.join(os.environ["EZPROF_BUILD_DIR"], "aarch64")
sys.path.insert(0, os.path.join(SOURCE, "tests", "abi"))
import sites  # noqa: E402

COMPILER = "aarch64-linux-gnu-gcc"
RUN = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
# What links libc only; of the rest, whose libraries aren't here for aarch64, all but the linking.
TARGETS = ["ezmsg", "ezmsg-node", "ezmsg_static"]
COMPILED = ["ezprof_graph", "ezprof_user", "ezprof_cli"]
COUNT = 1003


def need_tools():
    for program, package in ((COMPILER, "gcc-aarch64-linux-gnu"), (RUN[0], "qemu-user"),
                             ("ninja", "ninja-build")):
        if not shutil.which(program):
            skip(f"no {program} (Debian package {package})", "EZPROF_REQUIRE_BPF")


def build():
    toolchain = os.path.join(SOURCE, "cmake", "aarch64-linux-gnu.cmake")
    for command in (["cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja", "--toolchain", toolchain,
                     "-DBUILD_TESTING=OFF", "-DEZPROF_WERROR=ON"],
                    ["ninja", "-C", BUILD, "-j2", *TARGETS, *COMPILED]):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(result.stdout[-4000:])


def build_bare(folder):
    """The smallest instrumented program, at every level and with both compilers."""
    usdt = os.path.join(SOURCE, "usdt")
    files = [os.path.join(usdt, name) for name in sorted(os.listdir(usdt)) if name.endswith(".c")]
    files.append(os.path.join(SOURCE, "tests", "abi", "probe_bare.c"))
    compilers = {"gcc": [COMPILER]}
    if shutil.which("clang"):
        compilers["clang"] = ["clang", "--target=aarch64-linux-gnu"]
    for name, compiler in compilers.items():
        for level in ("-O0", "-O2", "-O3"):
            target = os.path.join(folder, f"bare-{name}{level}")
            subprocess.run([*compiler, level, "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", "-I",
                            usdt, *files, "-o", target], check=True, timeout=60)
            subprocess.run([*RUN, target], check=True, timeout=30)
            yield target


def smoke(transport, *options):
    """A source of aarch64 and a sink of aarch64, each under emulation, and our server."""
    node = os.path.join(BUILD, "bin", "ezmsg-node")
    with Graph() as graph:
        def start(*arguments):
            program = graph.program(*RUN, node, *arguments)
            assert '"ready"' in program.line(), program.stderr()
            return program
        sink = start("sink", "T", "--handle", "SINK")
        # It has a channel to itself.
        source = start("source", "T", "--count", str(COUNT), "--wait-channels", "2", *options)
        Graph.sent(source)
        graph.sync()
        [sent] = Graph.counts(source)
        [received] = Graph.counts(sink)
    assert sent["messages"] == received["messages"] == COUNT, (sent, received)
    assert sent["bytes"] == received["bytes"], (sent, received)
    print(f"{transport}: {COUNT} messages, {sent['bytes']} bytes")


def main():
    need_tools()
    build()
    probes = sites.probe_list(sys.argv[1])
    objects = [os.path.join(BUILD, "lib", "libezmsg.so"), *build_bare(BUILD)]
    bad = [f"{path}: {text}" for path in objects for text in sites.problems_of(path, probes)]
    print(*bad, f"{len(objects)} objects, {len(probes)} probes each, {len(bad)} problems", sep="\n")
    smoke("shm")
    smoke("tcp", "--tcp")
    return bool(bad)


sys.exit(main())
