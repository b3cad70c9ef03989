# SPDX-License-Identifier: MIT
"""The Python package for aarch64: the wheel is cross-built with its programs, its types are compared
with ezmsg's own, a graph runs and the programs answer, under user-mode emulation.

usage: EZPROF_AARCH64_PYTHON=FOLDER python_aarch64.py CC

FOLDER gets Debian's Python and libraries for aarch64 (apt with a state of its own there; nothing of
it is installed on this machine) and the wheels of numpy and psutil; what it has is used again. 236 MB,
two to four minutes on two busy cores the first time.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(os.environ["EZPROF_SOURCE_DIR"])
sys.path += [str(SOURCE / "tests" / "abi"), str(SOURCE / "tests" / "python")]
import bare  # noqa: E402
import environment  # noqa: E402
import sites  # noqa: E402
from require import skip  # noqa: E402

FOLDER = Path(os.environ.get("EZPROF_AARCH64_PYTHON", "")).resolve()
ROOT, SITE = FOLDER / "root", FOLDER / "site"
PYTHON = ["qemu-aarch64", "-L", str(ROOT), str(ROOT / "usr/bin/python3.11")]
COMPILER = "aarch64-linux-gnu-gcc"
PACKAGES = ("python3.11", "libpython3.11-dev", "python3-distutils", "libbpf-dev", "libelf-dev", "zlib1g-dev",
            "libjson-c-dev", "libevent-dev", "libseccomp-dev", "libcap-ng-dev", "uuid-dev")
TOOLS = ("setuptools==75.6.0", "wheel==0.45.1")
PLATFORMS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")
GRAPH = """
import asyncio
import ezmsg.core as ez
import ezmsg_usdt
ezmsg_usdt.enable()
async def main():
    async with ez.GraphContext() as context:
        topics = {"A": {}, "B": {"force_tcp": True}}
        ends = [(await context.subscriber(t), await context.publisher(t, **o)) for t, o in topics.items()]
        for number in range(1003):
            for subscriber, publisher in ends:
                await publisher.broadcast(number)
                async with subscriber.recv_zero_copy() as message:
                    assert message == number
        assert ezmsg_usdt.status()["installed"], ezmsg_usdt.status()
asyncio.run(main())
print("graph ran")
"""


def run(command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600, **options)
    if done.returncode:
        sys.exit(f"{command[0]} {command[1]}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def get_python():
    """Debian's packages, unpacked; apt keeps to FOLDER with all that it writes."""
    state = FOLDER / "apt"
    for name in ("lists/partial", "archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    (state / "conf").write_text(
        f'APT::Architecture "arm64";\nAPT::Architectures {{ "arm64"; }};\nDir::State "{state}";\n'
        f'Dir::State::status "{state}/status";\nDir::Cache "{state}";\n')
    apt = ["apt-get", "-q", "-c", state / "conf"]
    run([*apt, "update"])
    run([*apt, "-d", "-y", "--no-install-recommends", "install", *PACKAGES])
    for package in (state / "archives").glob("*.deb"):
        run(["dpkg-deb", "-x", package, ROOT])
    shutil.rmtree(state)


def get_packages(pip):
    wheels = FOLDER / "wheels"
    run([*pip, "download", "--no-deps", "-d", wheels, *TOOLS])
    run([*pip, "download", "--no-deps", "-d", wheels, "--python-version", "3.11",
         "--only-binary=:all:", *(f"--platform={p}" for p in PLATFORMS), "numpy", "psutil"])
    for wheel in wheels.glob("*.whl"):
        unzip(wheel, FOLDER / "tools" if re.match("setuptools|wheel", wheel.name) else FOLDER / "packages")


def unzip(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def build_programs():
    """With everything but libc inside. Returns their folder."""
    build, libraries = FOLDER / "programs", ROOT / "usr/lib/aarch64-linux-gnu"
    run(["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "--toolchain",
         SOURCE / "cmake/aarch64-linux-gnu.cmake", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
         "-DEZPROF_STATIC_LIBRARIES=ON"],
        env=os.environ | {"PKG_CONFIG_SYSROOT_DIR": str(ROOT),
                          "PKG_CONFIG_LIBDIR": str(libraries / "pkgconfig")})
    run(["ninja", "-C", build, "-j2", *bare.PROGRAMS])
    return build / "bin"


def check_programs(folder):
    """They answer, with the libraries of a root that has libc and nothing else."""
    bare.check_libc_only(folder)
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "lib").mkdir()
        for name in bare.LIBC:
            for path in (ROOT / "lib/aarch64-linux-gnu").glob(name):
                shutil.copy(path, Path(root) / "lib")
        for name in bare.PROGRAMS:
            (folder / name).chmod(0o755)  # what pip does, and unzipping doesn't
            bare.check_speaks(PYTHON[0], "-L", root, folder / name)
    print(*bare.PROGRAMS, "answer")


def build_wheel(programs):
    """On a copy of the sources, by the foreign Python and the cross compiler."""
    copy, target = FOLDER / "src", FOLDER / "wheel"
    for folder in (copy, target, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    for name in ("python", "usdt"):
        shutil.copytree(SOURCE / name, copy / name, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    run([*PYTHON, "setup.py", "-q", "bdist_wheel", "-d", target], cwd=copy / "python",
        env=os.environ | {"PYTHONPATH": str(FOLDER / "tools"), "EZPROF_BIN_DIR": str(programs),
                          "CC": COMPILER, "LDSHARED": f"{COMPILER} -shared",
                          "CFLAGS": f"-I{ROOT}/usr/include -O2"})
    (wheel,) = target.glob("ezmsg_usdt-*-linux_aarch64.whl")
    unzip(wheel, SITE)
    (extension,) = glob.glob(f"{SITE}/ezmsg_usdt/_ext*.so")
    return extension


def main():
    for program in (COMPILER, PYTHON[0], "apt-get", "ninja"):
        if not shutil.which(program):
            skip(f"no {program}", "EZPROF_REQUIRE_BPF")
    native = environment.ensure("3.9.0")
    if not ROOT.exists():
        get_python()
    if not (FOLDER / "packages").exists():
        get_packages([native, "-m", "pip", "--disable-pip-version-check", "-q"])
    extension = build_wheel(build_programs())
    (unpacked,) = SITE.glob("ezmsg_usdt-*.data/data/bin")
    check_programs(unpacked)
    problems = list(sites.problems_of(extension, sites.probe_list(sys.argv[1])))
    assert not problems, problems
    there = run([native, "-c", "import ezmsg.core as e, os; print(os.path.dirname(os.path.dirname(e.__file__)))"])
    shutil.copytree(there.strip(), SITE / "ezmsg")
    (typing,) = Path(there.strip()).parent.glob("typing_extensions.py")
    shutil.copy(typing, SITE)
    (information,) = Path(there.strip()).parent.glob("ezmsg-*.dist-info")
    shutil.copytree(information, SITE / information.name)
    env = {k: v for k, v in os.environ.items() if not k.startswith("EZ")} | \
        {"PYTHONPATH": f"{SITE}:{FOLDER / 'packages'}"}
    print(run([*PYTHON, SOURCE / "tests" / "python" / "types_peer.py"], env=env), end="")
    print(run([*PYTHON, "-c", GRAPH], env=env), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
