# SPDX-License-Identifier: MIT
"""Builds the extension on usdt/, puts the start-up hook beside the package, brings the programs.

What lies outside of this folder in the repository lies inside it, in repository/, in a source
distribution. The programs come from a build of it: EZPROF_BIN_DIR names a folder that has them, else
they are built here where CMake and the rest of scripts/deps.sh are there (with the libraries that
they need inside, libc's aside, so that a wheel runs elsewhere), else the package is without them.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
INSIDE = HERE / "repository"
REPOSITORY = INSIDE if INSIDE.is_dir() else HERE.parent
# What the extension and the programs are made from.
SOURCES = ("base", "bpf", "cli", "cmake", "graphserver", "protocol", "runtime", "usdt", "userspace",
           "views", "vmlinux", "LICENSES", "CMakeLists.txt", "LICENSE")
EXTENSION = "src/ezmsg_usdt/_ext"
HOOK = (
    "import os; os.environ.get('EZPROF_USDT') == '1' and __import__('ezmsg_usdt._start')\n"
)
PROGRAMS = ("ezprof", "ezprof-bpf", "ezprof-graphserver")
SUPPORTED = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")


def staged_usdt():
    """usdt/ inside this folder: setuptools puts objects of sources above it who knows where."""
    staged = HERE / "build" / "usdt"
    shutil.copytree(REPOSITORY / "usdt", staged, dirs_exist_ok=True)
    return staged.relative_to(HERE)


def usdt_sources(folder):
    listed = (REPOSITORY / "usdt" / "CMakeLists.txt").read_text()
    names = listed.split("add_library(ez_usdt STATIC", 1)[1].split(")", 1)[0].split()
    return [str(folder / name) for name in names]


def extensions():
    if not SUPPORTED:
        return []
    own = sorted(str(p.relative_to(HERE)) for p in (HERE / EXTENSION).glob("*.c"))
    usdt = staged_usdt()
    return [
        Extension(
            "ezmsg_usdt._ext",
            own + usdt_sources(usdt),
            include_dirs=[str(usdt)],
            depends=[str(p.relative_to(HERE)) for p in (HERE / EXTENSION).glob("*.h")],
            extra_compile_args=["-std=gnu11", "-fvisibility=hidden"],
            libraries=["pthread"],
        )
    ]


class BuildPy(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:
            Path(self.build_lib, "ezmsg_usdt.pth").write_text(HOOK)


class Sdist(sdist):
    """Also what lies outside of this folder."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in SOURCES:
            source, target = REPOSITORY / name, Path(base_dir, INSIDE.name, name)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            elif source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        if (REPOSITORY / "LICENSE").exists():
            shutil.copy(REPOSITORY / "LICENSE", base_dir)


def built_programs():
    folder = os.environ.get("EZPROF_BIN_DIR")
    if folder:
        return [str(Path(folder, name)) for name in PROGRAMS if Path(folder, name).exists()]
    if os.environ.get("EZPROF_PROGRAMS") == "0" or not (REPOSITORY / "bpf").is_dir():
        return []
    build = HERE / "build" / "portable"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    try:
        subprocess.run(
            ["cmake", "-S", str(REPOSITORY), "-B", str(build), *generator, "-DBUILD_TESTING=OFF",
             "-DCMAKE_BUILD_TYPE=Release", "-DEZPROF_STATIC_LIBRARIES=ON"], check=True)
        subprocess.run(["cmake", "--build", str(build), "-j2", "--target", *PROGRAMS], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"ezmsg-usdt: without ezprof and ezprof-bpf: {error}", file=sys.stderr)
        return []
    return [str(build / "bin" / n) for n in PROGRAMS if (build / "bin" / n).exists()]


def staged_programs():
    """Paths relative to this folder, as setuptools wants them."""
    if not SUPPORTED or not {"bdist_wheel", "install", "build", "build_scripts"} & set(sys.argv):
        return []
    staged = []
    for program in built_programs():
        target = HERE / "build" / "staged" / Path(program).name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, target)
        staged.append(str(target.relative_to(HERE)))
    return staged


setup(
    ext_modules=extensions(),
    cmdclass={"build_py": BuildPy, "sdist": Sdist},
    data_files=[("bin", staged_programs())],
)
