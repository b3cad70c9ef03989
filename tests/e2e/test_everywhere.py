# SPDX-License-Identifier: MIT
"""Wherever the process runs and however it was built: containers, namespaces, odd builds."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack

from agent import BIN, TEST_BIN, Agent, Player, command, profile, publisher, wait_until
from elf_sites import semaphores
from graph import Graph
from preload import SANITIZER
from require import require, skip

PUBLISHER = 1
PLAYER = os.path.join(TEST_BIN, "probe_player")


class At(Player):
    """A player somewhere else: any command that ends in being it, or in having it as a child."""

    def __init__(self, *arguments, forks=False):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = wait_until(self.child, 10, "the child") if forks else self.process.pid
        self.do("open", PUBLISHER, 8)

    def child(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            found = children.read().split()
        if not found:
            return None
        with open(f"/proc/{found[0]}/comm") as comm:
            return int(found[0]) if comm.read().startswith("probe_player") else None

    def __exit__(self, *_):
        if os.path.exists(f"/proc/{self.pid}"):
            os.kill(self.pid, signal.SIGKILL)
        super().__exit__()


def counted(agent, player, count=1009):
    """All messages from now on are counted, and none is lost."""
    def of(document):
        [found] = [p for p in document["publishers"] if p["pid"] == player.pid]
        return found
    before = of(agent.ask())["measured"]["messages"]
    player.do("publish", 0, count, 3)
    found = of(agent.ask())
    assert found["measured"]["messages"] == before + count and found["lost"] == 0, found


def libraries_of(program):
    text = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"(/\S+)", text)


def containers():
    """B10: the file is there only in the process's own mount namespace, or below its own root."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"mount -t tmpfs none {folder} && cp {PLAYER} {folder}/player && exec {folder}/player"
        with At("unshare", "--mount", "sh", "-c", script) as player:
            with Agent(player.pid) as agent:
                assert not os.path.exists(f"{folder}/player")
                counted(agent, player)
                player.process.kill()
                player.process.wait()
                wait_until(lambda: agent.process.poll() is not None, 20, "the end")
                assert agent.process.returncode == 0, agent.stderr()
        for path in (PLAYER, *libraries_of(PLAYER)):
            os.makedirs(folder + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, folder + path)
        with At("chroot", folder, PLAYER) as player, Agent(player.pid) as agent:
            counted(agent, player)


def pid_namespaces():
    """B11: two processes that both call themselves 1 stay two."""
    inside = ("unshare", "--pid", "--fork", "--mount-proc", PLAYER)
    with At(*inside, forks=True) as one, At(*inside, forks=True) as two:
        with Agent(one.pid, two.pid) as agent:
            counted(agent, one, 101)
            counted(agent, two, 203)
            rows = {p["pid"]: p["measured"]["messages"] for p in agent.ask()["publishers"]}
            assert rows == {one.pid: 101, two.pid: 203}, rows


def replaced():
    """B08: as a package manager does it, and removed outright."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "player")
        shutil.copy(PLAYER, path)
        with At(path) as old:
            shutil.copy(PLAYER, path + ".new")
            os.rename(path + ".new", path)
            with At(path) as new:
                os.remove(path)
                with Agent(old.pid, new.pid) as agent:
                    counted(agent, old, 101)
                    counted(agent, new, 203)


def odd_builds():
    """Stripped; static and stripped; run from memory only."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped")
        shutil.copy(PLAYER, stripped)
        subprocess.run(["strip", "-s", stripped], check=True)
        builds = [stripped]
        static = PLAYER + "_static"
        if os.path.exists(static):
            builds.append(os.path.join(folder, "static"))
            shutil.copy(static, builds[-1])
            subprocess.run(["strip", "-s", builds[-1]], check=True)
        fd = os.memfd_create("player")
        with open(PLAYER, "rb") as source:
            os.write(fd, source.read())
        with ExitStack() as stack:
            players = [stack.enter_context(At(path)) for path in builds]
            players.append(stack.enter_context(At(f"/proc/{os.getpid()}/fd/{fd}")))
            agent = stack.enter_context(Agent(*(p.pid for p in players)))
            for number, player in enumerate(players):
                counted(agent, player, 101 + number)
        os.close(fd)


SMALL = r"""
__asm__(".globl _start\n_start: 990: nop\n mov $29, %eax\n int $0x80\n jmp _start\n"
        ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
        "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .4byte 990b, 0, 0\n.asciz \"ezmsg\"\n"
        ".asciz \"publish\"\n.asciz \"4@%eax\"\n994: .balign 4\n.popsection\n");
"""


SITES = r"""
__asm__(".globl _start\n_start: .rept %d\n990: nop\n"
        ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
        "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"ezmsg\"\n"
        ".asciz \"publish\"\n.asciz \"8@%%rdi 8@%%rsi 8@%%rdx 8@%%rcx 8@%%r8\"\n994: .balign 4\n"
        ".popsection\n.endr\n mov $35, %%eax\n lea pause(%%rip), %%rdi\n xor %%esi, %%esi\n"
        " syscall\n jmp _start\npause: .8byte 0, 10000000\n");
"""


def many_sites():
    """B05: one probe at many places. Up to the limit all of them count; beyond it that is said."""
    with tempfile.TemporaryDirectory() as folder:
        for count in (60, 300):
            source, program = os.path.join(folder, "sites.c"), os.path.join(folder, f"sites{count}")
            with open(source, "w") as text:
                text.write(SITES % count)
            subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", source, "-o", program], check=True)
            with subprocess.Popen([program]) as target:
                if count == 300:
                    result = command("ezprof-bpf", "attach", target.pid)
                    assert result.returncode == 4 and "the limit of 64" in result.stderr, result
                else:
                    with Agent(target.pid, "--probes", "boundary") as agent:
                        assert agent.said("60 probes"), agent.stderr()
                        time.sleep(0.3)
                        document = agent.ask()
                        # Its registers are what they are: counted as hits of no possible endpoint.
                        assert document["agents"][0]["losses"]["bad_endpoint"] >= 60, document
                target.kill()


TWICE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *one = dlopen(argv[1], RTLD_NOW), *two = argc > 2 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : one;
	(void)!write(1, one && two ? "ok\n" : "no\n", 3);
	pause();
}
"""


def one_library_twice():
    """Two copies of one library in a process can't be told apart by their hits: that is said."""
    if SANITIZER:
        print("one_library_twice: left out, a second copy would bring a second sanitizer")
        return
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "twice.c"), os.path.join(folder, "twice")
        with open(source, "w") as text:
            text.write(TWICE)
        subprocess.run(["gcc", source, "-o", program, "-ldl"], check=True)
        library = os.path.realpath(os.path.join(BIN, "..", "lib", "libezmsg.so"))
        for copies in (1, 2):
            with subprocess.Popen([program, library, *["again"] * (copies - 1)], text=True,
                                  stdout=subprocess.PIPE) as target:
                assert target.stdout.readline() == "ok\n"
                with Agent(target.pid) as agent:
                    errors = [e for e in agent.ask()["errors"] if "twice" in e["detail"]]
                    assert len(errors) == copies - 1, errors
                target.kill()


def small():
    """B23: a 32-bit program is refused by that name; the others in the same call are measured."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "small.c"), os.path.join(folder, "small")
        with open(source, "w") as text:
            text.write(SMALL)
        built = subprocess.run(["gcc", "-m32", "-nostdlib", "-static", "-no-pie", source, "-o",
                                program], stderr=subprocess.PIPE, text=True)
        if built.returncode:
            print("no 32-bit program can be built here:", built.stderr.splitlines()[:1])
            return
        with subprocess.Popen([program]) as target, At(PLAYER) as player:
            time.sleep(0.1)
            result = command("ezprof-bpf", "attach", target.pid)
            assert result.returncode == 4 and "32-bit" in result.stderr, result
            result = command("ezprof-bpf", "attach", target.pid, player.pid, "--once", "--window",
                             0.2)
            assert result.returncode == 5 and "32-bit" in result.stderr, result
            assert len(json.loads(result.stdout)["publishers"]) == 1
            target.kill()


def without_probe(name, folder):
    """A build of the player in which that probe has another name."""
    path = os.path.join(folder, "without-" + name)
    with open(PLAYER, "rb") as source:
        program = source.read()
    note, other = b"ezmsg\0%b\0" % name.encode(), b"ezmsg\0%bX\0" % name[:-1].encode()
    assert program.count(note) == 1
    with open(path, "wb") as copy:
        copy.write(program.replace(note, other))
    os.chmod(path, 0o755)
    return path


def half_of_the_probes():
    """B20: what an older build lacks is named, on stderr and in the document; the rest is exact.
    What the chosen way doesn't use is not missed; without anything that it uses: refused."""
    with tempfile.TemporaryDirectory() as folder:
        with At(without_probe("lease", folder)) as player:
            with Agent(player.pid, "--probes", "boundary") as agent:
                assert agent.said("lacks the probes lease"), agent.stderr()
                counted(agent, player)
                [error] = agent.ask()["errors"]
                assert error["reason"] == "incomplete" and error["pid"] == player.pid
                assert "lease" in error["detail"], error
            with Agent(player.pid) as agent:
                assert not agent.said("lacks"), agent.stderr()
                counted(agent, player)
                assert agent.ask()["errors"] == []
        bare = without_probe("window", folder)
        with At(bare) as player, At(PLAYER) as other:
            result = command("ezprof-bpf", "attach", player.pid)
            assert result.returncode == 4 and "lacks the probes" in result.stderr, result
            with Agent(player.pid, other.pid) as agent:
                assert agent.said(f"process {player.pid}: cannot be attached to"), agent.stderr()
                counted(agent, other)
            with At(bare) as twin, Agent(player.pid, twin.pid, other.pid) as agent:
                assert agent.said(f"processes {player.pid}, {twin.pid}: cannot be attached to"), agent.stderr()
                assert agent.stderr().count("cannot be attached to") == 1, agent.stderr()
            with Agent(player.pid, "--probes", "both") as agent:
                assert agent.said("lacks the probes window"), agent.stderr()
                [error] = agent.ask()["errors"]
                assert error["reason"] == "incomplete" and "window" in error["detail"], error


def without_sys():
    """B22: with /sys hidden it works, or says in one line what is missing."""
    with At(PLAYER) as player:
        script = (f"mount -t tmpfs none /sys && exec {BIN}/ezprof-bpf attach {player.pid} --once"
                  " --window 0.2")
        result = subprocess.run(["unshare", "--mount", "sh", "-c", script], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=30)
        assert "libbpf:" not in result.stderr, result.stderr
        if result.returncode:
            assert result.returncode in (1, 77) and "/sys" in result.stderr, result
        else:
            assert json.loads(result.stdout)["publishers"]
        print("without /sys:", result.returncode)


def other_network():
    """Two servers on one loopback address, in two networks: their graphs don't mix."""
    with Graph() as graph:
        port = graph.address.rsplit(":", 1)[1]
        graph.node("source", "HERE", "--count", 7)
        server, node = (os.path.join(BIN, name) for name in ("ezprof-graphserver", "ezmsg-node"))
        script = (f"mount -t tmpfs none /run; ip link set lo up; {server} --address 127.0.0.1:{port} & sleep 0.3; "
                  f"echo $!; {node} source THERE --count 5 --address 127.0.0.1:{port} & "
                  "echo $!; read end; kill $(jobs -p); wait")
        with subprocess.Popen(["unshare", "--net", "--mount", "bash", "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as inside:
            pids = []
            while len(pids) < 2:
                line = inside.stdout.readline().strip()
                pids += [int(line)] if line.isdigit() else []
            while "sent" not in inside.stdout.readline():
                pass
            try:
                with Agent(pids[1]) as agent:
                    assert publisher(agent.ask(), "THERE")["messages"]["total"] == 5
                    assert not agent.said("registered"), agent.stderr()
                    here = profile(graph.address, 0.2)
                    assert [p["topic"] for p in here["publishers"]] == ["HERE"], here
            finally:
                inside.communicate("end\n")


def stopped():
    """A target under SIGSTOP can be attached to, asked about, and killed."""
    with At(PLAYER) as player:
        os.kill(player.pid, signal.SIGSTOP)
        with Agent(player.pid) as agent:
            assert publisher(agent.ask(), "player/topic")["measured"]["messages"] == 0
            os.kill(player.pid, signal.SIGCONT)
            counted(agent, player)
            os.kill(player.pid, signal.SIGSTOP)
            assert publisher(agent.ask(), "player/topic")["measured"]["messages"] == 1009
            player.process.kill()
            wait_until(lambda: agent.process.poll() is not None, 20, "the end")
            assert agent.process.returncode == 0, agent.stderr()


def pid_reuse_inside():
    """In a pid namespace of its own, where the next pid can be chosen."""
    with Agent("--all") as agent:
        first = At(PLAYER)
        wait_until(lambda: agent.ask(0.5)["publishers"], 15, "the first one")
        first.do("publish", 0, 101, 1)
        first.process.kill()
        first.process.wait()
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(first.pid - 1))
        with At(PLAYER) as second:
            assert second.pid == first.pid, (first.pid, second.pid)
            def there():
                found = agent.ask(0.5)["publishers"]
                gone = agent.said(f"process {first.pid} has exited")
                return gone and found and found[0]["window"]["covered_s"] > 0 and found[0]
            found = wait_until(there, 15, "the second one")
            assert found["measured"]["messages"] == 0, found
            counted(agent, second, 7)
            assert publisher(agent.ask(), "player/topic")["measured"]["messages"] == 7


def pid_reuse():
    """B29: a new process with an old pid starts from 0."""
    inside("reuse")


def nested_inside():
    """In a pid namespace of its own: processes beside the agent, and in two namespaces below."""
    below = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", PLAYER)
    with At(*below, forks=True) as one, At(*below, forks=True) as two, At(PLAYER) as beside:
        for options in ((), ("--probes", "boundary"), ("--all",)):
            with Agent(*options, *(() if options == ("--all",) else (one.pid, two.pid, beside.pid))) as agent:
                if options == ("--all",):
                    wait_until(lambda: len(agent.ask(0.5)["publishers"]) == 3, 15, "all three")
                    time.sleep(0.3)
                for number, player in enumerate((one, two, beside)):
                    counted(agent, player, 101 + number)
                assert agent.ask()["agents"][0]["losses"]["not_a_target"] == 0, agent.ask()["agents"]


def nested():
    """An agent in a container counts what runs in containers below it."""
    inside("nested")


def inside(what):
    subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable,
                    __file__, what], check=True, timeout=60)


def overflow():
    """B29: more endpoints than there is room for: counted and named, the others exact."""
    with At(PLAYER) as player:
        for _ in range(40):
            player.do("open", PUBLISHER, 8)
        with Agent(player.pid, "--max-endpoints", 16, "--probes", "boundary") as agent:
            for number in range(41):
                player.do("publish", number, 11, 1)
            document = agent.ask()
            assert document["agents"][0]["losses"]["no_slot"] == 25 * 11, document["agents"][0]
            measured = sorted(p["measured"]["messages"] for p in document["publishers"])
            assert measured == [0] * 25 + [11] * 16, measured
            assert document["lost"] == 25 * 11, document["lost"]
        assert not any(semaphores(player.pid).values())


def churn(*options):
    """B29: publishers come and go under one attach: their places go to others, nothing mixes."""
    room, publishers = 256, 500
    with At(PLAYER) as player:
        with Agent(player.pid, "--max-endpoints", room, *options) as agent:
            for number in range(1, publishers + 1):
                assert player.do("open", PUBLISHER, 8)
                player.do("publish", 0, 1, 2)
                player.do("publish", number, number, 5)
                if number % 25 == 0:
                    document = agent.ask()
                    found = sorted(p["measured"]["messages"] for p in document["publishers"])
                    assert found == [number, number] and document["lost"] == 0, (number, found)
                player.do("close", number)
                time.sleep(0.012)
            document = agent.ask()
            [row] = document["publishers"]
            assert row["measured"]["messages"] == publishers and document["lost"] == 0, row
            assert document["agents"][0]["losses"]["no_slot"] == 0, document["agents"][0]


def churn_by_windows():
    churn()


def churn_by_boundaries():
    churn("--probes", "boundary")


def main():
    require("bpf")
    if os.getuid():
        skip("needs root", "EZPROF_REQUIRE_BPF")
    if sys.argv[1:]:
        {"reuse": pid_reuse_inside, "nested": nested_inside}[sys.argv[1]]()
        return
    for story in (containers, pid_namespaces, replaced, odd_builds, many_sites, one_library_twice, small, half_of_the_probes,
                  without_sys, other_network, stopped, pid_reuse, nested, overflow, churn_by_windows,
                  churn_by_boundaries):
        began = time.monotonic()
        story()
        print(f"{story.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


main()
