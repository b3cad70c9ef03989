# SPDX-License-Identifier: MIT
"""Documents against what they are about: docs/bpftrace/README.md names each script, and each its own call;
docs/compared.md says of each cell what it rests on; links lead to files; the README's map has all folders and documents;
docs/using.md shows all commands."""
import os
import re
import subprocess
import sys

from tree import ROOT, read, tracked


def cookbook():
    readme = read("docs/bpftrace/README.md")
    scripts = [os.path.basename(name) for name in tracked("docs/bpftrace/*.bt")]
    for script in scripts:
        if len(re.findall(rf"^\| \[{script}\]\({script}\) \| .*\?.* \|$", readme, re.M)) != 1:
            yield f"docs/bpftrace/README.md: no line of the table asks the question of {script}"
        if not re.search(rf"^`bpftrace {script} .*`\n\n```\n\S", readme, re.M):
            yield f"docs/bpftrace/README.md: no output of {script}"
        if not re.search(rf"^ \* bpftrace .*{script} \[SECONDS", read(f"docs/bpftrace/{script}"), re.M):
            yield f"docs/bpftrace/{script}: doesn't say how it is called"
    if len(scripts) < 10:
        yield f"docs/bpftrace: {len(scripts)} scripts"


def compared():
    """Of each table with a column per tool: what the cells rest on; and that there is no less of it."""
    text, rows = read("docs/compared.md"), 0
    for table in re.findall(r"^\| question \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M):
        for line in table.splitlines():
            question, *cells = [cell.strip() for cell in line.strip("|").split(" |")]
            rows += 1
            if len(cells) != 7:
                yield f"docs/compared.md: {len(cells)} tools: {question}"
            for cell in cells:
                if not re.search(r"\S \[(run|doc|src)\]$", cell):
                    yield f"docs/compared.md: rests on nothing: {question}: {cell}"
    if rows < 24:
        yield f"docs/compared.md: {rows} rows"
    for tool in set(re.findall(r"`[^`]*scripts/compare\.sh ([\w-]+)`", text)) - {"cost", "TOOL"}:
        if f'"{tool}": (' not in read("tests/compared/compare.py"):
            yield f"docs/compared.md: scripts/compare.sh doesn't know {tool}"


def links():
    for name in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", read(name)):
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(name), target)):
                yield f"{name}: leads to {target}, which isn't there"


def readme_map():
    readme = read("README.md")
    for folder in {name.split("/")[0] for name in tracked("[a-z]*/*")} - {"docs"}:
        if not re.search(rf"^\|.*`{folder}/`.*\|", readme, re.M):
            yield f"README.md: the map has no {folder}/"
    for name in tracked("docs/*.md"):
        if f"]({name})" not in readme and os.path.dirname(name) == "docs":
            yield f"README.md: leads nowhere to {name}"


def commands():
    """Each command of the programs that are there, in what is shown of how to use them, and no other."""
    shown = re.findall(r"^(?:sudo )?(ezprof(?:-bpf)?) ([a-z]+)", read("docs/using.md"), re.M)
    for program in {program for program, _ in shown}:
        path = os.path.join(os.environ["EZPROF_BIN_DIR"], program)
        if not os.path.exists(path):
            continue
        text = subprocess.run([path, "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=20,
                              check=True).stdout
        there = set(re.findall(r"^  ([a-z]+) ", text[text.index("\nCommands:"):text.index("\nOptions:")], re.M))
        for command in there ^ {command for of, command in shown if of == program}:
            yield f"docs/using.md: {program} {command}: {'not shown' if command in there else 'there is none'}"


def main():
    found = [*cookbook(), *compared(), *links(), *readme_map(), *commands()]
    print(*found, sep="\n")
    print(f"{len(found)} found")
    return 1 if found else 0


sys.exit(main())
