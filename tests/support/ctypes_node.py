# SPDX-License-Identifier: MIT
"""A process that becomes instrumented when it is told to: libezmsg through ctypes.

Commands on stdin, one line each; one line of JSON as the answer, and one when it starts.
    load PATH | memfd PATH      loads the library, from a file in memory
    open TOPIC                  the newest library: a context and a publisher
    publish TOPIC COUNT
    spawn                       a child by fork that obeys the commands of `tell`
    tell COMMAND...             has the newest child do it
    fork TOPIC TIMES PAUSE_MS   children, one after the other, that publish on the parent's handle
    pool TOPIC TIMES            the same by multiprocessing's fork
    exec COMMAND...             becomes another program
"""

import ctypes
import json
import multiprocessing
import os
import sys
import time

libraries, publishers, children, kept = [], {}, [], []


def load(path):
    libraries.append(ctypes.CDLL(path))


def memfd(path):
    fd = os.memfd_create("in-memory")
    with open(path, "rb") as source, open(fd, "wb", closefd=False) as copy:
        copy.write(source.read())
    load(f"/proc/self/fd/{fd}")


def open_publisher(topic):
    library = libraries[-1]
    context, publisher = ctypes.c_void_p(), ctypes.c_void_p()
    err = library.ez_context_create(None, ctypes.byref(context))
    assert not err, err
    err = library.ez_publisher_create(context, topic.encode(), None, ctypes.byref(publisher))
    assert not err, err
    publishers[topic] = (library, publisher)


def publish(topic, count):
    library, publisher = publishers[topic]
    data = b"x" * 64
    for _ in range(count):
        err = library.ez_publish_bytes(publisher, data, ctypes.c_size_t(len(data)),
                                       ctypes.c_int64(1_000_000_000))
        assert not err, err


def try_publish(topic):
    """In a forked child the parent's endpoint is nobody's; what counts is that it survives."""
    library, publisher = publishers[topic]
    library.ez_publish_bytes(publisher, b"x", ctypes.c_size_t(1), ctypes.c_int64(0))


def spawn():
    down, up = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(down[0], 0)
        os.dup2(up[1], 1)
        for fd in (*down, *up):
            os.close(fd)
        kept.extend((sys.stdin, sys.stdout))  # or they would close what is 0 and 1 now
        sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
        serve()
        os._exit(0)
    os.close(down[0])
    os.close(up[1])
    children.append((pid, os.fdopen(down[1], "w"), os.fdopen(up[0], "r")))
    return pid


def tell(*words):
    _, down, up = children[-1]
    down.write(" ".join(words) + "\n")
    down.flush()
    return json.loads(up.readline())


def fork(topic, times, pause_ms):
    bad = 0
    for _ in range(times):
        pid = os.fork()
        if pid == 0:
            try_publish(topic)
            os._exit(0)
        bad += os.waitpid(pid, 0)[1] != 0
        publish(topic, 1)
        time.sleep(pause_ms / 1000)
    return bad


def pool(topic, times):
    context = multiprocessing.get_context("fork")
    bad = 0
    for _ in range(times):
        child = context.Process(target=try_publish, args=(topic,))
        child.start()
        publish(topic, 1)
        child.join()
        bad += child.exitcode != 0
    return bad


def obey(words):
    name, *rest = words
    if name == "exec":
        os.execvp(rest[0], rest)
    if name in ("load", "memfd"):
        return {"load": load, "memfd": memfd}[name](*rest)
    if name == "open":
        return open_publisher(*rest)
    if name == "spawn":
        return spawn()
    if name == "tell":
        return tell(*rest)
    return {"publish": publish, "fork": fork, "pool": pool}[name](rest[0], *map(int, rest[1:]))


def serve():
    while line := sys.stdin.readline():
        print(json.dumps(obey(line.split())), flush=True)


if __name__ == "__main__":
    print('"ready"', flush=True)
    serve()
