# SPDX-License-Identifier: MIT
"""Names of all kinds in every format: programs get them back, for people they differ and do nothing.

What programs read is read by parsers of others, where this machine has them.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from graph_client import Server
from hostile_names import LONG, NAMES, faults, undone
from made_profile import Made
from official_parser import by_prometheus

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
HERE = os.path.dirname(os.path.abspath(__file__))
# What stands in sentences is shortened to this many columns.
SHORT = 120


def run(*words, text=None, status=0, columns=None):
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    if columns:
        env["COLUMNS"] = str(columns)
    done = subprocess.run([EZPROF, *words], input=None if text is None else text.encode(), timeout=30,
                          stdin=subprocess.DEVNULL if text is None else None, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, (words, done.returncode, done.stderr[-500:])
    return done.stdout.decode()


def document():
    """Each name is a publisher's topic, a subscriber's handle and a task, with figures of its own."""
    made = Made()
    for number, name in enumerate(NAMES):
        publisher = made.publisher(name, 1000 + number, 10.0 + number, blocked=0.9, in_flight=32)
        made.subscriber(publisher, name, 2000 + number, 990 / (10.0 + number), in_flight=32)
        made.task(name, 2000 + number, calls=7 + number)
    return made.document


DOCUMENT = document()
TEXT = json.dumps(DOCUMENT)
RATES = {name: 10.0 + number for number, name in enumerate(NAMES)}


class Case(unittest.TestCase):
    maxDiff = 2000

    def clean(self, text):
        self.assertEqual(faults(text), [])

    def distinct(self, shown):
        """One for each name, and all different."""
        self.assertEqual(len(shown), len(NAMES))
        self.assertEqual(len(set(shown)), len(NAMES))


class Profile(Case):
    def test_json(self):
        shown = run("profile", "--from", "-", text=TEXT)
        self.clean(shown)
        self.assertEqual(json.loads(shown), DOCUMENT)

    def test_jsonl(self):
        shown = run("profile", "--from", "-", "--format", "jsonl", text=TEXT)
        self.clean(shown)
        lines = [json.loads(line) for line in shown.splitlines()]
        self.assertEqual({x["topic"]: x["message_rate_hz"] for x in lines if x["type"] == "publisher"},
                         RATES)
        self.assertEqual([x["handle"] for x in lines if x["type"] == "subscriber"], list(NAMES))

    def test_csv(self):
        shown = run("profile", "--from", "-", "--format", "csv", text=TEXT)
        rows = list(csv.DictReader(io.StringIO(shown, newline=""), strict=True))
        self.assertEqual({r["topic"]: float(r["rate_hz"]) for r in rows if r["scope"] == "publisher"},
                         RATES)
        self.assertEqual([r["handle"] for r in rows if r["scope"] == "subscriber"], list(NAMES))
        self.assertEqual([r["task"] for r in rows if r["scope"] == "task"], list(NAMES))

    def test_openmetrics(self):
        shown = run("profile", "--from", "-", "--format", "openmetrics", text=TEXT)
        samples = by_prometheus(shown)
        if samples is None:
            self.skipTest("no package python3-prometheus-client")
        rates = samples["ezprof_publisher_rate_per_second"]
        self.assertEqual({labels["topic"]: value for labels, value in rates}, RATES)
        self.assertEqual([labels["task"] for labels, _ in samples["ezprof_task_calls"]], list(NAMES))

    def test_table(self):
        for columns in (None, 20, 80, 200):
            shown = run("profile", "--from", "-", "--format", "table", text=TEXT, columns=columns)
            self.clean(shown)
            for first in "12":
                rows = [line for line in shown.splitlines() if re.search(rf" {first}\d\d\d ", line)]
                names = [re.split(rf" +{first}\d\d\d ", row)[0] for row in rows]
                if columns == 20:
                    kind = {"1": "publisher", "2": "subscriber"}[first]
                    names = re.findall(rf"^{kind} (.*)\n(?:of .*\n)?pid {first}\d\d\d$", shown, re.MULTILINE)
                self.distinct(names[:len(NAMES)])
        shown = run("profile", "--from", "-", "--format", "table", "--wide", text=TEXT)
        rows = [line for line in shown.splitlines()[1:] if re.search(r" 1\d\d\d ", line)]
        self.assertEqual([undone(re.split(r" +1\d\d\d ", row)[0]) for row in rows], list(NAMES))


class Top(Case):
    def test_once(self):
        for columns in (20, 40, 80, 200):
            for view in ("publishers", "subscribers", "edges", "processes"):
                shown = run("top", "--once", "--from", "-", "--view", view, text=TEXT, columns=columns)
                self.clean(shown)
                if view != "publishers":
                    continue
                rows = [line for line in shown.splitlines() if re.match(r" - .*waits$", line)]
                # The figures are no help: names differ.
                self.distinct([re.split(r"  +[\d<]", row)[0] for row in rows])

    def test_wide(self):
        shown = run("top", "--once", "--from", "-", "--view", "publishers", "--wide", text=TEXT)
        rows = [line for line in shown.splitlines() if re.match(r" - .*waits$", line)]
        names = [undone(re.split(r" +1\d\d\d ", row.removeprefix(" - "))[0]) for row in rows]
        self.assertEqual(sorted(names), sorted(NAMES))


class Sentences(Case):
    def test_why(self):
        for columns in (None, 20, 80):
            self.clean(run("why", "-", text=TEXT, columns=columns))
        shown = run("why", "-", text=TEXT)
        self.assertLess(max(map(len, shown.splitlines())), 6 * SHORT)
        findings = json.loads(run("why", "--json", "-", text=TEXT))["findings"]
        slow = [f for f in findings if f["kind"] == "slow_subscriber"]
        self.assertEqual({f["subject"]["handle"] for f in slow}, set(NAMES))
        self.distinct([f["sentence"].split(" waits for ")[0] for f in slow])
        for finding in findings:
            self.clean(finding["sentence"])

    def test_check(self):
        shown = run("check", "--fail-if", "pub.rate_hz > 1", "-", text=TEXT, status=3)
        self.clean(shown)
        for number, name in enumerate(NAMES):
            if not name.isalnum():
                continue
            rule = f"pub.rate_hz{{topic={name}}} > 1"
            shown = run("check", "--fail-if", rule, "-", text=TEXT, status=3)
            self.assertIn(f": {10 + number}, ", shown)
        broken = json.loads(run("check", "--json", "--fail-if", "pub.rate_hz > 1", "-", text=TEXT, status=3))
        self.clean(json.dumps(broken, ensure_ascii=False))

    def test_diff(self):
        made = document()
        for publisher in made["publishers"]:
            publisher["message_rate_hz"] *= 2
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(made, file)
            file.flush()
            shown = run("diff", "-", file.name, text=TEXT)
            self.clean(shown)
            self.distinct([line.split("  ")[-1] for line in shown.splitlines() if "pub.rate_hz" in line])
            changes = json.loads(run("diff", "--json", "-", file.name, text=TEXT))["changes"]
        rates = [c for c in changes if c["metric"] == "pub.rate_hz"]
        self.assertEqual({c["of"]["topic"]: c["before"]["median"] for c in rates}, RATES)
        for change in rates:
            self.assertEqual(change["after"]["median"], 2 * change["before"]["median"])


def dot_labels(text):
    """{node: label} as Graphviz itself draws it."""
    drawn = json.loads(subprocess.run(["dot", "-Tjson"], input=text.encode(), check=True, timeout=50,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout)
    return {thing["name"]: "".join(part["text"] for part in thing["_ldraw_"] if part["op"] == "T")
            for thing in drawn["objects"]}


def dot_edges(text):
    return re.findall(r"^\t(n\d+) -> (n\d+)", text, re.MULTILINE)


def mermaid_parts(text):
    """({node: label}, edges), by Mermaid's rules for quoted text: a number is a character."""
    assert text.startswith("flowchart LR\n")
    labels, edges = {}, []
    for line in text.splitlines()[1:]:
        node = re.fullmatch(r'    (n\d+)\["([^"]*)"\]', line)
        edge = re.fullmatch(r"    (n\d+) --> (n\d+)", line)
        assert node or edge, line
        if edge:
            edges.append(edge.groups())
            continue
        assert not re.search(r'[<>`\\{}\[\]]|&|;(?<!#\d\d;)(?<!#\d\d\d;)', node[2]), line
        labels[node[1]] = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), node[2])
    return labels, edges


class Drawing(Case):
    """What a server tells: an edge from each name to the next one."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        for source, target in zip(NAMES, NAMES[1:]):
            assert cls.server.connect(source, target) == 0, (source, target)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None)

    def graph(self, *words):
        return run("graph", "--address", self.server.address, *words)

    def test_json(self):
        shown = self.graph("--format", "json")
        self.clean(shown)
        drawn = json.loads(shown)
        self.assertEqual({(e["from"], e["to"]) for e in drawn["edges"]}, set(zip(NAMES, NAMES[1:])))
        self.assertEqual(set(drawn["topics"]), set(NAMES))

    def test_text(self):
        for words in ((), ("--live", "--window", "0.2")):
            shown = self.graph(*words)
            self.clean(shown)
            edges = [line.split(" -> ") for line in shown.splitlines() if " -> " in line]
            self.assertEqual({(undone(a), undone(b)) for a, b in edges}, set(zip(NAMES, NAMES[1:])))

    def test_dot(self):
        shown = self.graph("--format", "dot")
        self.clean(shown.replace("\t", ""))
        quoted = {node: re.sub(r"\\(.)", r"\1", label) for node, label in
                  re.findall(r'^\t(n\d+) \[label="((?:[^"\\]|\\.)*)"\];$', shown, re.MULTILINE)}
        by_rule = {node: undone(label.replace("&amp;", "&")) for node, label in quoted.items()}
        self.assertEqual({(by_rule[a], by_rule[b]) for a, b in dot_edges(shown)}, set(zip(NAMES, NAMES[1:])))
        if shutil.which("dot"):
            self.assertEqual({n: undone(label) for n, label in dot_labels(shown).items()}, by_rule)

    def test_mermaid(self):
        shown = self.graph("--format", "mermaid")
        self.clean(shown)
        labels, edges = mermaid_parts(shown)
        self.assertEqual({(undone(labels[a]), undone(labels[b])) for a, b in edges},
                         set(zip(NAMES, NAMES[1:])))

    def test_compact(self):
        for form in ("text", "dot", "mermaid", "json"):
            self.clean(self.graph("--compact", "--format", form).replace("\t", ""))

    def test_no_measured_profile(self):
        """Of a graph without any endpoint: nothing to say, whatever the names."""
        self.clean(run("profile", "--address", self.server.address, "--format", "table", status=4))


class Kept(Case):
    """What the shortened ones keep."""

    def test_long_twins(self):
        self.assertEqual(sum(name.startswith(LONG) for name in NAMES), 2)
        shown = run("profile", "--from", "-", "--format", "table", text=TEXT, columns=40)
        rows = re.findall(r"^publisher (SYS/\S*)\npid 1\d\d\d$", shown, re.MULTILINE)
        self.assertEqual(len(rows), 4)
        self.assertTrue(all(re.search("~[0-9a-f]{4}~", row) for row in rows), rows)


unittest.main()
