# SPDX-License-Identifier: MIT
"""B22: the kernel functions that our BPF programs call; none reads memory of the kernel's own, or of
whichever kind an address happens to be, since a locked-down kernel refuses those.

usage: helpers.py OBJECT
"""

import struct
import sys

CALL, EXECINSTR, PROGBITS = 0x85, 0x4, 1
ALLOWED = {
    1: "map_lookup_elem", 2: "map_update_elem", 3: "map_delete_elem", 5: "ktime_get_ns",
    8: "get_smp_processor_id", 14: "get_current_pid_tgid", 87: "map_push_elem", 88: "map_pop_elem",
    112: "probe_read_user", 131: "ringbuf_reserve", 132: "ringbuf_submit", 133: "ringbuf_discard",
    134: "ringbuf_query", 120: "get_ns_current_pid_tgid", 174: "get_attach_cookie",
}
REFUSED = {4: "probe_read", 45: "probe_read_str", 113: "probe_read_kernel",
           115: "probe_read_kernel_str", 6: "trace_printk", 36: "probe_write_user"}


def code(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:5] == b"\x7fELF\x02", path
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    for i in range(count):
        _, kind, flags, _, offset, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        if kind == PROGBITS and flags & EXECINSTR:
            yield data[offset:offset + length]


def main():
    found = set()
    for section in code(sys.argv[1]):
        for at in range(0, len(section), 8):
            opcode, registers, _, number = struct.unpack_from("<BBhi", section, at)
            # A source register other than 0 means a function of our own.
            if opcode == CALL and registers >> 4 == 0:
                found.add(number)
    assert found, "no call at all was found"
    print(sorted(ALLOWED.get(n, REFUSED.get(n, str(n))) for n in found))
    assert found <= set(ALLOWED), {REFUSED.get(n, n) for n in found - set(ALLOWED)}


main()
