# SPDX-License-Identifier: MIT
"""scripts/demo.sh does what the README says: a document with every transport in it, the sentence, nothing left."""
import json
import os
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
    """(document, stderr, seconds), with the demo's own check of what it leaves."""
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "scripts/demo.sh")
    begin = time.monotonic()
    result = subprocess.run([script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)
    sys.stderr.write(result.stderr)
    assert result.returncode == 0, f"exit status {result.returncode}"
    return json.loads(result.stdout), result.stderr, time.monotonic() - begin


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


def main():
    require("bpf")
    before = listing(SHM)
    document, said, seconds = run_demo()
    check_document(document)
    answer = " ".join(said.partition("demo: ezprof why\n")[2].split())
    assert answer.startswith("1. samples waits for worker-slow on samples (pid "), answer
    assert "It is slow itself: " in answer, answer
    assert said.splitlines()[-1].startswith("demo: stopped"), said
    left = {name for name in listing(SHM) - before if name.startswith("psm_")}
    print(f"{seconds:.1f} s; new in /dev/shm since: {sorted(left)}")
    assert seconds < LIMIT_S, seconds
    return 0


sys.exit(main())
