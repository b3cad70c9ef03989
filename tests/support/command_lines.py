# SPDX-License-Identifier: MIT
"""Every command of `ezprof` and `ezprof-bpf` as somebody would type it, for tests that take them all.

A command that is new and not listed here is run with --address alone, so that it is tested too.
"""
import os
import re
import subprocess

from graph import BIN

# {A}: the graph's address; {F}: a document; {O}: a file to write; {P}: a process with probes.
LINES = {
    "why": (("{F}",), ("--json", "{F}"), ("--address", "{A}", "--window", "0.2")),
    "profile": tuple(("--from", "{F}", "--format", form)
                     for form in ("json", "table", "jsonl", "csv", "openmetrics")) +
    (("--address", "{A}", "--window", "0.2"),
     ("--address", "{A}", "--window", "0.2", "--format", "table", "--interval", "0.2", "--count", "3")),
    "graph": (("--address", "{A}"), ("--address", "{A}", "--format", "dot"), ("--address", "{A}", "--format", "json"),
              ("--address", "{A}", "--live", "--window", "0.2"),
              ("--address", "{A}", "--live", "--window", "0.2", "--format", "dot"),
              ("--address", "{A}", "--format", "mermaid", "--compact")),
    "check": (("--fail-if", "pub.rate_hz < 0", "{F}"), ("--json", "--fail-if", "pub.rate_hz > 0", "{F}"),
              ("--address", "{A}", "--window", "0.2", "--count", "2", "--fail-if", "pub.messages_total < 0")),
    "diff": (("{F}", "{F}"), ("--json", "{F}", "{F}")),
    "doctor": ((), ("--json",)),
    "ps": ((), ("--json",), ("--endpoints",)),
    "probes": (("{P}",), ("--json", "{P}")),
    "explain": ((), ("sub.process_p99_ms",), ("--json",)),
    "record": (("--address", "{A}", "--summary", "--duration", "0.2"),
               ("--address", "{A}", "-o", "{O}.pftrace", "--duration", "0.2"),
               ("--address", "{A}", "-o", "{O}.json", "--duration", "0.2")),
    "run": (("--", "true"),),
    "serve": (("--version",),),  # runs until a signal: test_endings_serve.py
    "shutdown": (("--help",),),
    "top": (("--address", "{A}", "--once"), ("--from", "{F}", "--once", "--view", "processes")),
    "report": (("--from", "{F}", "-o", "-"), ("--from", "{F}", "-o", "{O}.html"),
               ("--address", "{A}", "--duration", "0.3", "-o", "{O}.html")),
    "export": (("--address", "{A}", "--textfile", "{O}.prom"),),
    "attach": (("{P}", "--once", "--window", "0.2"),),
    "status": ((), ("--json",)),
}


def commands(program):
    """The names that --help lists."""
    text = subprocess.run([os.path.join(BIN, program), "--help"], check=True, stdout=subprocess.PIPE,
                          text=True, timeout=20).stdout
    found = re.findall(r"^  ([\w-]+) ", text.split("\nCommands:\n")[1].split("\nOptions:")[0], re.MULTILINE)
    assert found, text
    return found


def lines(program, **values):
    """[[program, command, word...]]: also --help of each command, and of the program."""
    path, found = os.path.join(BIN, program), []
    for name in commands(program):
        for words in LINES.get(name, (("--address", "{A}"),)):
            found.append([path, name, *(word.format(**values) for word in words)])
        found.append([path, name, "--help"])
    return [*found, [path, "--help"], [path, "--version"]]
