#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""semaphores.py PID...: prints the probe semaphores of running processes.

A probe's semaphore counts who listens to it: 0 everywhere means that nobody is attached. Reads the
stapsdt notes of every file that a process maps and the words in its memory; shares no code with
the profiler, so that it can check it. Exit status: 0 all are 0; 1 some are raised; 4 no probes.
"""
import os
import struct
import sys

PROVIDER = b"ezmsg"
PT_LOAD, SHT_NOTE = 1, 7
PAGE = os.sysconf("SC_PAGE_SIZE")


class Elf:
    """The parts of a 64-bit little-endian ELF file that matter here."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a 64-bit little-endian ELF file")
        self.data = data
        self.executable = struct.unpack_from("<H", data, 16)[0] == 2
        (self.phoff, self.shoff) = struct.unpack_from("<QQ", data, 32)
        (self.phentsize, self.phnum, self.shentsize, self.shnum, self.shstrndx) = \
            struct.unpack_from("<5H", data, 54)

    def loads(self):
        """(file offset, address) of each loaded segment, rounded down to pages as mmap does."""
        for number in range(self.phnum):
            kind, _, offset, address = struct.unpack_from("<IIQQ", self.data, self.phoff + number * self.phentsize)
            if kind == PT_LOAD:
                yield offset // PAGE * PAGE, address // PAGE * PAGE

    def sections(self):
        """Yields (name, type, address, offset, size)."""
        headers = [struct.unpack_from("<IIQQQQ", self.data, self.shoff + number * self.shentsize)
                   for number in range(self.shnum)]
        if self.shstrndx >= len(headers):
            return
        names = headers[self.shstrndx][4]
        for name, kind, _, address, offset, size in headers:
            end = self.data.index(b"\0", names + name)
            yield self.data[names + name:end], kind, address, offset, size

    def semaphores(self):
        """{probe: link-time address of its semaphore} of our provider."""
        sections = list(self.sections())
        base = next((s[2] for s in sections if s[0] == b".stapsdt.base"), 0)
        found = {}
        for name, kind, _, offset, size in sections:
            if kind == SHT_NOTE and name == b".note.stapsdt":
                for provider, probe, noted_base, semaphore in self.notes(offset, offset + size):
                    if provider == PROVIDER and semaphore:
                        found[probe.decode()] = semaphore + (base - noted_base if base else 0)
        return found

    def notes(self, at, end):
        while at + 12 <= end:
            name_size, size, _ = struct.unpack_from("<III", self.data, at)
            at += 12 + (name_size + 3) // 4 * 4
            _, base, semaphore = struct.unpack_from("<QQQ", self.data, at)
            provider, probe = self.data[at + 24:at + size].split(b"\0")[:2]
            yield provider, probe, base, semaphore
            at += (size + 3) // 4 * 4


def mapped_files(pid):
    """{(device, inode): (path to open, path to show, [(start, offset)])} of a process."""
    files = {}
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) < 6 or not fields[5].startswith("/") or fields[4] == "0":
                continue
            path = f"/proc/{pid}/map_files/{fields[0]}"
            entry = files.setdefault((fields[3], fields[4]), (path, fields[5], []))
            entry[2].append((int(fields[0].split("-")[0], 16), int(fields[2], 16)))
    return files


def bias(elf, places):
    """Where the file lies in the process: runtime address minus link-time address."""
    if elf.executable:
        return 0
    addresses = dict(elf.loads())
    return next((start - addresses[offset] for start, offset in places if offset in addresses), None)


def read_semaphores(pid):
    """Yields (file, probe, value) of every probe in the process."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for path, shown, places in mapped_files(pid).values():
            try:
                with open(path, "rb") as file:
                    elf = Elf(file.read())
                found = elf.semaphores()
            except (OSError, ValueError, struct.error):
                continue
            start = bias(elf, places)
            for probe, address in sorted(found.items()):
                if start is not None:
                    memory.seek(start + address)
                    yield shown, probe, struct.unpack("<H", memory.read(2))[0]


def main():
    pids = sys.argv[1:]
    if not pids or not all(pid.isdigit() for pid in pids):
        print(__doc__.split("\n")[0], file=sys.stderr)
        return 2
    raised = False
    for pid in pids:
        try:
            values = list(read_semaphores(pid))
        except OSError as error:
            print(f"process {pid}: {error.strerror}", file=sys.stderr)
            return 4
        if not values:
            print(f"process {pid}: no probes", file=sys.stderr)
            return 4
        for path, probe, value in values:
            print(f"{pid} {os.path.basename(path)} {probe} {value}")
        raised = raised or any(value for _, _, value in values)
    return 1 if raised else 0


sys.exit(main())
