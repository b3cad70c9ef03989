# SPDX-License-Identifier: MIT
"""The BPF suite in a virtual machine with an old kernel: every test with the label "bpf" that ctest
knows, except for those named here.

usage: suite.py KERNEL VARIANT [PATTERN]   (PATTERN: only jobs whose names match it)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import guest
from require import skip

# Tests that don't run in the guest, and why.
WITHOUT = {
    "bpf_bpftrace": "bpftrace and its LLVM are not in the guest",
    "bpf_counts_perf_event": "this kernel has nothing but perf_event: bpf_counts is the same",
    "bpf_spans_perf_event": "the same as bpf_spans there",
    "bpf_cycles": "a thousand detaches at half a second each",
    "bpf_helpers": "no matter of the kernel",
    "bpf_overlap_stops": "this kernel lets no program sleep that uses a queue",
    "bpf_overlap_unprotected": "the same",
    "bpf_thirty_two_bits": "no compiler there, and no matter of the kernel",
}
VARIANTS = {
    # name: (jobs by pattern, QEMU's -smp, kernel's command line)
    "suite": (r"bpf_", "2", ""),
    # By name: what is about the kernel, and there is time for.
    "agent": (r"e2e_(bad_targets|discovery|kernel_counts|many_targets|rights|sched|status)$", "2", ""),
    # 64 possible CPUs, and one on which programs preempt each other wherever they are.
    "cpus64": (r"bpf_(counts|intervals|memory|overlap|window.*)$", "1,maxcpus=64", "preempt=full"),
}
SECONDS = 840  # five times what it takes alone; within ctest's own limit, so that what ended is told
SLOWER = 5  # than this machine, at worst
PROGRAMS = ("setpriv", "prlimit", "unshare", "bpftool", "true", "sleep", "bash", "ip", "nsenter")
STDLIB_WITHOUT = ("test", "idlelib", "tkinter", "lib2to3", "pydoc_data", "ensurepip", "distutils",
                  "site-packages", "dist-packages", "turtledemo")


def tests_with_label_bpf(build):
    out = subprocess.run(["ctest", "--test-dir", build, "-L", "^bpf$", "-LE", "^slow$",
                          "--show-only=json-v1"], stdout=subprocess.PIPE, check=True).stdout
    for test in json.loads(out)["tests"]:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        environment = dict(line.split("=", 1) for line in properties["ENVIRONMENT"])
        yield test["name"], test["command"], int(properties["TIMEOUT"]), environment


def jobs_of(build, pattern):
    for name, command, seconds, environment in tests_with_label_bpf(build):
        if not re.match(pattern, name):
            continue
        if command[1:] and command[1].endswith(".py"):
            command = [sys.executable, *command[1:]]
        environment |= {"EZPROF_REQUIRE_BPF": "1", "EZPROF_TEST_EMULATED": "1"}
        yield guest.Job(name, seconds * SLOWER, command, environment)


def add_python(archive):
    archive.program(os.path.realpath(sys.executable))
    archive.file(sys.executable)
    stdlib = sysconfig.get_path("stdlib")
    archive.tree(stdlib, STDLIB_WITHOUT)
    for name in os.listdir(f"{stdlib}/lib-dynload"):
        archive.program(f"{stdlib}/lib-dynload/{name}")


def fill(archive, build, source, jobs):
    """Our programs, the tests' sources where they are scripts, and what both use."""
    for folder in (f"{build}/bin", f"{build}/tests/bin", f"{build}/lib"):
        for name in os.listdir(folder):
            if not name.startswith(("test_", "fuzz_", "bench_")) and not name.endswith(".a"):
                archive.program(os.path.join(folder, name))
    # Loaded when a thread is cancelled, and in no list of libraries.
    archive.file("/lib/x86_64-linux-gnu/libgcc_s.so.1")
    for name in PROGRAMS:
        path = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/sbin")
        if path:
            archive.program(path)
    if not any(".py" in word for job in jobs for word in job.command):
        return
    for folder in ("tests/support", "tests/bpf", "tests/e2e", "tests/data", "scripts", "usdt"):
        archive.tree(os.path.join(source, folder), ("__pycache__",))
    archive.tree(f"{build}/bpf", ("CMakeFiles",))
    add_python(archive)


def report(jobs, text, ended):
    found = guest.results(text)
    bad = []
    for job in jobs:
        result = found.get(job.name)
        if result is None:
            bad.append(job.name)
            print(f"{job.name}: didn't end")
        elif result.status:
            bad.append(job.name)
            print(f"{job.name}: exit status {result.status} after {result.seconds} s\n{result.text}")
        else:
            print(f"{job.name}: passed in {result.seconds} s")
            # Not cmocka's own lines.
            print(*re.findall(r"^(?!\[).+$", result.text, re.M), sep="\n")
    if not ended or "@@ done" not in text:
        bad.append("the guest")
        print("the guest was stopped; its last words:", text[-2000:], sep="\n")
    print(f"{len(jobs)} jobs, {len(bad)} failed")
    return 1 if bad else 0


def main():
    kernel, variant, *only = sys.argv[1:]
    build, source = os.environ["EZPROF_BUILD_DIR"], os.environ["EZPROF_SOURCE_DIR"]
    why_not = guest.missing(kernel)
    if why_not:
        skip(why_not, "EZPROF_REQUIRE_BPF")
    pattern, smp, append = VARIANTS[variant]
    jobs = [job for job in jobs_of(build, only[0] if only else pattern)
            if only or job.name not in WITHOUT]
    archive = guest.start_archive(jobs)
    fill(archive, build, source, jobs)
    with tempfile.TemporaryDirectory() as folder:
        initrd = os.path.join(folder, "initrd")
        archive.write(initrd)
        text, ended = guest.boot(kernel, initrd, SECONDS, smp=smp, append=append)
    print(*re.findall(r"@@ kernel (.*)", text))
    return report(jobs, text, ended)


if __name__ == "__main__":
    sys.exit(main())
