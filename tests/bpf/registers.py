# SPDX-License-Identifier: MIT
"""The registers as our hand-picked vmlinux.h lays them out are where the running kernel has them.

registers.py OBJECT: compares the BTF of the BPF object with that of the kernel.
"""
import json
import os
import subprocess
import sys

from require import skip

KERNEL = "/sys/kernel/btf/vmlinux"
NAMES = {"x86_64": "pt_regs", "aarch64": "user_pt_regs"}


def members(path, name):
    """Returns {member: bit offset} of that struct."""
    dump = subprocess.run(["bpftool", "-j", "btf", "dump", "file", path],
                          stdout=subprocess.PIPE, check=True).stdout
    for kind in json.loads(dump)["types"]:
        if kind["kind"] == "STRUCT" and kind["name"] == name:
            return {m["name"]: m["bits_offset"] for m in kind["members"]}
    return {}


def main():
    name = NAMES.get(os.uname().machine)
    os.environ["PATH"] += ":/usr/sbin:/usr/local/sbin"
    if not name or not os.path.exists(KERNEL):
        skip("no BTF of the running kernel")
    ours = members(sys.argv[1], name)
    kernel = members(KERNEL, name)
    used = {"di", "si", "dx", "cx", "r8", "r9"} if name == "pt_regs" else {"regs"}
    print(f"{name}: {len(ours)} members here, {len(kernel)} in the kernel")
    wrong = [m for m in used if ours.get(m) is None or ours.get(m) != kernel.get(m)]
    print(*[f"{m}: {ours.get(m)} here, {kernel.get(m)} in the kernel" for m in wrong], sep="\n")
    return 1 if wrong else 0


sys.exit(main())
