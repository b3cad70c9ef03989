# SPDX-License-Identifier: MIT
"""B01, B04, B07 for the extension: what every compiler and linker makes of its probe sites."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import bare
import elf_sites
import environment
import harness

EXTENSION = environment.SOURCE / "python/src/ezmsg_usdt/_ext"
USDT = environment.SOURCE / "usdt"
PROBES = {"publish", "lease", "free", "callback_begin", "callback_end", "backpressure_begin",
          "backpressure_end", "endpoint_open", "endpoint_close"}
REGISTERS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]


def sources():
    listed = (USDT / "CMakeLists.txt").read_text()
    names = listed.split("add_library(ez_usdt STATIC", 1)[1].split(")", 1)[0].split()
    return [str(USDT / n) for n in names] + [str(p) for p in sorted(EXTENSION.glob("*.c"))]


def check(path):
    elf = elf_sites.Elf(path)
    sites = [s for s in elf.sites() if s.provider == "ezmsg"]
    assert PROBES <= {s.name for s in sites}, path
    assert len({s.name for s in sites}) == len(sites), "one site per probe"
    for site in sites:
        assert site.semaphore, site
        if elf.machine == 62:
            longer = (b"\x66\x90", b"\x0f\x1f")
            assert site.site_bytes[0] == 0x90 and site.site_bytes[1:3] not in longer, site
            wanted = " ".join(f"8@%{r}" for r in REGISTERS[:len(site.arguments.split())])
            assert site.arguments == wanted, site
    assert len(elf.registries()) == 1


def build(folder, compiler, level, linker, extra):
    out = folder / f"_ext{sysconfig.get_config_var('EXT_SUFFIX')}"
    done = subprocess.run(
        [compiler, level, "-fPIC", "-shared", "-fvisibility=hidden", "-std=gnu11", "-w",
         f"-fuse-ld={linker}", *extra, f"-I{sysconfig.get_path('include')}", f"-I{USDT}",
         *sources(), "-o", str(out), "-lpthread"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return out


def test_builds():
    """B01, B04: levels, compilers, linkers, garbage collection of sections, stripping."""
    compilers = [c for c in ("gcc", "clang-14", "clang") if shutil.which(c)]
    linkers = [name for name, program in (("bfd", "ld.bfd"), ("gold", "ld.gold"),
                                          ("lld", "ld.lld")) if shutil.which(program)]
    variants = [(c, level, "bfd", []) for c in compilers[:2] for level in ("-O0", "-O3")]
    variants += [(compilers[0], "-O2", linker,
                  ["-Wl,--gc-sections", "-ffunction-sections", "-fdata-sections", "-s"])
                 for linker in linkers]
    variants.append((compilers[0], "-O2", "bfd", ["-flto"]))
    for variant in variants:
        with tempfile.TemporaryDirectory() as folder:
            check(build(Path(folder), *variant))
            print("     ", *map(str, variant), flush=True)


def test_installed():
    """B07: the probes are in a shared object that python3 loads; found through its mappings."""
    python = environment.ensure("3.9.0")
    found = subprocess.run([python, "-c", "import ezmsg_usdt._ext as e; print(e.__file__)"],
                           capture_output=True, text=True, check=True).stdout.strip()
    check(found)
    others = bare.libraries_of(found) - bare.LIBC
    assert all(name.startswith("libpython") for name in others), others
    refused = subprocess.run([str(harness.BIN / "ezprof-bpf"), "attach", str(os.getpid())],
                             capture_output=True, text=True, timeout=30)
    assert refused.returncode != 0 and len(refused.stderr.splitlines()) <= 4, refused


TESTS = (test_builds, test_installed)

if __name__ == "__main__":
    failed = 0
    for test in TESTS:
        test()
        print("ok  ", test.__name__)
    sys.exit(failed)
