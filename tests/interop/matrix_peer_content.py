# SPDX-License-Identifier: MIT
"""What matrix_peer.c says that a message holds, without numpy."""
import array
import functools


@functools.lru_cache(maxsize=None)
def content(kind, size, number):
    if kind == "array":
        return array.array("f", ((31 * number + 7 * j) & 0xFFFF for j in range(size))).tobytes()
    return bytes((31 * number + 7 * j) & 0xFF for j in range(size))
