# SPDX-License-Identifier: MIT
"""Runs benchmark programs and collects their rows.

A benchmark prints one JSON object per line: {"name", "value", "unit", "bar", "holds"}. Variants that are
compared run interleaved inside one program, so that a slow moment of the machine hits both. A row
that was announced (ROWS in CMakeLists.txt) and didn't come counts as one that falls short.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

KEYS = ("name", "value", "unit", "bar", "holds")
FELL_SHORT = 3
SKIPPED = 77


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench.sh")
    parser.add_argument("--json", metavar="FILE", help="also write the rows as a JSON array")
    parser.add_argument("--only", metavar="PREFIX", default="", help="only rows whose name starts so")
    parser.add_argument("--list", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def read_list(path):
    """Lines of 'row,row<TAB>command'."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            rows, _, command = line.rstrip("\n").partition("\t")
            if command:
                yield rows.split(","), shlex.split(command)


def missing_row(name, why):
    return {"name": name, "value": None, "unit": why, "bar": None, "holds": False}


def parse_rows(text, wanted):
    """The rows among the lines of a benchmark's output; others are remarks, shown on stderr."""
    for line in text.splitlines():
        if not line.startswith("{"):
            print(f"  {line}", file=sys.stderr)
            continue
        row = json.loads(line)
        if sorted(row) != sorted(KEYS):
            raise ValueError(f"a row has the keys {', '.join(KEYS)}: {line}")
        if row["name"] not in wanted:
            raise ValueError(f"row {row['name']} was not announced in CMakeLists.txt")
        yield {key: row[key] for key in KEYS}


def environment(build):
    """What tests see too: cmake/EzprofTest.cmake."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return dict(os.environ, EZPROF_BIN_DIR=f"{build}/bin", EZPROF_TEST_BIN_DIR=f"{build}/tests/bin",
                EZPROF_SOURCE_DIR=source, EZPROF_BUILD_DIR=build, PYTHONDONTWRITEBYTECODE="1",
                PYTHONPATH=f"{source}/tests/support")


def run_one(announced, command, env):
    print(f"bench: {', '.join(announced)}", file=sys.stderr, flush=True)
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        rows = {row["name"]: row for row in parse_rows(result.stdout, announced)}
    except ValueError as error:
        print(f"bench: {error}", file=sys.stderr)
        rows = {}
    why = "not printed"
    if result.returncode == SKIPPED:
        why = "skipped: " + (result.stdout.strip().splitlines() or ["no reason"])[-1]
    elif result.returncode:
        why = f"exit status {result.returncode}"
    return [rows.get(name, missing_row(name, why)) for name in announced]


def print_table(rows):
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        value = "-" if row["value"] is None else f"{row['value']:.6g}"
        bar = "-" if row["bar"] is None else str(row["bar"])
        verdict = "holds" if row["holds"] else "FALLS SHORT"
        print(f"{row['name']:<{width}}  {value:>12} {row['unit']:<24} {bar:<12} {verdict}")


def write_json(rows, path):
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def main():
    arguments = parse_arguments()
    env = environment(os.path.dirname(os.path.abspath(arguments.list)))
    rows = []
    for announced, command in read_list(arguments.list):
        if any(name.startswith(arguments.only) for name in announced):
            rows += [row for row in run_one(announced, command, env) if row["name"].startswith(arguments.only)]
    if not rows:
        print(f"bench: no row starts with '{arguments.only}'", file=sys.stderr)
        return 2
    print_table(rows)
    if arguments.json:
        write_json(rows, arguments.json)
    return 0 if all(row["holds"] for row in rows) else FELL_SHORT


sys.exit(main())
