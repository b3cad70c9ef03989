# SPDX-License-Identifier: MIT
"""`ezprof profile --format`: golden texts, the same numbers in all of them, names of any kind.

EZPROF_UPDATE_GOLDEN=1 writes the golden texts anew.
"""
import collections
import csv
import io
import json
import os
import random
import re
import subprocess
import tempfile
import unittest

import command_lines
from graph_client import Server
from made_profile import Made

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "why_chain.json")
FORMATS = ("json", "table", "jsonl", "csv", "openmetrics")
LONG = "SYS/" + "x" * 4000
NAMES = ('plain', '"quoted", comma', "line\nbreak", "tab\tbell\a", "Grüße/日本語", "back\\slash",
         "{braces}=1", LONG + "a" + "z" * 60, LONG + "b" + "z" * 60, "%s%n")


def show(document, form, columns=None, options=()):
    env = {**os.environ, **({"COLUMNS": str(columns)} if columns else {})}
    env.pop("COLUMNS", None) if not columns else None
    text = document if isinstance(document, str) else json.dumps(document)
    done = subprocess.run([EZPROF, "profile", "--from", "-", "--format", form, *options],
                          input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=20)
    assert done.returncode in (0, 5), (done.returncode, done.stderr)
    return done.stdout.decode()


def said(*words, status=0, columns=None):
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    done = subprocess.run([EZPROF, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=20,
                          stderr=subprocess.PIPE,
                          env={**env, **({"COLUMNS": str(columns)} if columns else {})})
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout.decode()


def recorded():
    with open(RECORDED, encoding="utf-8") as file:
        return json.load(file)


def named(names=NAMES):
    """A publisher and a subscriber with each of the names."""
    made = Made()
    for number, name in enumerate(names):
        publisher = made.publisher(name, 1000 + number, 10.0 + number)
        made.subscriber(publisher, name, 2000 + number, 1.5, topic=name)
        made.task(name, 2000 + number)
    made.document["errors"] = [{"who": "agent", "pid": 9, "reason": "timeout", "detail": "1\n2",
                                "topic": None, "id": None, "host": "here"}]
    return made.document


def metrics():
    """[(scope, id, path in the document, OpenMetrics name)]"""
    with open(os.path.join(os.environ["EZPROF_SOURCE_DIR"], "docs", "metrics.md"),
              encoding="utf-8") as file:
        return re.findall(r"^\| `(\w+)\.(\w+)` \| [^|]* \| [^|]* \| `([^`]*)` \| `(\w+)`",
                          file.read(), re.MULTILINE)


def value_at(json_object, path):
    if path.endswith("[]"):
        found = json_object.get(path[:-2])
        return None if found is None else len(found)
    for key in path.split("."):
        if not isinstance(json_object, dict):
            return None
        json_object = json_object.get(key)
    return json_object


def objects(document):
    """(scope, object of the document)"""
    yield "graph", document
    for publisher in document["publishers"]:
        yield "pub", publisher
    for publisher in document["publishers"]:
        for link in publisher["links"]:
            yield "link", link
    for channel in document["channels"]:
        yield "chan", channel
    for channel in document["channels"]:
        for subscriber in channel["subscribers"]:
            yield "sub", subscriber
    for agent in document["agents"]:
        for task in agent["tasks"]:
            yield "task", task
    for agent in document["agents"]:
        yield "agent", agent


def openmetrics(text):
    """{name: [(labels, value)]}; fails where the text isn't what the format allows."""
    sample = re.compile(r'^([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$')
    assert text.endswith("# EOF\n") and text.count("# EOF") == 1
    families, family, seen, found = set(), None, set(), {}
    for line in text.split("\n")[:-2]:
        head = re.match(r"^# (TYPE|UNIT|HELP) ([a-z0-9_]+) (.+)$", line)
        if head:
            if head.group(1) == "TYPE":
                family, kind = head.group(2), head.group(3)
                assert family not in families, f"{family} twice"
                families.add(family)
            assert head.group(2) == family, line
            if head.group(1) == "UNIT":
                assert family.endswith("_" + head.group(3)), line
            continue
        match = re.match(r'^([a-z0-9_]+)(\{.*\})? (\S+)$', line)
        assert match and sample.match(re.sub("[0-9]", "n", match.group(1)) + line[len(match.group(1)):]), line
        name, labels, value = match.groups()
        assert name == family + ("_total" if kind == "counter" else ""), (name, family)
        assert (name, labels) not in seen, line
        seen.add((name, labels))
        found.setdefault(name, []).append((labels or "", float(value)))
    return found


class Golden(unittest.TestCase):
    def test_several_inputs(self):
        """ezmsg tells of an input as a whole: nobody's, where several publishers lead to it."""
        def publishers_named(outputs):
            made = Made()
            for topic in ("A/OUT", "B/OUT"):
                publisher = made.publisher(topic, 1, 50.0, source="ezmsg")
            made.subscriber(publisher, "C/IN", 2, topic="C/IN", rate=100.0, source="ezmsg")
            made.document["channels"][0].update(pub_id=None, topic=None)
            made.document["graph"] = {"C/IN": [], **{topic: ["C/IN"] for topic in outputs}}
            rows = csv.DictReader(io.StringIO(show(made.document, "csv")))
            return [row["publisher"] for row in rows if row["topic"] == "C/IN"]
        self.assertEqual(publishers_named(["A/OUT"]), ["A/OUT"])
        self.assertEqual(publishers_named(["A/OUT", "B/OUT"]), [""])

    def same(self, name, text):
        text = re.sub('"tool_version": "[^"]*"', '"tool_version": ""', text) if name == "why.json" else text
        path = os.path.join(HERE, "golden", name)
        if os.environ.get("EZPROF_UPDATE_GOLDEN"):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        with open(path, encoding="utf-8", newline="") as file:
            self.assertEqual(text, file.read(), path)

    def test_profile(self):
        for kind, document in (("chain", recorded()), ("names", named(NAMES[:7]))):
            self.assertEqual(json.loads(show(document, "json")), document)
            for form in FORMATS[1:]:
                self.same(f"{kind}.{form}", show(document, form, 100 if form == "table" else None))

    def test_documents(self):
        """What is made of the recorded document by other commands."""
        with tempfile.TemporaryDirectory() as folder:
            later = os.path.join(folder, "later.json")
            document = recorded()
            for channel in document["channels"]:
                for subscriber in channel["subscribers"]:
                    subscriber["processing"]["p99_ms"] *= 1.5
            with open(later, "w", encoding="utf-8") as file:
                json.dump(document, file)
            rule = ("--fail-if", "sub.process_p99_ms > 5", "--fail-if", "graph.lost_total > 0")
            for name, words, status in (
                    ("why", ("why", RECORDED), 0), ("why.json", ("why", "--json", RECORDED), 0),
                    ("check", ("check", *rule, RECORDED), 3),
                    ("check.json", ("check", "--json", *rule, RECORDED), 3),
                    ("diff", ("diff", RECORDED, later), 0),
                    ("diff.json", ("diff", "--json", RECORDED, later), 0),
                    ("explain", ("explain", "sub.process_p99_ms", "pub.blocked_*"), 0),
                    ("explain.json", ("explain", "--json", "sub.process_p99_ms", "pub.blocked_*"), 0)):
                self.same(name, said(*words, status=status, columns=100))

    def test_drawings(self):
        """A graph server without anybody, and what it says of edges."""
        with Server() as server:
            for edge in (("SYS/SRC/OUT", "SYS/FLT/IN"), ("SYS/FLT/OUT", 'SYS/"odd"\n/IN'),
                         ("SYS/FLT/OUT", "Gr\u00fc\u00dfe/IN")):
                server.connect(*edge)
            for form in ("text", "dot", "mermaid", "json"):
                for kind, words in (("graph", ()), ("compact", ("--compact",)),
                                    ("live", ("--live", "--window", "0.2"))):
                    self.same(f"{kind}.{form}",
                              said("graph", "--address", server.address, "--format", form, *words))


# Each output of each command: its golden text is above, or why there is none.
ELSEWHERE = {
    "doctor": "of this machine; e2e_doctor has its shape",
    "ps": "of this machine; e2e_ps has its shape, views_names_live its names",
    "probes": "addresses and arguments of a build; e2e_probes",
    "record": "times of a run; test_trace has the text, e2e_record and e2e_record_perfetto decode it",
    "run": "prints what the program prints", "serve": "prints an address", "shutdown": "prints nothing",
    "top": "by tests of its own", "report": "by tests of its own", "export": "by tests of its own",
}


class Inventory(unittest.TestCase):
    def test_every_command(self):
        commands = re.findall(r"^  (\w+) ", said("--help").split("Commands:")[1], re.MULTILINE)
        self.assertGreater(len(commands), 10)
        for name in commands:
            self.assertIn(name, {"profile", "why", "check", "diff", "graph", "explain", *ELSEWHERE})

    def test_every_format(self):
        """Each is among the command lines that other tests cut short."""
        for program in ("ezprof", "ezprof-bpf"):
            for name in command_lines.commands(program):
                text = subprocess.run([os.path.join(os.path.dirname(EZPROF), program), name, "--help"],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                      timeout=20).stdout
                typed = [" ".join(words) for words in command_lines.LINES[name]]
                if "--json " in text:
                    self.assertTrue(any("--json" in words for words in typed), name)
                forms = re.search(r"--format=(\S+)", text.split("\n\n", 3)[-1])
                if not forms:
                    continue
                self.assertGreater(len(forms[1].split("|")), 2, text)
                for form in forms[1].split("|"):
                    default = f"default: {form}" in text
                    self.assertTrue(default or any(f"--format {form}" in words for words in typed),
                                    (name, form))


class SameNumbers(unittest.TestCase):
    def test_csv(self):
        for document in (recorded(), named()):
            rows = list(csv.DictReader(io.StringIO(show(document, "csv"), newline="")))
            known = list(objects(document))
            self.assertEqual(len(rows), len(known))
            compared = 0
            for row, (scope, thing) in zip(rows, known):
                for of, name, path, _ in metrics():
                    value = value_at(thing, path)
                    if of == scope and value is not None:
                        self.assertEqual(json.loads(row[name]), value, (scope, name))
                        compared += 1
                    elif of == scope:
                        self.assertEqual(row[name], "", (scope, name))
            self.assertGreater(compared, 200)

    def test_openmetrics(self):
        for document in (recorded(), named()):
            found = openmetrics(show(document, "openmetrics"))
            self.assertEqual(found["ezprof_dropped_series"], [("", 0.0)])
            wanted = {}
            for scope, thing in objects(document):
                for of, name, path, family in metrics():
                    value = value_at(thing, path)
                    if of == scope and value is not None:
                        factor = {"_ms": 1e-3, "_ns": 1e-9}.get(name[-3:], 1.0)
                        wanted.setdefault(family, []).append(value * factor)
            del found["ezprof_dropped_series"]
            self.assertEqual(set(found), set(wanted))
            for family, values in wanted.items():
                for (_, got), value in zip(found[family], values, strict=True):
                    self.assertAlmostEqual(got, value, delta=1e-9 * abs(value) + 1e-12)

    def test_jsonl(self):
        for document in (recorded(), named()):
            lines = [json.loads(line) for line in show(document, "jsonl").splitlines()]
            self.assertEqual((lines[0]["type"], lines[-1]["type"]), ("meta", "summary"))
            for kind, scope in (("publisher", "pub"), ("subscriber", "sub"), ("agent", "agent")):
                got = [line for line in lines if line["type"] == kind]
                known = [o for s, o in objects(document) if s == scope]
                for line, thing in zip(got, known, strict=True):
                    for key, value in thing.items():
                        self.assertEqual(line[key], value if key != "type" else kind)
            self.assertEqual(lines[-1]["subscribers"],
                             sum(len(c["subscribers"]) for c in document["channels"]))

    def test_table(self):
        """Every row and column, to three digits; the heading's two lines say which metric it is."""
        paths = {(scope, name): path for scope, name, path, _ in metrics()}
        for seed in range(20):
            document = named() if seed % 2 else recorded()
            disturb(document, random.Random(seed))
            compared = collections.Counter()
            for scope, ids, rows in table_blocks(show(document, "table", options=("--wide",))):
                things = [o for s, o in objects(document) if s == scope]
                for figures, thing in zip(rows, things, strict=True):
                    for name, figure in zip(ids, figures, strict=True):
                        value = value_at(thing, paths[scope, name])
                        compared[scope, name] += 1
                        if value is None:
                            self.assertEqual(figure, "-", (seed, scope, name))
                        else:
                            self.assertAlmostEqual(float(figure), value, msg=(seed, scope, name),
                                                   delta=max(abs(value) * 0.00501, 0.0005))
            self.assertEqual(len(compared), 17 if seed % 2 else 13)


def disturb(document, chance):
    """Figures of all sizes, and some that nobody knows."""
    def walk(thing):
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            if isinstance(value, (dict, list)):
                walk(value)
            elif isinstance(value, float):
                thing[key] = chance.choice((0.0, 0.00049, 0.0123, 0.99951, 9.9951, 99.951, 12345.678,
                                            1.5e15, None, chance.uniform(0, 2000)))
    for part in ("publishers", "channels", "agents"):
        walk(document[part])


    def test_total_of_those_that_are_measured(self):
        made = Made()
        made.publisher("A", 1, 100.0)
        self.assertIn("1 publisher, 0 subscribers: 100 messages/s,", show(made.document, "table"))
        made.publisher("B", 2, 50.0, source="process")
        self.assertIn("2 publishers, 0 subscribers: 100 messages/s from 1 of them", show(made.document, "table"))


def table_blocks(text):
    """[(scope, ids of the metrics, rows of figures)]"""
    scopes = {"publisher": "pub", "subscriber": "sub", "task": "task"}
    for block in text.split("\n\n")[1:]:
        above, *more = block.rstrip("\n").split("\n")
        if not more or more[0].split()[0] not in scopes:
            continue
        below, *rows = more
        first = {m.end(): m[0] for m in re.finditer(r"\S+", above)}
        ends = [(m.end(), m[0]) for m in re.finditer(r"\S+", below)]
        at = max(n for n, (_, word) in enumerate(ends) if word in ("pid", "via")) + 1
        ids = [first.get(end, "") + word for end, word in ends[at:]]
        yield scopes[below.split()[0]], ids, [row.split()[-len(ids):] for row in rows]


def stacked(text):
    """[(scope, [(id, figure)...])] where each figure has a line."""
    scopes = {"publisher": "pub", "subscriber": "sub", "task": "task"}
    for block in text.split("\n\n")[1:]:
        lines = [line.split(" ", 1) for line in block.strip("\n").split("\n")]
        at = max(n for n, (key, _) in enumerate(lines) if key in ("pid", "via")) + 1
        yield scopes[lines[0][0]], [tuple(line) for line in lines[at:]]


class Names(unittest.TestCase):
    def test_whole_everywhere_but_the_table(self):
        document = named()
        rows = list(csv.DictReader(io.StringIO(show(document, "csv"), newline="")))
        self.assertEqual([r["topic"] for r in rows if r["scope"] == "publisher"], list(NAMES))
        lines = [json.loads(line) for line in show(document, "jsonl").splitlines()]
        self.assertEqual([x["topic"] for x in lines if x["type"] == "publisher"], list(NAMES))
        found = openmetrics(show(document, "openmetrics"))["ezprof_publisher_rate_per_second"]
        topics = [re.search(r'topic="((?:[^"\\]|\\.)*)"', labels).group(1) for labels, _ in found]
        unescaped = [re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m.group(1), m.group(1)), t)
                     for t in topics]
        self.assertEqual(unescaped, list(NAMES))

    def test_near_twins_in_a_narrow_table(self):
        for columns in (80, 20, 200):
            text = show(named(), "table", columns)
            names = re.findall(r"^(?:publisher )?(SY\S*)(?: +100[78] |\npid 100[78]$)", text, re.MULTILINE)
            self.assertEqual((len(names), len(set(names))), (2, 2), text)
            self.assertNotIn("\a", text)
        wide = show(named(), "table", 80, ("--wide",))
        self.assertIn(LONG + "a", wide)

    def test_fits(self):
        """Whatever the width: no line is longer, and no figure is left out."""
        whole = show(recorded(), "table", options=("--wide",))
        wanted = [(scope, list(zip(ids, row))) for scope, ids, rows in table_blocks(whole) for row in rows]
        self.assertEqual(len(wanted), 4)
        for columns in (20, 40, 80):
            text = show(recorded(), "table", columns)
            self.assertTrue(all(len(line) <= columns for line in text.splitlines()), text)
            self.assertEqual(text.split("\n\n")[0].split(), whole.split("\n\n")[0].split())
            found = list(stacked(text)) if columns < 80 else [
                (scope, list(zip(ids, row))) for scope, ids, rows in table_blocks(text) for row in rows]
            self.assertEqual(found, wanted, text)

    def test_whole_in_a_pipe(self):
        """Without a terminal nothing is shortened."""
        self.assertEqual(show(named(), "table"), show(named(), "table", 80, ("--wide",)))
        self.assertIn(LONG + "a", show(named(), "table"))

    def test_twins(self):
        """Two series of one name would make the whole text invalid."""
        made = Made()
        a = made.publisher("A", 1)
        made.publisher("A", 1)["id"] = a["id"]
        found = openmetrics(show(made.document, "openmetrics"))
        self.assertEqual(found["ezprof_dropped_series"], [("", 1.0)])

    def test_invalid_utf8(self):
        text = json.dumps(recorded()).replace('"sink"', '"s\ud800nk"')
        for form in FORMATS[1:]:
            done = subprocess.run([EZPROF, "profile", "--from", "-", "--format", form],
                                  input=text.encode("utf-8", "surrogatepass"), timeout=20,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if form != "jsonl":
                done.stdout.decode()
            self.assertIn(done.returncode, (0, 1), done.stderr)


class Usage(unittest.TestCase):
    def test_usage(self):
        for options in (("--format", "xml"), ("--count", "0"), ("--interval", "-1"),
                        ("--interval", "x"), ("--count", "1.5")):
            done = subprocess.run([EZPROF, "profile", *options], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_no_such_file(self):
        done = subprocess.run([EZPROF, "profile", "--from", "/nonexistent"], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))


unittest.main()
