# SPDX-License-Identifier: MIT
"""The probe sites come out as listed whatever compiles, optimises, links and strips them.

usage: builds.py
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile

import sites

USDT = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "usdt")
BARE = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "abi", "probe_bare.c")
SOURCES = [os.path.join(USDT, name) for name in ("probes.c", "registry.c", "endpoint.c", "bucket.c",
                                                     "spans.c", "counter_clock.c", "thread_work.c")] + [BARE]
LINKING = {
    "plain": [],
    "gc": ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    "stripped": ["-s"],
    "lto": ["-flto"],
    "static": ["-static"],
}


def build(compiler, level, extra, target):
    subprocess.run([compiler, level, "-g", "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden",
                    "-I", USDT, *SOURCES, *extra, "-o", target], check=True, timeout=60)


def main():
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    probes = sites.probe_list(compilers[0])
    bad = count = 0
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "bare")
        variants = [(c, level, how) for c, level in itertools.product(
            compilers, ("-O0", "-O1", "-O2", "-O3")) for how in ("plain",)]
        variants += [("gcc", "-O2", how) for how in LINKING if how != "plain"]
        variants += [("clang", "-O2", how) for how in ("gc", "stripped") if "clang" in compilers]
        for compiler, level, how in variants:
            build(compiler, level, LINKING[how], target)
            for text in sites.problems_of(target, probes):
                print(f"{compiler} {level} {how}: {text}")
                bad += 1
            subprocess.run([target], check=True, timeout=10)
            count += 1
    print(f"{count} builds, {bad} problems")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
