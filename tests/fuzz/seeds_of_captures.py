# SPDX-License-Identifier: MIT
"""seeds_of_captures.py CAPTURES OUT: what recorded clients sent to a graph server, as inputs of fuzz_server.

A piece names a connection by its number modulo 4; long ones are cut.
"""
import glob
import json
import os
import sys

DIALECTS = {"profiling": 2}


def seed(path):
    connections = {}
    out = bytearray([DIALECTS.get(os.path.basename(os.path.dirname(path)), 1)])
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            if event["dir"] != "c2s" or not event["conn"].startswith("g"):
                continue
            number = connections.setdefault(event["conn"], len(connections)) % 4
            data = bytes.fromhex(event["hex"])
            for i in range(0, max(len(data), 1), 255):
                piece = data[i:i + 255]
                out += bytes([number, len(piece)]) + piece
    return bytes(out)


def main():
    os.makedirs(sys.argv[2], exist_ok=True)
    for path in sorted(glob.glob(f"{sys.argv[1]}/*/*.jsonl")):
        name = os.path.basename(os.path.dirname(path)) + "-" + os.path.basename(path)[:-len(".jsonl")]
        with open(os.path.join(sys.argv[2], name), "wb") as file:
            file.write(seed(path)[:60000])


main()
