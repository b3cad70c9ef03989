# SPDX-License-Identifier: MIT
"""`ezprof top --once`: golden texts of each view, lines that fit, names of any kind, the right order.

EZPROF_UPDATE_GOLDEN=1 writes the golden texts anew.
"""
import copy
import json
import os
import re
import subprocess
import tempfile
import unittest

from made_profile import Made
from vt_screen import columns_of

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "why_chain.json")
VIEWS = ("edges", "publishers", "subscribers", "processes")
LONG = "SYS/" + "x" * 4000
NAMES = ("plain", '"quoted", comma', "line\nbreak", "tab\tbell\a", "Grüße/日本語", "escape\x1b[2J\x1b]0;x\a",
         "c1\x9b31m", "over\u202eride", "zero\u200bwidth", "com\u0301bining", LONG + "a" + "z" * 60,
         LONG + "b" + "z" * 60, "%s%n", "")


def top(text, *options, columns=None, status=(0, 5), locale="C.UTF-8", wide=False):
    env = {**os.environ, "TZ": "UTC", "LC_ALL": locale}
    env.pop("COLUMNS", None)
    if columns:
        env["COLUMNS"] = str(columns)
    done = subprocess.run([EZPROF, "top", "--once", "--from", "-", *options, *(["--wide"] * wide)],
                          input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=30)
    assert done.returncode in status, (done.returncode, done.stderr)
    return done.stdout.decode()


def recorded():
    with open(RECORDED, encoding="utf-8") as file:
        return json.load(file)


def rows(text):
    """The table's rows: behind the second line of its heading, up to an empty line."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if re.search(r"\bstate$", line)) + 1
    end = next((i for i in range(begin, len(lines)) if not lines[i]), len(lines))
    return lines[begin:end]


def stream():
    """A graph with one of each kind of trouble, over three documents."""
    made = Made()
    source = made.publisher("SRC/OUT", 10, 100.0, 0.9, in_flight=32, buffers=32)
    made.subscriber(source, "slow", 11, 20.0, 600.0, in_flight=32, task="SINK:work")
    made.subscriber(source, "fast", 12, 0.2, mode="tcp", host="far")
    source["links"][0]["in_flight"] = 32
    quiet = made.publisher("QUIET", 13, 0.0)
    warming = made.subscriber(quiet, "new", 14, rate=0.0, warming_up=True)
    warming["processing"] = None
    made.publisher("ALONE", 13, 5.0, in_flight=None)
    made.document["agents"][0].update(
        attached=[{"pid": p, "comm": f"node-{p}", "start_time": 1, "state": "attached",
                   "exited_ns": None} for p in (10, 11, 13)] +
                 [{"pid": 15, "comm": "gone", "start_time": 1, "state": "exited",
                   "exited_ns": 10**12 - 10**9}],
        cost={"hits": 10, "hits_per_s": 5000.0, "ns_per_hit": 200.0, "agent_cpu_share": 0.01,
              "probes_cpu_share": 0.001, "map_bytes": 4096})
    made.document["errors"] = [{"who": "process", "pid": 16, "reason": "timeout", "detail": "mute",
                                "topic": None, "id": None, "host": "here"}]
    made.document["lost"] = 3
    documents = []
    for step, factor in enumerate((0.5, 0.1, 1.0)):
        document = copy.deepcopy(made.document)
        document["time_ns"] += step * 10**9
        document["time_unix_s"] += step
        document["publishers"][0]["message_rate_hz"] = 100.0 * factor
        documents.append(document)
    return "\n".join(map(json.dumps, documents))


def named():
    made = Made()
    for number, name in enumerate(NAMES):
        publisher = made.publisher(name, 1000 + number, 10.0 + number)
        made.subscriber(publisher, name, 2000 + number, 1.5, topic=name)
    return json.dumps(made.document)


def columns(line):
    return sum(columns_of(char) for char in line)


class Golden(unittest.TestCase):
    def compare(self, name, text):
        path = os.path.join(HERE, "golden", name)
        if os.environ.get("EZPROF_UPDATE_GOLDEN"):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        with open(path, encoding="utf-8", newline="") as file:
            self.assertEqual(text, file.read(), path)

    def test_views(self):
        for kind, text in (("chain", json.dumps(recorded())), ("trouble", stream())):
            whole = "".join(top(text, "--view", view, columns=80) for view in VIEWS)
            self.compare(f"{kind}.top", whole)

    def test_wide_and_ascii(self):
        self.compare("trouble-wide.top", top(stream(), wide=True, columns=80))
        ascii_only = top(stream(), locale="C")
        self.compare("trouble-ascii.top", ascii_only)
        self.assertTrue(ascii_only.isascii())

    def test_names(self):
        self.compare("names.top", top(named(), columns=100))


class Content(unittest.TestCase):
    def test_same_figures_as_the_table(self):
        document = recorded()
        for view, topic, wanted in (
                ("publishers", "B", ["29280", "49.4", "5187", "32/32", "97%", "20.1", "20.4", "waits"]),
                ("subscribers", "sink on B", ["29277", "49.4", "32/32", "626", "20.1", "20.1", "100%"])):
            [row] = [line for line in rows(top(json.dumps(document), "--view", view))
                     if line[3:].startswith(topic + " ")]
            for figure in wanted:
                self.assertIn(figure, row.split())

    def test_totals(self):
        line = top(stream(), wide=True).splitlines()[1]
        for part in ("105 msg/s", "! lost 3", "! 1 silent", "6 processes", "3 publishers", "3 subscribers",
                     "cost 1.1 % of a CPU", "200 ns/event", "5000 events/s"):
            self.assertIn(part, line)

    def test_states(self):
        text = top(stream(), wide=True)
        self.assertRegex(text, r"(?m)^ ! SRC/OUT +SINK:work .* slow$")
        self.assertRegex(text, r"(?m)^ - SRC/OUT +fast .* waits$")
        self.assertRegex(text, r"(?m)^ ~ QUIET +new .* warming$")
        self.assertRegex(text, r"(?m)^   ALONE +\(nobody\) ")
        processes = top(stream(), "--view", "processes")
        self.assertRegex(processes, r"(?m)^ ~ gone .* ended$")
        self.assertRegex(processes, r"(?m)^ ! +16 .* silent$")
        self.assertIn("SRC/OUT waits for SINK:work (pid 11)", text)

    def test_same_pid_on_two_hosts(self):
        made = Made()
        made.publisher("A", 100, 1.0)
        made.publisher("B", 100, 1.0)["host"] = "far"
        made.document["errors"] = [{"who": "process", "pid": 100, "reason": "timeout", "detail": "",
                                    "topic": None, "id": None, "host": "far"}]
        found = [line for line in rows(top(json.dumps(made.document), "--view", "processes", wide=True))
                 if " 100 " in line]
        self.assertEqual(["silent" in line for line in found], ["far" in line for line in found], found)
        self.assertEqual(sorted("far" in line for line in found), [False, True], found)

    def test_rates_by_totals(self):
        """Nobody measures: from the second document on, totals tell how fast it goes."""
        made = Made()
        publisher = made.publisher("A", 1, 0.0, source="process")
        made.subscriber(publisher, "s", 2, rate=0.0, source="process")
        made.document["agents"] = []
        documents = []
        for step in range(3):
            document = copy.deepcopy(made.document)
            document["time_ns"] += step * 10**9 // 2
            document["publishers"][0]["messages"]["total"] = 1000 + 25 * step
            document["publishers"][0]["bytes"]["total"] = 10**6 * step
            document["channels"][0]["subscribers"][0]["messages"]["total"] = 900 + 7 * step
            documents.append(json.dumps(document) + "\n")
        once = top(documents[0], "--view", "publishers", wide=True)
        self.assertRegex(once, r"(?m)^ ~ A +1 +here +- .* unseen$")
        text = top("".join(documents), "--view", "publishers", wide=True)
        self.assertRegex(text, r"(?m)^ ~ A +1 +here +50\.0 .* 2\.0M .* unseen$")
        self.assertIn("50.0 msg/s  2.00 MB/s", text)
        self.assertIn("Nobody measures", text)
        self.assertRegex(top("".join(documents)), r"(?m)^ ~ A +s +2 shm +14\.0 .* unseen$")

    def test_order(self):
        def order(*options):
            return [line[3:].split()[0] for line in rows(top(stream(), "--view", "publishers", *options))]
        self.assertEqual(order("--sort", "rate_hz"), ["SRC/OUT", "ALONE", "QUIET"])
        self.assertEqual(order("--sort", "-rate_hz"), ["QUIET", "ALONE", "SRC/OUT"])
        self.assertEqual(order("--sort", "publisher"), ["ALONE", "QUIET", "SRC/OUT"])
        self.assertEqual(order("--sort", "-publisher"), ["SRC/OUT", "QUIET", "ALONE"])
        # What isn't known comes last in both directions.
        self.assertEqual(order("--sort", "in_flight")[-1], order("--sort", "-in_flight")[-1])

    def test_filter(self):
        for text, count in (("src", 2), ("FAR", 1), ("warming", 1), ("14", 1), ("nowhere", 0)):
            output = top(stream(), "--filter", text)
            self.assertIn(f"/{text}: {count} of 4 ", output.splitlines()[0])
            self.assertEqual(len([r for r in rows(output) if "nothing has that" not in r]), count)

    def test_fits(self):
        for text in (stream(), named()):
            for view in VIEWS:
                for width in (1, 2, 9, 20, 33, 40, 60, 79, 80, 81, 100, 132, 200, 400):
                    for line in top(text, "--view", view, columns=width).splitlines():
                        self.assertLessEqual(columns(line), width, (view, width, line))

    def test_names_do_no_harm(self):
        for width in (20, 80, 200):
            output = top(named(), columns=width)
            self.assertFalse([c for c in output if (ord(c) < 32 and c != "\n") or c in "\x7f\x9b\u202e\u200b"])
        self.assertIn("Grüße/日本語", output)
        wide = top(named(), wide=True, columns=80)
        self.assertIn(LONG + "a", wide)
        twins = {line.split()[0] for line in rows(top(named(), columns=80)) if "SYS/" in line}
        self.assertEqual(len(twins), 2)

    def test_tiny_documents(self):
        empty = {"window_s": 2.0, "publishers": [], "channels": []}
        for view in VIEWS:
            self.assertIn("there" if view != "processes" else "known",
                          top(json.dumps(empty), "--view", view, status=(4,)))
        hostile = Made()
        publisher = hostile.publisher("A", 1, buffers=2**64 - 1, in_flight=2**63)
        hostile.subscriber(publisher, "s", 2**62, 1e300, in_flight=2**64 - 1, rate=1e300)
        publisher.update(message_rate_hz=1e308, byte_rate_per_s=1e308)
        hostile.document["time_unix_s"] = 1e300
        for view in VIEWS:
            for width in (20, 80):
                for line in top(json.dumps(hostile.document), "--view", view, columns=width).splitlines():
                    self.assertLessEqual(columns(line), width, line)


class Usage(unittest.TestCase):
    def run_top(self, *options, **keywords):
        return subprocess.run([EZPROF, "top", *options], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, **keywords)

    def test_usage(self):
        for options in (("--view", "x"), ("--view", "5"), ("--sort", "x"), ("--color", "red"), ("more",),
                        ("--interval", "0"), ("--interval", "0.01"), ("--window", "17"), ("--sort", "gap_p50_ms"),
                        ("--filter", "x" * 300)):
            done = self.run_top(*options, "--once", "--from", RECORDED)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), options)
        self.assertIn("publisher", self.run_top("--sort", "x").stderr)

    def test_no_terminal(self):
        done = self.run_top("--from", RECORDED)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--once", done.stderr)

    def test_files(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(json.dumps(recorded()) + "\n{")
            file.flush()
            for path in (file.name, "/nonexistent", os.devnull):
                done = self.run_top("--once", "--from", path)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), path)

    def test_full_disk_and_closed_pipe(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([EZPROF, "top", "--once", "--from", RECORDED], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("No space left", done.stderr)
        program = subprocess.Popen([EZPROF, "top", "--once", "--from", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program.stdout.close()
        program.stdin.write(json.dumps(recorded()).encode())
        program.stdin.close()
        self.assertEqual((program.wait(30), program.stderr.read()), (0, b""))
        program.stderr.close()


unittest.main()
