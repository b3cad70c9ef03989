# SPDX-License-Identifier: MIT
"""B04: whatever links the instrumented program, ezprof-bpf and bpftrace count exactly in it.

Linkers that throw sections away may take the notes' base marker along; its address is then 0.
"""
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

from agent import Agent, Player, publisher
from elf_sites import Elf
from graph import wait_until
from require import require, skip

SOURCE = os.environ["EZPROF_SOURCE_DIR"]
USDT = os.path.join(SOURCE, "usdt")
COUNT = 1003
HOW = {
    "gc": ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    "gc stripped": ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"],
    "lto": ["-flto", "-Wl,--gc-sections"],
    "static": ["-static", "-Wl,--gc-sections"],
}
PUBLISHER = 1


def build(compiler, linker, options, target):
    files = [os.path.join(USDT, name) for name in sorted(os.listdir(USDT)) if name.endswith(".c")]
    files.append(os.path.join(SOURCE, "tests", "bpf", "probe_player.c"))
    subprocess.run([compiler, "-O2", "-D_GNU_SOURCE", "-fvisibility=hidden", "-I", USDT, *files,
                    *options, f"-fuse-ld={linker}", "-pthread", "-o", target], check=True, timeout=60)


def builds(folder):
    """(name, path) of each combination that this machine can build."""
    linkers = [name for name in ("bfd", "gold", "lld") if shutil.which(f"ld.{name}")]
    if len(linkers) < 3:
        skip(f"only these linkers are here: {', '.join(linkers)}", "EZPROF_REQUIRE_BPF")
    for linker, how in itertools.product(linkers, HOW):
        # lld knows the intermediate code of clang, the others that of gcc.
        compiler = "clang" if (linker, how) == ("lld", "lto") else "gcc"
        target = os.path.join(folder, f"player-{linker}-{how.replace(' ', '-')}")
        build(compiler, linker, HOW[how], target)
        yield f"{linker}, {how}", target


def by_agent(path):
    with Player(path) as player:
        player.do("open", PUBLISHER, 32)
        with Agent(player.pid) as agent:
            player.do("publish", 0, COUNT, 7)
            found = publisher(agent.ask(), "player/topic")
        assert found["measured"] == {"messages": COUNT, "bytes": 7 * COUNT}, found
        assert (found["lost"], found["lost_exact"]) == (0, True), found
        assert sum(player.do("semaphores")) == 0


SCRIPT = """
usdt:{path}:ezmsg:publish {{
    if (arg2 == 1) {{ printf("seen\\n"); }}
    if (arg2 == 7) {{ @n[str(arg4)] = count(); }}
    if (arg2 == 9) {{ exit(); }}
}}"""


def by_bpftrace(path):
    """Its semaphore rises before it counts: so it is asked by messages of 1 byte until it says so."""
    with Player(path) as player, tempfile.TemporaryFile() as out:
        def seen(text):
            return text in os.pread(out.fileno(), 65536, 0).decode()

        def asked():
            player.do("publish", 0, 1, 1)
            return seen("seen")
        player.do("open", PUBLISHER, 32)
        tracer = subprocess.Popen(["bpftrace", "-B", "line", "-p", str(player.pid), "-e",
                                   SCRIPT.format(path=path)], stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.STDOUT)
        try:
            wait_until(asked, 30, "bpftrace")
            player.do("publish", 0, COUNT, 7)
            player.do("publish", 0, 1, 9)
            tracer.wait(timeout=30)
        finally:
            tracer.kill()
            tracer.wait()
        assert seen(f"@n[player/topic]: {COUNT}\n"), os.pread(out.fileno(), 65536, 0).decode()
        player.do("publish", 0, 1, 7)


def main():
    require("bpf")
    with tempfile.TemporaryDirectory() as folder:
        names = set()
        for name, path in builds(folder):
            sites = [site for site in Elf(path).sites() if site.provider == "ezmsg"]
            names.add(tuple(sorted(site.name for site in sites)))
            assert all(site.semaphore for site in sites), name
            by_agent(path)
            if shutil.which("bpftrace"):
                by_bpftrace(path)
            print(f"{name}: exact", flush=True)
        assert len(names) == 1 and len(*names) > 0, names


sys.exit(main())
