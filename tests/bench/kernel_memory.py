# SPDX-License-Identifier: MIT
"""kernel_memory.c on a machine with 64 possible CPUs.

usage: kernel_memory.py PROGRAM
"""
import os
import subprocess
import sys
import tempfile

from require import skip

SOURCE = os.environ["EZPROF_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "qemu"))

import guest  # noqa: E402

SECONDS = 280


def main():
    program = sys.argv[1]
    folder = os.path.join(os.environ["EZPROF_BUILD_DIR"], "linux-6.1")
    subprocess.run([os.path.join(SOURCE, "scripts", "old-kernel.sh"), folder], check=True,
                   stdout=sys.stderr)
    kernel = os.path.join(folder, "vmlinuz")
    why_not = guest.missing(kernel)
    if why_not:
        skip(why_not, "EZPROF_REQUIRE_BPF")
    job = guest.Job("memory", SECONDS, [program], {})
    archive = guest.start_archive([job])
    archive.program(program)
    with tempfile.TemporaryDirectory() as scratch:
        initrd = os.path.join(scratch, "initrd")
        archive.write(initrd)
        text, _ = guest.boot(kernel, initrd, SECONDS, smp="1,maxcpus=64", memory="1200M")
    found = guest.results(text).get("memory")
    assert found and not found.status and "64 possible CPUs" in found.text, text[-2000:]
    print(found.text)


main()
