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
        rows = re.findall(r"^\| `(\w+)\.(\w+)` \| [^|]* \| `([^`]*)`", printed(), re.MULTILINE)
        self.assertGreater(len(rows), 100)
        for scope, name, path in rows:
            for value in LISTS.get(scope, lambda d: [])(document):
                for key in path.removesuffix("[]").split("."):
                    self.assertIn(key, value, f"{scope}.{name}: {path}")
                    value = value[key]
                    if value is None:
                        break

    def test_names(self):
        """One name for one thing."""
        for pattern in (r"^\| `([\w.]+)`", r"\| `(ezprof_\w+)` \|"):
            names = re.findall(pattern, printed(), re.MULTILINE)
            self.assertEqual(len(names), len({name.removesuffix("_total") for name in names})
                             if "ezprof" in pattern else len(set(names)))


unittest.main()
