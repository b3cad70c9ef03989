# SPDX-License-Identifier: MIT
"""Reads probe sites and the registry note out of an ELF file, and semaphores out of a process.

Written apart from the C reader of userspace/ on purpose: the two check each other.
"""

import os
import struct
from dataclasses import dataclass


@dataclass
class Site:
    provider: str
    name: str
    arguments: str
    location: int  # link-time address
    semaphore: int
    site_bytes: bytes


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        if self.data[:5] != b"\x7fELF\x02":
            raise ValueError(f"{path}: no 64-bit ELF file")
        (self.machine,) = struct.unpack_from("<H", self.data, 18)
        self.segments = self._segments()
        self.sections = self._sections()

    def _segments(self):
        (offset,) = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        loads = []
        for i in range(count):
            kind, _flags, off, vaddr, _paddr, filesz, memsz, _align = struct.unpack_from(
                "<IIQQQQQQ", self.data, offset + i * size)
            if kind == 1:
                loads.append((vaddr, off, filesz, memsz))
        return loads

    def _sections(self):
        (offset,) = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size)
               for i in range(count)]
        table = self.data[raw[names][4]:raw[names][4] + raw[names][5]]
        return {table[s[0]:table.index(b"\0", s[0])].decode(): s for s in raw}

    def offset_of(self, address):
        for vaddr, off, filesz, _memsz in self.segments:
            if vaddr <= address < vaddr + filesz:
                return address - vaddr + off
        raise ValueError(f"address {address:#x} is in no segment's file part")

    def notes(self, section):
        if section not in self.sections:
            return
        start, size = self.sections[section][4:6]
        pos, end = start, start + size
        while pos + 12 <= end:
            namesz, descsz, kind = struct.unpack_from("<III", self.data, pos)
            name = self.data[pos + 12:pos + 12 + namesz].rstrip(b"\0").decode()
            desc = pos + 12 + (namesz + 3 & ~3)
            yield name, kind, self.data[desc:desc + descsz]
            pos = desc + (descsz + 3 & ~3)

    def _base_shift(self, note_base):
        section = self.sections.get(".stapsdt.base")
        return section[3] - note_base if section and note_base else 0

    def sites(self):
        found = []
        for name, kind, desc in self.notes(".note.stapsdt"):
            if name != "stapsdt" or kind != 3:
                continue
            location, base, semaphore = struct.unpack_from("<QQQ", desc)
            provider, probe, arguments = desc[24:].split(b"\0")[:3]
            shift = self._base_shift(base)
            at = self.offset_of(location + shift)
            found.append(Site(provider.decode(), probe.decode(), arguments.decode(),
                              location + shift, semaphore + shift if semaphore else 0,
                              self.data[at:at + 8]))
        return found

    def registries(self):
        return [desc for name, kind, desc in self.notes(".note.ezprof")
                if name == "ezprof" and kind == 1]


def instrumented_maps(pid):
    """(path in /proc/PID/map_files, start, file offset) of the first mapping of each object with our probes."""
    seen = {}
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            fields = line.split(None, 5)
            if len(fields) < 6 or fields[4] == "0" or not fields[5].startswith("/"):
                continue
            key = (fields[3], fields[4])
            if key in seen:
                continue
            seen[key] = None
            path = f"/proc/{pid}/map_files/{fields[0]}"
            try:
                elf = Elf(path)
            except (OSError, ValueError):
                continue
            if any(site.provider == "ezmsg" for site in elf.sites()):
                start = int(fields[0].split("-")[0], 16)
                seen[key] = (elf, start, int(fields[2], 16))
    return [v for v in seen.values() if v]


def semaphores(pid):
    """{probe name: largest semaphore value} over all objects of a live process."""
    values = {}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for elf, start, offset in instrumented_maps(pid):
            vaddr = next(v - (o - offset) for v, o, _f, _m in elf.segments if o <= offset + 4095)
            bias = start - (vaddr & ~0xfff)
            for site in elf.sites():
                if site.provider != "ezmsg":
                    continue
                data = os.pread(mem.fileno(), 2, site.semaphore + bias)
                value = struct.unpack("<H", data)[0]
                values[site.name] = max(values.get(site.name, 0), value)
    return values
