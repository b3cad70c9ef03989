# SPDX-License-Identifier: MIT
"""`ezprof report` on a real graph with an agent: who is there, the course of time, early ends."""
import os
import re
import signal
import subprocess
import tempfile
import time

from agent import Agent, command
from graph import BIN, Graph
from page import Page
from require import require


def read(path):
    with open(path, encoding="utf-8") as file:
        return Page(file.read())


def documents(page):
    """How many made the course of time, and its seconds."""
    text = page.top.one("section", id="lines").text()
    return [float(n) for n in re.search(r"(\d+) documents over (\S+) s", text).groups()]


def whole(address, path, slow):
    done = command("ezprof", "report", "-o", path, "--duration", 2, "--interval", 0.25, "--address", address)
    assert done.returncode == 0, (done.returncode, done.stderr)
    page = read(path)
    assert [row[0].text() for row in page.rows("publishers")] in (["A", "B"], ["B", "A"])
    assert {row[0].text() for row in page.rows("subscribers")} == {"quick", "slow"}
    first = next(page.top.one("section", id="why").all("li"))
    assert first.attributes["class"] == "problem" and str(slow.pid) in first.text(), first.text()
    number, seconds = documents(page)
    # Of nine: a machine under load leaves some out.
    assert 3 <= number <= 9 and 0.5 <= seconds <= 20, (number, seconds)
    lines = page.top.one("section", id="lines")
    assert len(list(lines.all("path", class_="line"))) == 2 * 3 + 2 * 3
    latencies = page.top.one("section", id="latencies")
    bars = [path.attributes["d"] for path in latencies.all("path", class_="bars")]
    assert len(bars) == 2 + 2 * 2 and all(bars), bars
    assert not list(latencies.all("path", class_="reach"))
    measured = page.top.one("section", id="measured").text()
    assert "uprobe_multi" in measured or "perf_event" in measured, measured
    assert measured.count("attached") == 3, measured
    assert "2.0" in page.top.one("dl", class_="cards").text()


def ended(address, path, end):
    """A long report that ends after end(process): its exit status, and what it said."""
    process = subprocess.Popen([os.path.join(BIN, "ezprof"), "report", "-o", path, "--duration",
                                "600", "--interval", "0.4", "--address", address],
                               stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(1.5)
        assert not os.path.exists(path)
        end(process)
        _, said = process.communicate(timeout=40)
        return process.returncode, said
    finally:
        process.kill()
        process.wait()


def interrupted(address, path, _):
    """The page is about what was seen until then."""
    status, said = ended(address, path, lambda process: process.send_signal(signal.SIGINT))
    assert status == 0, (status, said)
    assert documents(read(path))[0] >= 2


def left_alone(address, path, programs):
    """Nobody tells any more: what was seen is kept, and it is partial."""
    def end(_):
        for program in programs:
            program.stop()
    status, said = ended(address, path, end)
    assert status == 5 and len(said.splitlines()) >= 2, (status, said)
    assert {row[0].text() for row in read(path).rows("subscribers")} == {"quick", "slow"}


def main():
    require("bpf")
    with tempfile.TemporaryDirectory() as folder, Graph() as g:
        slow = g.node("sink", "B", "--work-ms", 10, "--handle", "slow")
        quick = g.node("relay", "A", "B", "--work-ms", 0.5, "--handle", "quick")
        source = g.node("source", "A", "--rate", 300, "--wait-channels", 2)
        with Agent(slow.pid, quick.pid, source.pid) as agent:
            time.sleep(2.0)
            for story, argument in ((whole, slow), (interrupted, None), (left_alone, (g.server, agent))):
                path = os.path.join(folder, story.__name__ + ".html")
                story(g.address, path, argument)
                print(f"{story.__name__}: ok", flush=True)
        assert sorted(os.listdir(folder)) == ["interrupted.html", "left_alone.html", "whole.html"]


main()
