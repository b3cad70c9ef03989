# SPDX-License-Identifier: MIT
"""man.py PROGRAM=PAGE...: the manual pages say what is there.

Every option that a program's --help names (its commands' too) is in its page and the other way round, and
every choice of an option's values is there;
every probe of usdt/probe_list.h is in ezprof-probes(7) with its arguments; groff finds nothing to
complain about; ezprof-json(5) is made from docs/profile-json.md.
"""
import os
import re
import shutil
import subprocess
import sys

from tree import ROOT, read

PAGES = "docs/man/"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")


def plain(page):
    """A page's text without roff's escapes."""
    return re.sub(r"\\f[A-Z]", "", read(PAGES + page).replace("\\-", "-").replace("\\&", ""))


def help_text(program, *arguments):
    path = os.path.join(os.environ["EZPROF_BIN_DIR"], program)
    result = subprocess.run([path, *arguments, "--help"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True, timeout=20)
    if result.returncode:
        yield f"{program} {' '.join(arguments)} --help: exit status {result.returncode}"
    return result.stdout


def commands(text):
    """The commands that a program's help lists: indented words below a line "Commands:"."""
    match = re.search(r"^commands:\n((?:[ \t]+.*\n)+)", text, re.MULTILINE | re.IGNORECASE)
    return re.findall(r"^[ \t]{1,4}([a-z][a-z-]*)", match.group(1), re.MULTILINE) if match else []


def compare_options(program, page):
    text = yield from help_text(program)
    listed = commands(text)
    for command in listed:
        text += yield from help_text(program, command)
    known, shown = set(OPTION.findall(text)), set(OPTION.findall(plain(page)))
    for option in sorted(known - shown):
        yield f"{page} doesn't name {option} of {program}"
    for option in sorted(shown - known):
        yield f"{page} names {option}, which {program} doesn't have"
    for choice in {word for value in re.findall(r"^ +(?:-., )?--[a-z-]+=(\S+\|\S+)", text, re.MULTILINE)
                   for word in value.split("|")}:
        if not re.search(rf"(?<![\w-]){re.escape(choice)}(?![\w-])", plain(page)):
            yield f"{page} doesn't name the choice {choice} of {program}"
    for command in listed:
        if not re.search(rf"\b{command}\b", plain(page)):
            yield f"{page} doesn't name the command {command}"


def compare_probes():
    text = " ".join(plain("ezprof-probes.7").split())
    listed = re.findall(r'^\s*X\((\w+), \d, "([^"]*)"', read("usdt/probe_list.h"), re.MULTILINE)
    for name, arguments in listed:
        sited = f'.BI {name}( "{arguments}" )' in text
        if not sited and f".B {name} " not in text:
            yield f"ezprof-probes.7 doesn't have {name}({arguments})"
        if f"`{name}`" not in read("docs/probes.md"):
            yield f"docs/probes.md doesn't have {name}"
    if not listed:
        yield "no probe found in usdt/probe_list.h"


def lint():
    if not shutil.which("groff"):
        return
    for page in sorted(os.listdir(os.path.join(ROOT, PAGES))):
        result = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", os.path.join(ROOT, PAGES, page)],
                                stderr=subprocess.PIPE, text=True)
        yield from result.stderr.splitlines()


def generated():
    if subprocess.run([sys.executable, os.path.join(ROOT, "scripts/json-man.py"), "--check"]).returncode:
        yield "ezprof-json.5 is old"


def main():
    found = [*lint(), *compare_probes(), *generated()]
    for pair in sys.argv[1:]:
        found += compare_options(*pair.split("="))
    print(*found, sep="\n")
    print(f"{len(found)} found")
    return 1 if found else 0


sys.exit(main())
