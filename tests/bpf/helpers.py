# SPDX-License-Identifier: MIT
"""B22: the kernel functions that our BPF programs call; none reads memory of the kernel's own, or of
whichever kind an address happens to be, since a locked-down kernel refuses those. And every uprobe
program keeps its own stack: it has the tail call that is never made (bpf/hit.bpf.h).

usage: helpers.py OBJECT [OBJECT whose programs may call more]
"""

import struct
import sys

CALL, EXECINSTR, PROGBITS, SYMTAB, FUNCTION = 0x85, 0x4, 1, 2, 2
TAIL_CALL = 12
UPROBES = {"kprobe", "usdt"}  # sections
ALLOWED = {
    TAIL_CALL: "tail_call",
    1: "map_lookup_elem", 2: "map_update_elem", 3: "map_delete_elem", 5: "ktime_get_ns",
    8: "get_smp_processor_id", 14: "get_current_pid_tgid", 35: "get_current_task", 87: "map_push_elem", 88: "map_pop_elem",
    112: "probe_read_user", 131: "ringbuf_reserve", 132: "ringbuf_submit", 133: "ringbuf_discard",
    134: "ringbuf_query", 120: "get_ns_current_pid_tgid", 174: "get_attach_cookie",
}
REFUSED = {4: "probe_read", 45: "probe_read_str", 113: "probe_read_kernel",
           115: "probe_read_kernel_str", 6: "trace_printk", 36: "probe_write_user"}


def sections(path):
    """[(name, kind, flags, content)]"""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:5] == b"\x7fELF\x02", path
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    contents = [data[offset:offset + length] for _, _, _, _, offset, length in heads]
    return [(contents[names][head[0]:].split(b"\0")[0].decode(), head[1], head[2], content)
            for head, content in zip(heads, contents)]


def calls(content):
    """Numbers of the kernel functions that the code calls."""
    for at in range(0, len(content), 8):
        opcode, registers, _, number = struct.unpack_from("<BBhi", content, at)
        # A source register other than 0 means a function of our own.
        if opcode == CALL and registers >> 4 == 0:
            yield number


def programs(found, wanted):
    """How many functions begin in the section of that name."""
    [index] = [i for i, section in enumerate(found) if section[0] == wanted]
    [symbols] = [content for _, kind, _, content in found if kind == SYMTAB]
    entries = [struct.unpack_from("<IBBH", symbols, at) for at in range(0, len(symbols), 24)]
    return sum(info & 15 == FUNCTION and section == index for _, info, _, section in entries)


def main():
    for number, path in enumerate(sys.argv[1:]):
        found = sections(path)
        code = {name: list(calls(content)) for name, kind, flags, content in found
                if kind == PROGBITS and flags & EXECINSTR}
        numbers = {number for called in code.values() for number in called}
        assert numbers, "no call at all was found"
        print(sorted(ALLOWED.get(n, REFUSED.get(n, str(n))) for n in numbers))
        assert number or numbers <= set(ALLOWED), {REFUSED.get(n, n) for n in numbers - set(ALLOWED)}
        [section] = code.keys() & UPROBES
        uprobes = programs(found, section)
        print(f"{uprobes} uprobe programs")
        assert uprobes and code[section].count(TAIL_CALL) == uprobes


main()
