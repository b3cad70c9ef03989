# SPDX-License-Identifier: MIT
"""Virtual environments with one release of ezmsg and our package in it, made once per build."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import require
from preload import SANITIZER

VERSIONS = ("3.7.3", "3.8.0", "3.9.0", "3.10.0b5")
SOURCE = Path(os.environ.get("EZPROF_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("EZPROF_BUILD_DIR", "/tmp/ezprof-python")) / "python-venvs"


def _run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          **options)


# What setuptools adds to its own where the build has the address sanitizer.
SANITIZED = {"CFLAGS": "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g",
             "LDFLAGS": "-fsanitize=address,undefined"} if "asan" in SANITIZER else {}


def _forget_objects():
    """setuptools keeps them beside the sources, and would take them for a build without sanitizers."""
    if SANITIZED:
        shutil.rmtree(SOURCE / "python" / "build", ignore_errors=True)


def _package_digest():
    total = hashlib.sha256(b"without programs" + str(SANITIZED).encode() * bool(SANITIZED))
    for folder in (SOURCE / "python", SOURCE / "usdt"):
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if path.is_file() and not {"build", "__pycache__"} & set(parts) and \
                    path.suffix not in (".so", ".pyc") and ".egg-info" not in str(path):
                total.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return total.hexdigest()


def _pip(python, *arguments):
    """Without the programs: tests take those of the build, never ones that have grown old here."""
    env = {k: v for k, v in os.environ.items() if k != "EZPROF_BIN_DIR"}
    done = _run(python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install",
                "--retries", "1", "--timeout", "20", "-q", *arguments,
                env=env | {"EZPROF_PROGRAMS": "0"} | SANITIZED)
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        require.skip(f"pip can't install {' '.join(arguments)}: {''.join(last)[:200]}",
                     "EZPROF_REQUIRE_INTEROP")


def _ensure(folder, packages, base):
    python, mark = folder / "bin" / "python", folder / "packages"
    if not python.exists():
        done = _run(base, "-m", "venv", folder)
        if done.returncode:
            require.skip(f"no virtual environment: {done.stderr[-200:]}",
                         "EZPROF_REQUIRE_INTEROP")
    wanted = "\n".join(packages)
    if not mark.exists() or mark.read_text() != wanted:
        _pip(python, *packages)
        mark.write_text(wanted)
    digest, own = _package_digest(), folder / "own"
    if not own.exists() or own.read_text() != digest:
        _forget_objects()
        try:
            _pip(python, "--force-reinstall", "--no-deps", str(SOURCE / "python"))
        finally:
            _forget_objects()
        own.write_text(digest)
    return str(python)


def ensure(version, *more, base=sys.executable, name=""):
    """Interpreter of an environment with that ezmsg. Skips (or fails) the test where pip can't."""
    folder = BUILD / f"ezmsg-{version}{name}"
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(folder.suffix + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _ensure(folder, [f"ezmsg=={version}", "numpy", *more], base)


def sources(version, folder):
    """Unpacks that release's source distribution; returns its root."""
    python = ensure(version)
    done = _run(python, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-binary",
                "ezmsg", "--no-deps", "-d", str(folder), f"ezmsg=={version}")
    archives = list(Path(folder).glob("ezmsg-*.tar.gz"))
    if not archives:
        require.skip(f"no source distribution of ezmsg {version}: {done.stderr[-200:]}",
                     "EZPROF_REQUIRE_INTEROP")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return next(Path(folder).glob("ezmsg-*/"))
