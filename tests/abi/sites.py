# SPDX-License-Identifier: MIT
"""The ELF notes and site bytes of every object that ships probes, compared with probe_list.h.

usage: sites.py CC FILE...
"""

import os
import re
import subprocess
import sys

from elf_sites import Elf

REGISTERS = {
    62: ["%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"],
    183: ["x0", "x1", "x2", "x3", "x4", "x5"],
}
NOP = {62: b"\x90", 183: bytes.fromhex("1f2003d5")}


def probe_list(cc):
    """{name: argument count}, as the preprocessor sees the list."""
    text = '#include "probe_list.h"\n#define P(name, n, args, meaning) @name=n@\nEZ_PROBE_LIST(P)\n'
    usdt = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "usdt")
    out = subprocess.run([cc, "-E", "-P", "-I", usdt, "-"], input=text, text=True, check=True,
                         capture_output=True).stdout
    return {name: int(n) for name, n in re.findall(r"@(\w+)=(\d)@", out)}


def problems_of(path, probes):
    elf = Elf(path)
    sites = [site for site in elf.sites() if site.provider == "ezmsg"]
    names = [site.name for site in sites]
    registers = REGISTERS[elf.machine]
    for name in sorted(probes.keys() - set(names)):
        yield f"no site of {name}"
    for site in sites:
        if site.name not in probes:
            yield f"{site.name} is not in the list"
            continue
        wanted = " ".join("8@" + r for r in registers[:probes[site.name]])
        if site.arguments != wanted:
            yield f"{site.name}: arguments {site.arguments!r}, not {wanted!r}"
        if not site.site_bytes.startswith(NOP[elf.machine]):
            yield f"{site.name}: site starts with {site.site_bytes.hex()}"
        if not site.semaphore:
            yield f"{site.name}: no semaphore"
        else:
            elf.offset_of(site.semaphore)
    if len({site.semaphore for site in sites}) != len(set(names)):
        yield "semaphores are not one per probe"
    if len(elf.registries()) != 1:
        yield f"{len(elf.registries())} registry notes, not 1"


def main():
    cc, *files = sys.argv[1:]
    probes = probe_list(cc)
    assert probes, "the probe list is empty"
    bad = [f"{path}: {text}" for path in files for text in problems_of(path, probes)]
    print("\n".join(bad) or f"{len(files)} objects, {len(probes)} probes each: as listed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
