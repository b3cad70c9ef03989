# SPDX-License-Identifier: MIT
"""Reads the endpoint registry of a live process from outside; written apart from userspace/."""

import struct
import uuid
from dataclasses import dataclass

import elf_sites

KINDS = {1: "publisher", 2: "link", 3: "channel", 4: "client", 5: "task"}
TRANSPORTS = ("unknown", "local", "shm", "tcp")
HEADER = struct.Struct("<Q6IQ128s")
ENTRY = struct.Struct("<4I2Q16s16s16s16s3Q4I2Q2I" "2I15Q")
MAGIC = 0x47455250455A4553
CHUNK = 64


@dataclass
class Entry:
    kind: str
    id: str
    publisher_id: str
    channel_id: str
    topic: str
    handle: str
    task: str
    peer_pid: int
    transport: str
    num_buffers: int
    messages: int
    bytes: int
    leases: int
    frees: int
    drops: int
    unsized: int
    disconnect_frees: int
    blocked_ns: int
    span_ns: int
    hold_ns: int
    hold_max_ns: int
    open: bool

    @property
    def in_flight(self):
        return self.leases - self.frees


def _string(mem, address, size):
    if not address or not size:
        return ""
    mem.seek(address)
    return mem.read(size).decode()


def _entry(mem, raw):
    f = ENTRY.unpack(raw)
    ids = [str(uuid.UUID(bytes=i)) for i in f[6:10]]
    return Entry(
        kind=KINDS[f[2]], id=ids[0], publisher_id=ids[1], channel_id=ids[2],
        topic=_string(mem, f[10], f[13]), handle=_string(mem, f[11], f[14]),
        task=_string(mem, f[12], f[15]), peer_pid=f[16], num_buffers=f[3],
        transport=TRANSPORTS[f[22]], messages=f[23], bytes=f[24], leases=f[25], frees=f[26],
        drops=f[27], unsized=f[28], disconnect_frees=f[29], blocked_ns=f[31],
        span_ns=f[34], hold_ns=f[35], hold_max_ns=f[36], open=f[0] == 1,
    )


def read(pid, closed=False):
    """Entries of the first object of that process that has a registry of its own pid."""
    found, address = [], ""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for elf, start, offset in elf_sites.instrumented_maps(pid):
            vaddr = next(v - (o - offset) for v, o, _f, _m in elf.segments if o <= offset + 4095)
            for note in elf.registries():
                _version, _, table, _base = struct.unpack("<IIQQ", note[:24])
                mem.seek(table - vaddr + start)
                head = HEADER.unpack(mem.read(HEADER.size))
                if head[0] != MAGIC:
                    continue
                count, owner, address = head[5], head[4], head[8].split(b"\0")[0].decode()
                chunks = struct.unpack("<256Q", mem.read(256 * 8))
                for index in range(count):
                    mem.seek(chunks[index // CHUNK] + index % CHUNK * ENTRY.size)
                    raw = mem.read(ENTRY.size)
                    if closed or struct.unpack_from("<I", raw)[0] == 1:
                        found.append(_entry(mem, raw))
    return Registry(found, address, owner if found or address else None)


class Registry:
    def __init__(self, entries, graph_address, owner):
        self.entries, self.graph_address, self.owner = entries, graph_address, owner

    def of(self, kind, topic=None):
        return [e for e in self.entries if e.kind == kind and topic in (None, e.topic)]

    def one(self, kind, topic=None):
        found = self.of(kind, topic)
        assert len(found) == 1, (kind, topic, found)
        return found[0]
