# SPDX-License-Identifier: MIT
"""`ezprof why` on built graphs whose true cause is known: it is named, first, with its process."""
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from agent import Agent, command
from graph import Graph, wait_until
from require import require

WINDOW_S = 1.0
# So many graphs at a time: most of them sleep most of the time.
AT_ONCE = 3
TRIES = 3


class Answer:
    """What `why --json` says, and the text."""

    def __init__(self, address, window=WINDOW_S, status=0):
        done = command("ezprof", "why", "--json", "--window", window, "--address", address)
        assert done.returncode in (status if isinstance(status, tuple) else (status,)), (done.returncode, done.stderr)
        self.findings = json.loads(done.stdout)["findings"]
        assert [f["rank"] for f in self.findings] == list(range(1, len(self.findings) + 1))
        for finding in self.findings:
            assert finding["sentence"], finding
            assert finding["evidence"] or finding["weight"] == "note" or finding["subject"] is None \
                or finding["kind"] == "dead_process", finding

    def text(self):
        return "\n".join(f'{f["kind"]}: {f["sentence"]}' for f in self.findings)

    def problems(self):
        """Without gaps: a machine under load stutters for real."""
        return [f for f in self.findings if f["weight"] == "problem" and f["kind"] != "gap"]

    def first(self, kind, pid=None, waiting=()):
        top = next(f for f in self.findings if f["kind"] != "gap" or kind == "gap")
        assert top["kind"] == kind, self.text()
        if pid:
            assert top["subject"]["pid"] == pid and str(pid) in top["sentence"], self.text()
        names = {w["topic"] for w in top["waiting"] if w["scope"] == "publisher"}
        assert names == set(waiting), (names, self.text())
        return top

    def find(self, kind):
        found = [f for f in self.findings if f["kind"] == kind]
        assert found, (kind, self.text())
        return found[0]


def about(nodes, window=WINDOW_S, settle=None, status=0, options=()):
    """Attaches to the nodes, waits for a window, asks."""
    graph, pids = nodes[0], [n.pid for n in nodes[1:]]
    flowing(graph.address)
    with Agent(*pids, *options) as agent:
        time.sleep(window + 0.3 if settle is None else settle)
        answer = Answer(graph.address, window, status)
        assert agent.process.poll() is None
    return answer


def flowing(address):
    """Waits until each publisher has sent something: a busy machine takes its time."""
    def all_sent():
        document = json.loads(command("ezprof", "profile", "--address", address).stdout or "{}")
        sent = [p["messages"]["total"] for p in document.get("publishers", ())]
        return sent and all(sent)
    wait_until(all_sent, 20, "messages")


def near(value, wanted, share=0.4):
    assert wanted * (1 - share) <= value <= wanted * (1 + share), (value, wanted)


def slow_among_fast():
    with Graph() as g:
        slow = g.node("sink", "A", "--work-ms", 8, "--handle", "slow")
        fast = [g.node("sink", "A", "--work-ms", 0.5, "--handle", f"fast{i}") for i in range(2)]
        source = g.node("source", "A", "--rate", 400, "--wait-channels", 4)
        answer = about((g, slow, *fast, source))
    top = answer.first("slow_subscriber", slow.pid, {"A"})
    near(top["bound_hz"], 125)
    assert len(answer.problems()) == 1 and "fast" in top["sentence"], answer.text()
    assert top["bound_without_hz"] > 400, answer.text()


def chain(work, rate=500, handles=("one", "two", "sink")):
    g = Graph()
    sink = g.node("sink", "C", "--work-ms", work[2], "--handle", handles[2])
    two = g.node("relay", "B", "C", "--work-ms", work[1], "--handle", handles[1])
    one = g.node("relay", "A", "B", "--work-ms", work[0], "--handle", handles[0])
    source = g.node("source", "A", "--rate", rate, "--wait-channels", 2)
    return g, one, two, sink, source


def chain_slow_last():
    graph, one, two, sink, source = chain((0.4, 0.4, 20))
    with graph:
        # Three times 32 buffers fill before the first one is blocked.
        time.sleep(0.5)
        answer = about((graph, one, two, sink, source))
    top = answer.first("slow_subscriber", sink.pid, {"A", "B", "C"})
    near(top["bound_hz"], 49)
    assert len(answer.problems()) == 1, answer.text()
    for innocent in ("one", "two"):
        assert f"{innocent} on" in top["sentence"] and "only waits" in top["sentence"], top


def chain_slow_middle():
    graph, one, two, sink, source = chain((0.4, 15, 2))
    with graph:
        time.sleep(0.5)
        answer = about((graph, one, two, sink, source))
    top = answer.first("slow_subscriber", two.pid, {"A", "B"})
    near(top["bound_hz"], 65)
    assert len(answer.problems()) == 1, answer.text()


def two_bottlenecks_in_a_row():
    graph, one, two, sink, source = chain((0.4, 12, 20))
    with graph:
        time.sleep(0.5)
        answer = about((graph, one, two, sink, source))
    top = answer.first("slow_subscriber", sink.pid, {"A", "B", "C"})
    near(top["bound_hz"], 49)
    near(top["bound_without_hz"], 80)
    assert "the limit of two on B" in top["sentence"], answer.text()


def two_bottlenecks_side_by_side():
    with Graph() as g:
        left = g.node("sink", "L", "--work-ms", 10, "--handle", "left")
        right = g.node("sink", "R", "--work-ms", 6, "--handle", "right")
        sources = [g.node("source", topic, "--rate", 400, "--wait-channels", 1)
                   for topic in ("L", "R")]
        answer = about((g, left, right, *sources))
    found = {f["subject"]["pid"]: f for f in answer.problems()}
    assert set(found) == {left.pid, right.pid}, answer.text()
    assert {f["kind"] for f in found.values()} == {"slow_subscriber"}, answer.text()


def slow_publisher():
    with Graph() as g:
        sink = g.node("sink", "A", "--work-ms", 1, "--handle", "quick")
        source = g.node("source", "A", "--rate", 20, "--wait-channels", 1)
        answer = about((g, sink, source))
    assert not answer.problems(), answer.text()
    pace = answer.find("own_pace")
    assert pace["subject"]["topic"] == "A", pace
    near(pace["bound_hz"], 20)
    assert pace["bound_without_hz"] > 200, pace


def starved():
    """Three others compute on the CPU on which the sink wants to."""
    spin = "import os\nos.sched_setaffinity(0, {0})\nwhile True: pass"
    with Graph() as g:
        sink = g.node("sink", "A", "--work-ms", 5, "--handle", "hungry", "--pin-cpu", 0, "--spin")
        source = g.node("source", "A", "--rate", 150, "--wait-channels", 1)
        for _ in range(3):
            g.program(sys.executable, "-c", spin)
        answer = about((g, sink, source), options=("--sched",))
    top = answer.first("cpu_starved", sink.pid, {"A"})
    for part in ("starved of CPU", "ready to run while others had the CPU"):
        assert part in top["sentence"], top


def slow_sleeper():
    """With --sched it is said that it sleeps."""
    with Graph() as g:
        sink = g.node("sink", "A", "--work-ms", 8, "--handle", "sleepy")
        source = g.node("source", "A", "--rate", 400, "--wait-channels", 1)
        answer = about((g, sink, source), options=("--sched",))
    top = answer.first("slow_subscriber", sink.pid, {"A"})
    assert "asleep" in top["sentence"], top


def bursty():
    with Graph() as g:
        sink = g.node("sink", "A", "--work-ms", 5, "--handle", "late")
        source = g.node("source", "A", "--rate", 60, "--burst", 12, "--num-buffers", 128,
                        "--wait-channels", 1)
        answer = about((g, sink, source), window=2.0)
    top = answer.first("bursts")
    assert top["subject"]["topic"] == "A" and "late" in top["sentence"], answer.text()
    assert str(sink.pid) in top["sentence"], answer.text()


def too_few_buffers():
    with Graph() as g:
        sink = g.node("sink", "A", "--work-ms", 5, "--handle", "sink")
        source = g.node("source", "A", "--rate", 60, "--burst", 20, "--num-buffers", 2,
                        "--wait-channels", 1)
        answer = about((g, sink, source), window=2.0)
    top = answer.first("few_buffers", sink.pid, {"A"})
    assert "2 buffers" in top["sentence"], top


def leaky():
    with Graph() as g:
        sink = g.node("sink", "A", "--work-ms", 10, "--leaky", "--handle", "drips")
        source = g.node("source", "A", "--rate", 300, "--wait-channels", 1)
        answer = about((g, sink, source))
    top = answer.find("drops")
    assert top["subject"]["pid"] == sink.pid and top["rank"] == 1, answer.text()
    near(top["bound_hz"], 97)
    assert not [f for f in answer.problems() if f["waiting"]], answer.text()


def stuck_lease():
    with Graph() as g:
        stuck = g.node("sink", "A", "--stall-first", "--handle", "stuck")
        fine = g.node("sink", "A", "--work-ms", 0.2, "--handle", "fine")
        source = g.node("source", "A", "--rate", 200, "--num-buffers", 8, "--wait-channels", 3)
        time.sleep(1.2)
        answer = about((g, stuck, fine, source))
    top = answer.first("stuck_subscriber", stuck.pid, {"A"})
    assert "given none back" in top["sentence"], top


def tcp_forced():
    with Graph() as g:
        sink = g.node("sink", "A", "--handle", "far")
        source = g.node("source", "A", "--tcp", "--bytes", 1 << 20, "--rate", 20,
                        "--wait-channels", 1)
        answer = about((g, sink, source))
    top = answer.find("tcp_within_host")
    assert top["subject"]["topic"] == "A" and str(sink.pid) in top["sentence"], answer.text()
    for problem in answer.problems():
        assert problem["kind"] == "connection", answer.text()


def tcp_is_the_limit():
    """In a network of its own whose loopback carries 500 Mbit/s: a plain one keeps pace with anybody, and a sanitizer with little more."""
    setup = "ip link set lo up && tc qdisc add dev lo root tbf rate 500mbit burst 4mb latency 200ms"
    done = subprocess.run(["unshare", "--net", "sh", "-c", setup + ' && exec "$@"', "sh",
                           sys.executable, __file__, narrow_network.__name__],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def narrow_network():
    with Graph() as g:
        sink = g.node("sink", "A", "--handle", "far")
        source = g.node("source", "A", "--tcp", "--bytes", 1 << 20, "--wait-channels", 1)
        answer = about((g, sink, source))
    top = answer.first("connection", sink.pid, {"A"})
    assert "TCP" in top["sentence"], top


def gap():
    with Graph() as g:
        sink = g.node("sink", "A", "--handle", "sink")
        source = g.node("source", "A", "--rate", 200, "--wait-channels", 1)
        with Agent(sink.pid, source.pid):
            time.sleep(1.0)
            os.kill(source.pid, signal.SIGSTOP)
            time.sleep(0.4)
            os.kill(source.pid, signal.SIGCONT)
            time.sleep(0.4)
            answer = Answer(g.address, 2.0)
    top = answer.find("gap")
    assert top["subject"]["topic"] == "A" and top["rank"] == 1, answer.text()
    [value] = [e["value"] for e in top["evidence"] if e["metric"] == "pub.gap_longest_ms"]
    assert 350 <= value <= 4000, value


def idle():
    with Graph() as g:
        sink = g.node("sink", "A")
        source = g.node("source", "A", "--count", 5, "--wait-channels", 1)
        g.sent(source)
        answer = about((g, sink, source))
    top = answer.first("idle")
    assert "sent 5 before" in top["sentence"] and not answer.problems(), answer.text()


def just_started():
    with Graph() as g:
        sink = g.node("sink", "A")
        source = g.node("source", "A", "--rate", 200, "--wait-channels", 1)
        answer = about((g, sink, source), window=10.0, settle=0.3)
    assert answer.find("warming_up")["weight"] == "note"
    assert not answer.problems(), answer.text()


def dead_process():
    with Graph() as g:
        sink = g.node("sink", "A")
        source = g.node("source", "A", "--rate", 200, "--wait-channels", 1)
        with Agent(sink.pid, source.pid):
            time.sleep(0.5)
            sink.stop(signal.SIGKILL)
            time.sleep(1.0)
            answer = Answer(g.address, window=0.5, status=(0, 5))
            late = Answer(g.address, window=10.0, status=(0, 5))
    assert len([f for f in late.findings if str(sink.pid) in f["sentence"]]) == 1, late.text()
    top = answer.find("dead_process")
    assert top["rank"] == 1 and str(sink.pid) in top["sentence"], answer.text()


def nobody_measures():
    with Graph() as g:
        g.node("sink", "A", "--work-ms", 5)
        source = g.node("source", "A", "--rate", 50, "--wait-channels", 1)
        time.sleep(0.3)
        answer = Answer(g.address)
    found = answer.find("unprepared")
    assert str(source.pid) in found["sentence"] and "attach" in found["sentence"], found


def nothing_wrong():
    graph, one, two, sink, source = chain((0.1, 0.1, 0.1), rate=50)
    with graph:
        answer = about((graph, one, two, sink, source))
    assert not answer.problems(), answer.text()
    if answer.findings[0]["kind"] != "gap":
        answer.first("fine")
        assert "Nothing is wrong" in answer.findings[0]["sentence"], answer.text()


SCENARIOS = (slow_among_fast, chain_slow_last, chain_slow_middle, two_bottlenecks_in_a_row,
             two_bottlenecks_side_by_side, slow_publisher, starved,
             slow_sleeper, bursty, too_few_buffers, leaky,
             stuck_lease, tcp_forced, tcp_is_the_limit, gap, idle, just_started, dead_process,
             nobody_measures, nothing_wrong)

def run(scenario):
    """On a machine that is busy with other things these may be the true cause for a while."""
    begin, told = time.monotonic(), []
    for attempt in range(TRIES):
        try:
            scenario()
        except Exception as error:  # pylint: disable=broad-except
            told.append(f"attempt {attempt + 1}: {error!r}")
            continue
        return "\n".join([*told, f"ok   {scenario.__name__} ({time.monotonic() - begin:.1f} s)"])
    return "\n".join([f"FAIL {scenario.__name__}", *told])


def main():
    require("bpf")
    wanted = [s for s in (*SCENARIOS, narrow_network)
              if s.__name__ in sys.argv[1:] or (len(sys.argv) < 2 and s in SCENARIOS)]
    lock, failed = threading.Lock(), 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in pool.map(run, wanted):
            with lock:
                failed += line.startswith("FAIL")
                print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
