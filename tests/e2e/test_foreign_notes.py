# SPDX-License-Identifier: MIT
"""
Objects whose notes place the arguments elsewhere: in other registers, in memory, narrower. They are
measured as exactly, by libbpf's USDT support; what that can't read is refused with the argument
string.
"""

import os
import re
import subprocess
import tempfile
import time
from contextlib import contextmanager

from agent import Agent, Player, command, publisher, subscribers
from elf_sites import Elf, semaphores
from require import require, skip

SOURCE = os.environ["EZPROF_SOURCE_DIR"]
USDT = os.path.join(SOURCE, "usdt")
PUBLISHER, CHANNEL, CLIENT = 1, 3, 4
COUNT, BYTES = 10007, 97

OTHER_REGISTERS = ("rax", "rbx", "r10", "r11", "r12", "r13")


def canonical_to(registers):
    """sdt.h with other registers in the place of the usual ones."""
    def change(header, probes):
        for n, register in enumerate(registers):
            header = re.sub(rf'#define EZ_SDT_REG{n} "r.*"', f'#define EZ_SDT_REG{n} "{register}"',
                            header)
        return header, probes
    return change


def by_operand(constraint, size=8, first=None):
    """The compiler chooses: every argument is an operand, printed as it comes out."""
    def change(header, probes):
        header = re.sub(r"#define EZ_SDT_ARGS3 .*", '#define EZ_SDT_ARGS3 "8@%1 8@%2 8@%3"', header)
        for n in (4, 5, 6):
            header = re.sub(rf"#define EZ_SDT_ARGS{n} .*",
                            f'#define EZ_SDT_ARGS{n} EZ_SDT_ARGS{n - 1} " 8@%{n}"', header)
        if first:
            header = header.replace("8@%1 ", first + " ")
        header = re.sub(r"#define EZ_SDT_PIN\(.*",
                        "#define EZ_SDT_PIN(n, value) uint64_t ez_arg##n = (uint64_t)(value)", header)
        return header, probes.replace('"r"(ez_arg', f'"{constraint}"(ez_arg')
    return change


READABLE = {
    "registers": canonical_to(OTHER_REGISTERS),
    "reversed": canonical_to(("r9", "r8", "rcx", "rdx", "rsi", "rdi")),
    "memory": by_operand("m"),
    "as it comes": by_operand("nr"),
}
REFUSED = {
    "8@-8(%rdx,%rax,8)": by_operand("m", first="8@-8(%%rdx,%%rax,8)"),
    "8@ez_registry_table(%rip)": by_operand("m", first="8@ez_registry_table(%%rip)"),
    "8f@%xmm3": by_operand("m", first="8f@%%xmm3"),
}


def build(folder, name, change):
    """probe_player over changed probe sites."""
    place = os.path.join(folder, re.sub(r"\W", "_", name))
    os.mkdir(place)
    texts = []
    for file in ("sdt.h", "probes.c"):
        with open(os.path.join(USDT, file)) as opened:
            texts.append(opened.read())
    changed = change(*texts)
    assert changed != tuple(texts), name
    for file, text in zip(("sdt.h", "probes.c"), changed):
        with open(os.path.join(place, file), "w") as opened:
            opened.write(text)
    others = [os.path.join(USDT, f) for f in sorted(os.listdir(USDT))
              if f.endswith(".c") and f != "probes.c"]
    target = os.path.join(place, "player")
    subprocess.run(["gcc", "-O0" if name == "as it comes" else "-O2", "-g", "-D_GNU_SOURCE", "-w", "-I", place, "-I", USDT,
                    os.path.join(place, "probes.c"), *others,
                    os.path.join(SOURCE, "tests", "bpf", "probe_player.c"), "-o", target,
                    "-lpthread"], check=True, timeout=120)
    [window] = [site.arguments for site in Elf(target).sites() if site.name == "window"]
    assert window != "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8", name
    print(f"{name}: window {window}", flush=True)
    return target


@contextmanager
def playing(target):
    player = Player.__new__(Player)
    player.process = subprocess.Popen([target], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)
    player.pid = player.process.pid
    with player:
        player.do("open", PUBLISHER, 32)
        player.do("open", CLIENT, 32)
        player.do("open", CHANNEL, 32)
        yield player


def raised(player):
    return [value for value in semaphores(player.pid).values() if value]


def play(player):
    player.do("roundtrip", 1, COUNT, BYTES)
    player.do("publish", 0, COUNT, BYTES)


def exact(document, total, way):
    [pub] = document["publishers"]
    [sub] = [s for channel in document["channels"] for s in channel["subscribers"]]
    for endpoint in (pub, sub):
        assert endpoint["messages"]["total"] == total, (way, endpoint)
        assert endpoint["measured"] == {"messages": total, "bytes": total * BYTES}, (way, endpoint)
        assert (endpoint["lost"], endpoint["lost_exact"]) == (0, True), (way, endpoint)
    assert sub["processing"]["samples"] == total, (way, sub)
    assert document["lost"] == 0 and document["errors"] == [], document["errors"]


def measured(target, name, way):
    with playing(target) as player:
        with Agent(player.pid, "--probes", way) as agent:
            play(player)
            exact(agent.ask(16), COUNT, (name, way))
            assert raised(player), name
            assert agent.said("its notes have arguments in places of their own"), name
        assert not raised(player), name
        assert agent.process.returncode == 0, agent.stderr()


def beside_a_usual_one(target):
    """One call, one of each; the links of both are for everybody."""
    with playing(target) as foreign, Player() as usual:
        usual.do("open", PUBLISHER, 32)
        with Agent("--children", foreign.pid, usual.pid) as agent:
            foreign.do("publish", 0, COUNT, BYTES)
            usual.do("publish", 0, COUNT, BYTES)
            counts = {p["pid"]: p["measured"]["messages"] for p in agent.ask()["publishers"]}
            assert counts == {foreign.pid: COUNT, usual.pid: COUNT}, counts


def comes_later(target):
    """Rights are gone by then: it is named, and the others go on."""
    with Player() as usual:
        usual.do("open", PUBLISHER, 32)
        with Agent("--children", os.getpid()) as agent:
            with playing(target) as late:
                deadline = time.monotonic() + 30
                while not agent.said(f"process {late.pid}: cannot be attached to any more"):
                    assert time.monotonic() < deadline, agent.stderr()
                    time.sleep(0.1)
                # Three looks at the process, one complaint.
                time.sleep(3)
                assert agent.stderr().count("cannot be attached to any more") == 1, agent.stderr()
            usual.do("publish", 0, 11, 1)
            assert agent.ask()["publishers"][0]["messages"]["total"] == 11


def refused(target, arguments):
    with playing(target) as player:
        result = command("ezprof-bpf", "attach", player.pid)
        assert result.returncode == 4, result
        assert f"process {player.pid}: has no usable ezprof probes" in result.stderr, result.stderr
        assert arguments in result.stderr, result.stderr


def main():
    require("bpf")
    if os.uname().machine != "x86_64":
        skip("registers by the names of x86-64")
    with tempfile.TemporaryDirectory() as folder:
        for name, change in READABLE.items():
            target = build(folder, name, change)
            measured(target, name, "window")
        for name in ("memory", "registers"):
            target = os.path.join(folder, name, "player")
            measured(target, name, "boundary")
        beside_a_usual_one(target)
        comes_later(target)
        for arguments, change in REFUSED.items():
            refused(build(folder, arguments, change), arguments)


main()
