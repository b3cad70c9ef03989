# SPDX-License-Identifier: MIT
"""The files beside `ezprof export`: the dashboard, the alerts and the unit say what the exporter does."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml_lines
from exporter import OPENMETRICS, TEXT, Exporter, MadeServer, Page
from made_profile import Made
from official_parser import by_prometheus

SOURCE = os.environ["EZPROF_SOURCE_DIR"]
BUILD = os.environ["EZPROF_BUILD_DIR"]
DASHBOARD = os.path.join(SOURCE, "docs", "grafana", "ezprof.json")
RULES = os.path.join(SOURCE, "docs", "prometheus", "ezprof.rules.yml")
UNIT = "ezprof-exporter.service"
TARGET_LABELS = {"instance", "job"}  # Prometheus' own


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def metrics():
    """[(scope, path in the document, OpenMetrics name)]"""
    return re.findall(r"^\| `(\w+)\.\w+` (?:\| [^|]* ){2}\| `([^`]+)` \| `(\w+)`",
                      read(os.path.join(SOURCE, "docs", "metrics.md")), re.MULTILINE)


def listed(macro, pattern):
    """What an X-macro of views/export_list.h names."""
    text = read(os.path.join(SOURCE, "views", "export_list.h"))
    block = re.search(rf"#define {macro}\(X\) \\\n((?:.*\\\n)*.*\n)", text).group(1)
    return re.findall(pattern, block)


def known_names():
    """All that may be served, by the lists."""
    names = {name for scope, path, name in metrics() if scope not in ("link", "chan")}
    never = {"ezprof_graph_lost_total"} | {n for n in names if n.endswith("_at_seconds")}
    assert len(names) > 100
    assert len(listed("EZPROF_EXPORT_NEVER", r"X\((\w+)\)")) == len(never)
    endings = {"COUNTER": "_total", "INFO": "_info", "GAUGE": ""}
    own = listed("EZPROF_EXPORT_FAMILIES", r'X\(\w+, "(\w+)", (\w+),')
    return names - never | {name + endings[kind] for name, kind in own}


def know(thing, path):
    """Makes the figure at that path known."""
    *parents, last = path.split(".")
    for key in parents:
        if thing.get(key) is None:
            thing[key] = {}
        thing = thing[key]
    if not last.endswith("[]") and thing.get(last) is None:
        thing[last] = 1


def full_pages():
    """Of a graph that tells everything, and of none: the texts, older format first."""
    made = Made()
    made.publisher("A", 1)
    subscriber = made.subscriber(made.document["publishers"][0], "sink", 2)
    task = made.task("t", 2)
    things = {"graph": made.document, "pub": made.document["publishers"][0], "sub": subscriber,
              "task": task, "agent": made.document["agents"][0]}
    for scope, path, _ in metrics():
        if scope in things:
            know(things[scope], path)
    made.document["errors"].append({"who": "agent", "pid": 9, "reason": "timeout", "topic": "A",
                                    "detail": None, "id": None, "host": "here"})
    with MadeServer(made.document) as server, \
            Exporter("--address", server.address, env=MadeServer.ENV) as exporter:
        texts = [exporter.ask(Accept=accept)[2] for accept in (TEXT, OPENMETRICS)]
        server.listener.close()
        return [*texts, *(exporter.ask(Accept=accept)[2] for accept in (TEXT, OPENMETRICS))]


def served(texts):
    """{name: labels}"""
    pages = [Page(text) for text in texts[::2]]
    assert [page.one("ezprof_up") for page in pages] == [1, 0]
    labels = {}
    for name, own in (key for page in pages for key in page.samples):
        labels.setdefault(name, {"twin"}).update(key for key, _ in own)
    return labels


TEXTS = full_pages()


def dashboard():
    board = json.loads(read(DASHBOARD))
    found = [(panel["title"], target["expr"], target["legendFormat"])
             for panel in board["panels"] for target in panel["targets"]]
    return board, found


def names_in(expression):
    return re.findall(r"\bezprof_\w+", expression)


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.known, cls.served = known_names(), served(TEXTS)

    def check(self, where, expression, text):
        names = names_in(expression)
        self.assertTrue(names, where)
        for name in names:
            self.assertIn(name, self.known, where)
            self.assertIn(name, self.served, where)
        for name, matchers in re.findall(r"(\bezprof_\w+)\{([^}]*)\}", expression):
            for label in re.findall(r"(\w+)=", matchers):
                self.assertIn(label, self.served[name], (where, name))
        of_all = set.intersection(*(self.served[name] for name in names)) | TARGET_LABELS
        for label in re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", text):
            self.assertIn(label, of_all, (where, expression))

    def test_dashboard(self):
        board, found = dashboard()
        self.assertGreater(len(found), 15)
        for title, expression, legend in found:
            self.check(title, expression, legend)
        variables = {v["name"]: v for v in board["templating"]["list"]}
        self.assertEqual(set(variables), {"datasource", "host", "topic"})
        for name in ("host", "topic"):
            query = variables[name]["query"]["query"]
            label = re.search(r", (\w+)\)$", query).group(1)
            self.check(name, query, "{{%s}}" % label)
        used = set(re.findall(r"\$(\w+)", " ".join(e for _, e, _ in found)))
        self.assertEqual(used - {"__rate_interval", "__range"}, {"host", "topic"})
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        wanted = {"ezprof_up", "ezprof_publisher_messages_total", "ezprof_agent_lost_total",
                  "ezprof_publisher_blocked_seconds_total", "ezprof_publisher_in_flight",
                  "ezprof_publisher_num_buffers", "ezprof_subscriber_drops_total",
                  "ezprof_subscriber_process_p99_seconds", "ezprof_subscriber_queue_p99_seconds"}
        self.assertLessEqual(wanted, {n for _, e, _ in found for n in names_in(e)})

    def test_rules(self):
        rules = yaml_lines.rules(read(RULES))
        self.assertGreater(len(rules), 6)
        for name, expression, text in rules:
            self.check(name, expression, text)

    def test_everything_is_served(self):
        self.assertEqual(set(self.served), self.known)


@unittest.skipUnless(shutil.which("promtool"), "promtool isn't installed")
class Promtool(unittest.TestCase):
    def check(self, path):
        done = subprocess.run(["promtool", "check", "rules", path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_rules(self):
        self.check(RULES)

    def test_metrics(self):
        """Names, types and helps as its linter wants them."""
        for text in TEXTS[::2]:
            done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_dashboard(self):
        """Its expressions are ones."""
        _, found = dashboard()
        rules = [{"record": f"a{n}", "expr": re.sub(r"\$__\w+", "5m", expression)}
                 for n, (_, expression, _) in enumerate(found)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "board.yml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"groups": [{"name": "board", "rules": rules}]}, file)  # JSON is YAML
            self.check(path)


class OfficialParser(unittest.TestCase):
    def test_openmetrics(self):
        for text in TEXTS[1::2]:
            families = by_prometheus(text)
            if families is None:
                self.skipTest("no package python3-prometheus-client")
            self.assertEqual(set(families), set(Page(text, True).families))


class Unit(unittest.TestCase):
    def lines(self):
        return read(os.path.join(BUILD, "cli", UNIT)).splitlines()

    def test_settings(self):
        lines = self.lines()
        for wanted in ("Type=notify", "WatchdogSec=30", "DynamicUser=yes", "NoNewPrivileges=yes",
                       "CapabilityBoundingSet=", "ProtectSystem=strict",
                       "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX"):
            self.assertIn(wanted, lines)
        # By /proc it is known that a graph server lives, to which a mark belongs.
        self.assertFalse([x for x in lines if x.startswith(("ProtectProc=", "ProcSubset=",
                                                            "PrivateUsers=", "PrivateNetwork="))])
        [start] = [x for x in lines if x.startswith("ExecStart=")]
        self.assertRegex(start, r"^ExecStart=/.*/ezprof export \$EZPROF_EXPORT_OPTIONS$")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze isn't installed")
    def test_verify(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, UNIT)
            with open(path, "w", encoding="utf-8") as file:
                for line in self.lines():
                    if line.startswith("ExecStart="):
                        line = f"ExecStart={os.environ['EZPROF_BIN_DIR']}/ezprof export"
                    file.write(line + "\n")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                                   path], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        # Where systemd doesn't run, it has more to say than about this file.
        about = [line for line in done.stdout.splitlines() if UNIT in line]
        self.assertEqual(about, [], done.stdout)


unittest.main()
