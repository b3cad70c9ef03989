# SPDX-License-Identifier: MIT
"""scripts/demo.sh does what the README says: a document with every transport in it, the sentence, nothing left."""
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


def quoted(readme):
    """What the README shows of the demo: (on stderr, how many lines are on stdout, some of those)."""
    with open(os.path.join(os.environ["EZPROF_SOURCE_DIR"], readme), encoding="utf-8") as file:
        found = re.search(r"What the first one says, on stderr:\n\n```\n(.*?)```\n.*?of the (\d+) lines of JSON"
                          r".*?\n\n```\n(.*?)```\n", file.read(), re.DOTALL)
    assert found, "the README doesn't quote the demo any more"
    return found[1], int(found[2]), found[3]


def word(text):
    """Any figure for a figure, any folder for a folder, and a time in whatever unit it was."""
    if text.startswith('"'):
        return re.escape(text)
    if text.strip("(),.:;") in ("ms", "s", "\u00b5s"):
        return re.sub("(ms|s|\u00b5s)", lambda m: "(?:ms|s|\u00b5s)", re.escape(text), count=1)
    if text in ("features/fast", "features/slow"):
        return "features/(?:fast|slow)"  # which one is first is chance
    text = re.sub(r"(\d[\d.]*\d|\d)", "0", re.escape(text).replace("\\.", "."))
    text = text.replace("/root/ezprof/build", "/[^ ]*/build[^/ ]*").replace(".", r"\.")
    return text.replace("0", r"\d[\d.]*")


def in_order(parts, text):
    """Each part stands behind the one before; anything may be in between."""
    at = 0
    for part in parts:
        found = re.compile(r"\s+".join(word(w) for w in part.split())).search(text, at)
        assert found, f"the README has:\n{part}\nbehind which there is here:\n{text[at:]}"
        at = found.end()


def check_readme(said, shown):
    """The README's lines are today's, but for the figures."""
    text, lines, some = quoted("README.md")
    # A sentence may go over several lines; on a busy machine there may be more of them in between.
    in_order([p for p in re.sub(r"\n {4}", " ", text).splitlines() if p != "..."], said)
    in_order(re.split(r"\s+\.\.\.\s+", some), shown)
    now = len(shown.splitlines())
    assert abs(now - lines) <= 20, f"the README says {lines} lines, there are {now}"


def main():
    require("bpf")
    before = listing(SHM)
    shown, said, seconds = run_demo()
    check_document(json.loads(shown))
    check_readme(said, shown)
    answer = " ".join(said.partition("demo: ezprof why\n")[2].split())
    assert answer.startswith("1. samples waits for worker-slow on samples (pid "), answer
    assert "It is slow itself: " in answer, answer
    assert said.splitlines()[-1].startswith("demo: stopped"), said
    left = {name for name in listing(SHM) - before if name.startswith("psm_")}
    print(f"{seconds:.1f} s; new in /dev/shm since: {sorted(left)}")
    assert seconds < LIMIT_S, seconds
    return 0


sys.exit(main())
