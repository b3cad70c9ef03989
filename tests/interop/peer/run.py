# SPDX-License-Identifier: MIT
"""run.py VENV [MODULE...]: ezmsg 3.9.0's own tests, unchanged, against our server; a table of the outcome.

The tests come with the source distribution, by pip, into a folder beside the virtual environment; pytest and
what the tests import go into an environment of their own. Not committed, not changed. EZPROF_PEER=own runs them
against ezmsg's own server, for comparison. Without MODULE all of them.
"""
import collections
import glob
import os
import subprocess
import sys
import xml.etree.ElementTree

VERSION = "3.9.0"
HERE = os.path.dirname(os.path.abspath(__file__))
# ezmsg's groups "test" and "perf".
NEEDED = [f"ezmsg=={VERSION}", "numpy", "pytest", "pytest-asyncio", "pytest-benchmark", "pytest-timeout", "psutil",
          "xarray"]
SKIPPED = 77


def skip(reason):
    print(reason)
    sys.exit(1 if os.environ.get("EZPROF_REQUIRE_INTEROP") == "1" else SKIPPED)


def pip(python, *arguments):
    result = subprocess.run([python, "-m", "pip", "-q", "--disable-pip-version-check", "--no-input", *arguments],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        skip("pip: " + (result.stdout.strip().splitlines() or ["failed"])[-1])


def prepare(folder):
    """The environment's Python and the folder of the sources, made once."""
    python, sources = f"{folder}/bin/python", f"{folder}/ezmsg-{VERSION}"
    if not os.path.exists(f"{folder}/complete"):
        if subprocess.run([sys.executable, "-m", "venv", folder]).returncode:
            skip("no virtual environment")
        pip(python, "install", *NEEDED)
        pip(python, "download", "--no-deps", "--no-binary", ":all:", "-d", folder, f"ezmsg=={VERSION}")
        (archive,) = glob.glob(f"{folder}/ezmsg-*.tar.gz")
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        open(f"{folder}/complete", "w").close()
    return python, sources


def table(report):
    """Per module: passed, failed, skipped; and the names of what failed."""
    counts, failed = collections.defaultdict(collections.Counter), []
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        module = case.get("classname", "").removeprefix("tests.").split(".Test")[0] or case.get("name")
        outcome = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
        counts[module][outcome] += 1
        if outcome in ("failure", "error"):
            failed.append(f"{module}::{case.get('name')}")
    for module, count in sorted(counts.items()):
        print(f"| {module} | {count['passed']} | {count['failure'] + count['error']} | {count['skipped']} |")
    return failed, sum(count["passed"] for count in counts.values())


def main():
    python, sources = prepare(sys.argv[1])
    report = f"{sys.argv[1]}/report.xml"
    ours = os.environ.get("EZPROF_PEER") != "own"
    modules = [f"tests/{name}.py" for name in sys.argv[2:]] or ["tests"]
    command = [python, "-m", "pytest", *(["-p", "ezprof_peer"] if ours else []), "-q", "--timeout", "60", "-o",
               "pythonpath=tests", "--benchmark-disable", f"--junitxml={report}", *modules]
    result = subprocess.run(command, cwd=sources, env={**os.environ, "PYTHONPATH": HERE}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not os.path.exists(report):
        print(result.stdout)
        return 1
    failed, passed = table(report)
    if failed:
        print(result.stdout[-6000:])
    print(f"{passed} passed", *failed, sep="\nfailed: ")
    return 1 if failed or not passed else 0


sys.exit(main())
