# SPDX-License-Identifier: MIT
"""Builds the extension on usdt/, puts the start-up hook beside the package, brings the programs.

usdt/ is the repository's own; in a source distribution it lies inside this folder. The programs
come from a build of the repository: EZPROF_BIN_DIR names a folder that has them, else they are
built here where CMake and the rest of scripts/deps.sh are there (with the libraries that they need
inside, libc's aside, so that a wheel runs elsewhere), else the package is without them.
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
REPOSITORY = HERE.parent
EXTENSION = "src/ezmsg_usdt/_ext"
HOOK = (
    "import os; os.environ.get('EZPROF_USDT') == '1' and __import__('ezmsg_usdt._start')\n"
)
PROGRAMS = ("ezprof", "ezprof-bpf", "ezprof-graphserver")
SUPPORTED = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")


def usdt_folder():
    inside = HERE / "usdt"
    return inside if (inside / "CMakeLists.txt").exists() else REPOSITORY / "usdt"


def staged_usdt():
    """usdt/ inside this folder: setuptools puts objects of sources above it who knows where."""
    if usdt_folder() == HERE / "usdt":
        return Path("usdt")
    staged = HERE / "build" / "usdt"
    shutil.copytree(usdt_folder(), staged, dirs_exist_ok=True)
    return staged.relative_to(HERE)


def usdt_sources(folder):
    listed = (usdt_folder() / "CMakeLists.txt").read_text()
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
    """Everything the extension is built from, which lies outside of this folder."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if usdt_folder() != HERE / "usdt":
            shutil.copytree(usdt_folder(), Path(base_dir, "usdt"), dirs_exist_ok=True)
        license_file = REPOSITORY / "LICENSE"
        if license_file.exists():
            shutil.copy(license_file, base_dir)


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
            ["cmake", "-S", str(REPOSITORY), "-B", str(build), *generator, "-DCMAKE_BUILD_TYPE=Release",
             "-DBUILD_TESTING=OFF", "-DEZPROF_STATIC_LIBRARIES=ON"], check=True)
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
