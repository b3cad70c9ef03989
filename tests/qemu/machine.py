# SPDX-License-Identifier: MIT
"""A small virtual machine under Debian 12's stock cloud kernel: software emulation, an initramfs with
busybox and the programs asked for. Needs qemu-system-x86, busybox-static, cpio's format from busybox.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from require import skip

PACKAGE = "linux-image-cloud-amd64"
INIT = """#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mkdir -p /dev/shm /run
ip link set lo up
export EZPROF_REQUIRE_BPF=1 EZPROF_TEST_BIN_DIR=/bin
{commands}
echo "@end"
poweroff -f
"""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f"{program} is not installed")


def kernel(folder):
    """vmlinuz of the stock kernel, out of its package, kept in the build folder."""
    found = glob.glob(os.path.join(folder, "boot", "vmlinuz-*"))
    if found:
        return found[0]
    os.makedirs(folder, exist_ok=True)
    depends = subprocess.run(["apt-cache", "depends", PACKAGE], capture_output=True, text=True)
    image = re.search(r"Depends: (linux-image-\S+)", depends.stdout)
    if not image or subprocess.run(["apt-get", "download", image.group(1)], cwd=folder,
                                   capture_output=True).returncode:
        skip(f"{PACKAGE} can't be downloaded here")
    [package] = glob.glob(os.path.join(folder, "*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    os.unlink(package)
    return glob.glob(os.path.join(folder, "boot", "vmlinuz-*"))[0]


def libraries(program):
    """What the dynamic loader maps for it."""
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", listing)


def initramfs(root, programs, commands):
    for folder in ("bin", "proc", "sys", "dev", "tmp"):
        os.makedirs(os.path.join(root, folder))
    shutil.copy(shutil.which("busybox"), os.path.join(root, "bin", "busybox"))
    for applet in ("sh", "uname", "mount", "mkdir", "ip", "poweroff", "cat", "grep", "sleep"):
        os.symlink("busybox", os.path.join(root, "bin", applet))
    for program in programs:
        shutil.copy(program, os.path.join(root, "bin"))
        for library in libraries(program):
            target = os.path.join(root, library.lstrip("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(library, target)
    init = os.path.join(root, "init")
    with open(init, "w", encoding="utf-8") as file:
        file.write(INIT.format(commands="\n".join(commands)))
    os.chmod(init, 0o755)
    image = root + ".cpio"
    with open(image, "wb") as out:
        names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names, stdout=out,
                       stderr=subprocess.DEVNULL, check=True)
    return image


def run(build, programs, commands, cpus=1, maxcpus=1, memory="700M", seconds=300):
    """Boots, runs the commands, returns what came over the console."""
    need("qemu-system-x86_64", "busybox")
    vmlinuz = kernel(os.path.join(build, "kernel-6.1"))
    with tempfile.TemporaryDirectory() as folder:
        image = initramfs(os.path.join(folder, "root"), programs, commands)
        done = subprocess.run(
            ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", memory, "-nographic",
             "-no-reboot", "-nodefaults", "-serial", "stdio", "-smp", f"{cpus},maxcpus={maxcpus}",
             "-kernel", vmlinuz, "-initrd", image,
             "-append", "console=ttyS0 panic=-1 quiet"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=seconds)
    if "@end" not in done.stdout:
        raise RuntimeError("the machine did not get to its end:\n" + done.stdout[-3000:] + done.stderr)
    return done.stdout
