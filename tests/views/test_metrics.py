# SPDX-License-Identifier: MIT
"""docs/metrics.md is what the list of metrics says, and each of them is in a real document."""
import json
import os
import re
import subprocess
import unittest

SOURCE, BIN = os.environ["EZPROF_SOURCE_DIR"], os.environ["EZPROF_TEST_BIN_DIR"]
LISTS = {"graph": lambda d: [d], "pub": lambda d: d["publishers"], "chan": lambda d: d["channels"],
         "link": lambda d: [x for p in d["publishers"] for x in p["links"]],
         "sub": lambda d: [x for c in d["channels"] for x in c["subscribers"]],
         "agent": lambda d: d["agents"]}


EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")


def explain(*keys):
    return subprocess.run([EZPROF, "explain", *keys], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=20).stdout


def printed():
    return subprocess.run([os.path.join(BIN, "metric_table")], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


class Metrics(unittest.TestCase):
    def test_page(self):
        with open(os.path.join(SOURCE, "docs", "metrics.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), printed(), "build/tests/bin/metric_table > docs/metrics.md")

    def test_paths(self):
        """A misspelt path would read as unknown for ever."""
        with open(os.path.join(SOURCE, "tests", "data", "why_chain.json"), encoding="utf-8") as file:
            document = json.load(file)
        rows = re.findall(r"^\| `(\w+)\.(\w+)` \| [^|]* \| [^|]* \| `([^`]*)`", printed(),
                          re.MULTILINE)
        self.assertGreater(len(rows), 100)
        for scope, name, path in rows:
            for value in LISTS.get(scope, lambda d: [])(document):
                for key in path.removesuffix("[]").split("."):
                    self.assertIn(key, value, f"{scope}.{name}: {path}")
                    value = value[key]
                    if value is None:
                        break

    def test_explain(self):
        """`ezprof explain` says of each what the page says, by each of its names."""
        with open(os.path.join(SOURCE, "docs", "metrics.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", file.read(), re.MULTILINE)
        told = explain("*")
        self.assertEqual([name for name, _ in rows], re.findall(r"^(\S+): ", told, re.MULTILINE))
        texts = told.split("\n\n")
        for (name, row), text in zip(rows, texts):
            unit, clock, path, exported, meaning = row.split(" | ")
            lines = dict(re.findall(r"^(?:  )?([\w.]+):? +(.*)$", text, re.MULTILINE))
            said = [meaning.split("; from: ")[0].split("; to: ")[0].split("; without: ")[0]]
            self.assertEqual([lines[name]], said, text)
            self.assertEqual(lines["unit"], unit)
            self.assertEqual(lines.get("clock", ""), clock)
            self.assertEqual((lines["document"], lines["OpenMetrics"]),
                             (path.strip("`"), exported.strip("`")))
            for word, key in (("from", "start"), ("to", "end"), ("without", "excluded")):
                self.assertEqual(re.findall(f"; {word}: ([^;]*)", meaning),
                                 [lines[key]] if key in lines else [])
            self.assertIn(text.strip(), explain(exported.strip("`")))
            self.assertIn(text.strip(), explain(name.split(".")[1]))
            self.assertIn(text.strip(), explain(path.strip("`")))

    def test_json(self):
        """The same as the text, key by key."""
        metrics = json.loads(explain("--json"))["metrics"]
        self.assertEqual([m["name"] for m in metrics], explain().split())
        for metric, text in zip(metrics, explain("*").split("\n\n")):
            lines = dict(re.findall(r"^(?:  )?([\w.]+):? +(.*)$", text, re.MULTILINE))
            self.assertEqual(metric["what"], lines.pop(metric["name"]))
            lines["openmetrics"] = lines.pop("OpenMetrics")
            lines["kind"] = lines["kind"].split(":")[0]
            self.assertEqual({k: v for k, v in metric.items() if v is not None and k not in ("name", "what")},
                             lines)
        [one] = json.loads(explain("--json", "sub.process_p99_ms"))["metrics"]
        self.assertEqual(one["name"], "sub.process_p99_ms")

    def test_unknown(self):
        for key, near in (("sub.proces_p99_ms", "'sub.process_p99_ms'"), ("queue", "sub.queue_"),
                          ("", ""), ("\n\x1b[31m" + "x" * 5000, "")):
            done = subprocess.run([EZPROF, "explain", key], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(near, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertNotIn("\x1b", done.stderr)
            self.assertLess(len(done.stderr), 250)

    def test_nothing_near(self):
        for key in ("foo", "x", "graphite", "sub.nothing_like_it"):
            done = subprocess.run([EZPROF, "explain", key], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(done.stderr,
                             f"ezprof explain: no metric '{key}' (`ezprof explain` lists them)\n")

    def test_names(self):
        """One name for one thing."""
        for pattern in (r"^\| `([\w.]+)`", r"\| `(ezprof_\w+)` \|"):
            names = re.findall(pattern, printed(), re.MULTILINE)
            self.assertEqual(len(names), len({name.removesuffix("_total") for name in names})
                             if "ezprof" in pattern else len(set(names)))


unittest.main()
