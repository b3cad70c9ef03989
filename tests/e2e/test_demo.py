# SPDX-License-Identifier: MIT
"""scripts/demo.sh does what README.md and docs/using.md say: a document with every transport in it, the sentences, nothing
left."""
import json
import os
import re
import subprocess
import sys
import time

from profile_schema import check
from require import require

LIMIT_S = 30  # once built
SHM, RUN = "/dev/shm", "/run/ezprof"


def listing(folder):
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def run_demo():
    """(stdout, stderr, seconds), with the demo's own check of what it leaves."""
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "scripts/demo.sh")
    begin = time.monotonic()
    result = subprocess.run([script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)
    sys.stderr.write(result.stderr)
    assert result.returncode == 0, f"exit status {result.returncode}"
    return result.stdout, result.stderr, time.monotonic() - begin


def check_document(document):
    faults = list(check(document, ours=True))
    assert not faults, faults
    assert not document["errors"], document["errors"]
    assert document["lost"] == 0, document["lost"]
    publishers = {publisher["topic"]: publisher for publisher in document["publishers"]}
    assert set(publishers) == {"samples", "features/fast", "features/slow"}, sorted(publishers)
    channels = document["channels"]
    modes = {channel["mode"] for channel in channels if channel["subscribers"]}
    assert modes == {"local", "shm", "tcp"}, channels
    assert len({entry["pid"] for entry in [*document["publishers"], *channels]}) == 4
    for entry in [*publishers.values(), *(sub for channel in channels for sub in channel["subscribers"])]:
        assert entry["source"] == "bpf" and entry["measured"]["messages"] > 0, entry
    subscribers = {sub["handle"]: sub for channel in channels for sub in channel["subscribers"]}
    slow, fast = subscribers["worker-slow"], subscribers["worker-fast"]
    assert slow["processing"]["avg_ms"] >= 5, slow
    assert fast["processing"]["avg_ms"] < slow["processing"]["avg_ms"], fast


def quoted(name, pattern):
    """What a document shows of the demo."""
    with open(os.path.join(os.environ["EZPROF_SOURCE_DIR"], name), encoding="utf-8") as file:
        found = re.search(pattern, file.read(), re.DOTALL)
    assert found, f"{name} doesn't quote the demo any more"
    return found.groups()


def word(text):
    """Any figure for a figure, any folder for a folder, and a time in whatever unit it was."""
    if text.startswith('"'):
        return re.escape(text)
    if text.strip("(),.:;") in ("ms", "s", "\u00b5s"):
        return re.sub("(ms|s|\u00b5s)", lambda m: "(?:ms|s|\u00b5s)", re.escape(text), count=1)
    if text in ("features/fast", "features/slow"):
        return "features/(?:fast|slow)"  # which one is first is chance
    folder, slash, text = text.rpartition("/") if text.startswith("/usr/") else ("", "", text)
    text = re.sub(r"(\d[\d.]*\d|\d)", "0", re.escape(text).replace("\\.", "."))
    return ("/[^ ]*/" if folder + slash else "") + text.replace(".", r"\.").replace("0", r"\d[\d.]*")


def in_order(name, parts, text):
    """Each part stands behind the one before; anything may be in between."""
    at = 0
    for part in parts:
        found = re.compile(r"\s+".join(word(w) for w in part.split())).search(text, at)
        assert found, f"{name} has:\n{part}\nbehind which there is here:\n{text[at:]}"
        at = found.end()


def lines_of(text):
    """A sentence may go over several lines; on a busy machine there may be more of them in between."""
    return [line for line in re.sub(r"\n {4}", " ", text).splitlines() if line != "..."]


def check_documents(said, shown):
    """What README.md and docs/using.md show are today's lines, but for the figures."""
    why, = quoted("README.md", r"What it finds:\n\n```\n(.*?)```\n")
    in_order("README.md", lines_of(why), said.partition("demo: ezprof why\n")[2])
    text, lines, some = quoted("docs/using.md", r"## What the demo says\n.*?```\n(.*?)```\n.*?of the (\d+) lines of JSON"
                                                r".*?\n\n```\n(.*?)```\n")
    in_order("docs/using.md", lines_of(text), said)
    in_order("docs/using.md", re.split(r"\s+\.\.\.\s+", some), shown)
    now = len(shown.splitlines())
    assert abs(now - int(lines)) <= 20, f"docs/using.md says {lines} lines, there are {now}"


def refused():
    """Root of a container that may not load programs: why, at once, and nothing goes on."""
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "scripts/demo.sh")
    result = subprocess.run(["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin", script], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=LIMIT_S)
    assert result.returncode == 77 and not result.stdout, result
    assert "demo: agent has ended; what it said:\n" in result.stderr and "CAP_BPF" in result.stderr, result.stderr
    for pid in re.search(r"attach ([\d ]+)\n", result.stderr)[1].split():
        assert not os.path.exists(f"/proc/{pid}"), pid


def main():
    require("bpf")
    refused()
    before = listing(SHM)
    shown, said, seconds = run_demo()
    check_document(json.loads(shown))
    check_documents(said, shown)
    answer = " ".join(said.partition("demo: ezprof why\n")[2].split())
    assert answer.startswith("1. samples waits for worker-slow on samples (pid "), answer
    assert "It is slow itself: " in answer, answer
    assert said.splitlines()[-1].startswith("demo: stopped"), said
    left = {name for name in listing(SHM) - before if name.startswith("psm_")}
    print(f"{seconds:.1f} s; new in /dev/shm since: {sorted(left)}")
    assert seconds < LIMIT_S, seconds
    return 0


sys.exit(main())
