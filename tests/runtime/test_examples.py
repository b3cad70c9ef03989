# SPDX-License-Identifier: MIT
"""docs/runtime.md and the examples: the quoted program is the example, and each example does what it says."""
import math
import os
import re
import subprocess
import sys

from graph_client import Server

SOURCE, BIN = os.environ["EZPROF_SOURCE_DIR"], os.environ["EZPROF_BIN_DIR"]
WAIT_S = 60
BLOCKS, CHANNELS, SAMPLES = 23, 8, 25


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def quoted_program():
    """In the document as in the file, its two lines of comment aside."""
    program = re.search(r"```c\n(#include.*?)```", read("docs/runtime.md"), re.S).group(1)
    example = "".join(read("examples/hello.c").splitlines(keepends=True)[2:])
    assert program == example, "docs/runtime.md quotes another program than examples/hello.c"
    assert len([line for line in program.splitlines() if line.strip()]) <= 20, "more than 20 lines"


def functions_are_told():
    """The document's table knows every function of the header."""
    text = read("docs/runtime.md")
    for name in re.findall(r"^EZ_API .*?\b(ez_\w+)\(", read("runtime/include/ezmsg/ezmsg.h"), re.M):
        assert f"`{name}" in text, f"docs/runtime.md says nothing of {name}"


def hello(env):
    said = subprocess.run([os.path.join(BIN, "example_hello")], env=env, capture_output=True, text=True, timeout=WAIT_S)
    assert (said.returncode, said.stdout) == (0, "hello\n"), said


def mean(block):
    return sum(math.sin((block * SAMPLES + i) * 0.01) + 1 for i in range(SAMPLES)) / SAMPLES


def acquire_and_meter(env):
    with subprocess.Popen([os.path.join(BIN, "example_meter"), "SIGNAL", str(BLOCKS)], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as meter:
        assert meter.stdout.readline() == "waiting\n"
        subprocess.run([os.path.join(BIN, "example_acquire"), "SIGNAL", str(BLOCKS), "500"], env=env, check=True,
                       timeout=WAIT_S)
        for block in range(BLOCKS):
            number, value = re.fullmatch(r"block (\d+): mean (.*)\n", meter.stdout.readline()).groups()
            assert int(number) == block and abs(float(value) - mean(block)) < 0.001, (block, number, value)
        assert meter.wait(WAIT_S) == 0


def main():
    quoted_program()
    functions_are_told()
    with Server() as server:
        env = {**os.environ, "EZMSG_GRAPHSERVER_ADDR": server.address}
        hello(env)
        acquire_and_meter(env)


sys.exit(main())
