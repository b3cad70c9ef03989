# SPDX-License-Identifier: MIT
"""Names of all kinds in a running graph: through the C runtime, the server, the agent and recordings
into every command's output."""
import csv
import io
import json
import os
import re
import subprocess
import tempfile
import time

from agent import Agent, checked, command, messages_of, profile, subscribers
from graph import Graph, wait_until
from hostile_names import LONG, faults, undone
from recording import Recorder, Recording
from require import require

# As topics; the handles are the same with "h" before.
NAMES = ('"quoted", comma', "back\\slash", "line\nbreak", "\x1b]0;title\x07", "\u009b31mred", "plain",
         "plain ", "Gr\u00fc\u00dfe/\u65e5\u672c", "Gru\u0308\u00dfe/\u65e5\u672c",
         "\u05e9\u05dc\u05d5\u05dd\u202e/\U0001f600", "</script>&lt;", LONG + "a", LONG + "b",
         "SYS/" + "y" * 2000 + "a" + "y" * 2000, "SYS/" + "y" * 2000 + "b" + "y" * 2000)
# No UTF-8: as handles, of which nobody asks that they are.
BROKEN = (b"br\xffken\xc3", b"br\xfeken\xc3", b"cut \xe2\x82")
VENV = os.environ.get("EZPROF_PERFETTO_VENV", "")


def handle(name):
    return "h" + name


def repaired(name):
    """Each byte that is no UTF-8 is U+FFFD, x and its digits."""
    return re.sub("[\udc80-\udcff]", lambda m: f"\ufffdx{ord(m[0]) - 0xdc00:02x}", os.fsdecode(name))


def visible(name):
    """The same as people see it."""
    return re.sub("[\udc80-\udcff]", lambda m: f"\\x{ord(m[0]) - 0xdc00:02x}", os.fsdecode(name))


def clean(text):
    assert faults(text) == [], faults(text)[:5]
    return text


def said(*words, status=(0,)):
    done = command("ezprof", *words)
    assert done.returncode in status, (words, done.returncode, done.stderr)
    clean(done.stderr)
    return done.stdout


def by_documents(address):
    document = profile(address, 1.0)
    assert {p["topic"] for p in document["publishers"]} == set(NAMES), document
    found = subscribers(document)
    wanted = {handle(n) for n in NAMES} | {repaired(b) for b in BROKEN}
    assert set(found) == wanted, set(found) ^ wanted
    for name in NAMES:
        assert found[handle(name)]["topic"] == name, found[handle(name)]
        assert found[handle(name)]["message_rate_hz"] > 1, found[handle(name)]
    clean(said("profile", "--address", address))
    rows = csv.DictReader(io.StringIO(said("profile", "--address", address, "--format", "csv"), newline=""))
    assert {r["topic"] for r in rows if r["scope"] == "publisher"} == set(NAMES)
    lines = [json.loads(x) for x in said("profile", "--address", address, "--format", "jsonl").splitlines()]
    assert {x["topic"] for x in lines if x["type"] == "publisher"} == set(NAMES)
    wide = clean(said("profile", "--address", address, "--format", "table", "--wide")).split("\n\n")[1]
    rows = [row.rsplit(None, 8)[0] for row in wide.splitlines()[2:]]
    assert {undone(row.rstrip()) for row in rows} == set(NAMES), rows


def by_views(address):
    clean(said("why", "--address", address, "--window", "0.5"))
    findings = json.loads(said("why", "--json", "--address", address, "--window", "0.5"))["findings"]
    assert findings and not any(faults(f["sentence"]) for f in findings)
    drawn = json.loads(said("graph", "--live", "--format", "json", "--address", address))
    edges = {(e["from"], e["to"]) for e in drawn["edges"]}
    assert {(n, handle(n)) for n in NAMES} <= edges, edges
    text = clean(said("graph", "--live", "--address", address))
    shown = [line.split(" -> ") for line in text.splitlines() if " -> " in line]
    assert {(undone(a), undone(b.split(" [")[0])) for a, b in shown} >= {(n, handle(n)) for n in NAMES}
    assert {b.split(" [")[0] for _, b in shown} >= set(map(visible, BROKEN)), text
    for form in ("dot", "mermaid"):
        clean(said("graph", "--live", "--format", form, "--address", address).replace("\t", ""))


def by_export(address, folder):
    """As node_exporter takes it; the labels by the rules of the text format."""
    path = os.path.join(folder, "a.prom")
    said("export", "--address", address, "--textfile", path)
    with open(path, encoding="utf-8") as file:
        labels = re.findall(r'^ezprof_publisher_rate_per_second\{topic="((?:[^"\\\n]|\\.)*)"', file.read(),
                            re.MULTILINE)
    assert {re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], x) for x in labels} == set(NAMES), labels


def by_ps():
    clean(said("ps", "--endpoints"))
    processes = json.loads(said("ps", "--json"))["processes"]
    endpoints = [e for p in processes for e in p.get("endpoints", ())]
    assert set(NAMES) <= {e["topic"] for e in endpoints if e["kind"] == "publisher"}
    assert {handle(n) for n in NAMES} <= {e["handle"] for e in endpoints if e["kind"] == "subscriber"}
    clean(said("doctor", status=(0, 3)))


def decoded(path):
    script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "support", "pftrace.py")
    return json.loads(subprocess.run([os.path.join(VENV, "bin", "python"), script, path], check=True,
                                     stdout=subprocess.PIPE, text=True, timeout=60).stdout)


def by_recordings(address, folder):
    one, other = os.path.join(folder, "a.pftrace"), os.path.join(folder, "a.json")
    with Recorder("--address", address, "-o", one) as first, \
            Recorder("--address", address, "-o", other, "--summary") as second:
        time.sleep(1.0)
        status, _ = first.end()
        assert status == 0, first.stderr()
        status, summary = second.end()
        assert status == 0, second.stderr()
    clean(summary)
    paths = [line.split(" -> ") for line in summary.splitlines() if " -> " in line]
    assert {undone(a.split(" (")[0]) for a, _ in paths} == set(NAMES), summary
    tracks = Recording(other).tracks.values()
    assert {t["name"] for t in tracks if t["track"] == "publish"} == set(NAMES), tracks
    assert {handle(n) for n in NAMES} <= {t["name"] for t in tracks if t["track"] == "process"}
    if os.path.exists(os.path.join(VENV, "bin", "python")):
        named = {t["name"] for t in decoded(one)["tracks"].values()}
        assert {f"{n} (publisher of {n})" for n in NAMES} <= named, named
        assert {f"{handle(n)} (subscriber of {n})" for n in NAMES} <= named, named
        print(".pftrace decoded", flush=True)


def main():
    require("bpf")
    with Graph() as graph, tempfile.TemporaryDirectory() as folder:
        nodes = [graph.node("sink", name, "--handle", handle(name)) for name in NAMES]
        nodes += [graph.node("sink", "plain", "--handle", os.fsdecode(name)) for name in BROKEN]
        nodes += [graph.node("source", name, "--rate", 50, "--wait-channels", 1) for name in NAMES]
        pids = [node.pid for node in nodes]
        with Agent(*pids) as agent:
            clean(messages_of(agent))
            wait_until(lambda: all(s["measured"]["messages"] > 20
                                   for s in subscribers(profile(graph.address)).values()), 60, "messages")
            by_documents(graph.address)
            by_views(graph.address)
            by_ps()
            by_export(graph.address, folder)
            by_recordings(graph.address, folder)
        once = command("ezprof-bpf", "attach", "--once", "--window", 0.3, *pids)
        assert once.returncode == 0, once.stderr
        clean(once.stdout)
        assert {p["topic"] for p in checked(once.stdout)["publishers"]} == set(NAMES)
    print(f"{len(NAMES)} topics and {len(BROKEN)} handles that are no UTF-8: ok")


main()
