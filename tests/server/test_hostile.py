# SPDX-License-Identifier: MIT
"""Bad input: refused with a line, and nobody else notices."""
import os
import random
import re
import resource
import socket
import struct
import time

from graph_client import (CHANNEL, COMPLETE, CONNECT, DISCONNECT, HELLO, PROFILE_DATA, PUBLISH, SESSION, SHM_ATTACH,
                          SHM_CREATE, SHUTDOWN, SUBSCRIBE, Link, Server, eventually, run_tests, string, u64)
from preload import SANITIZER

HUGE = u64(1 << 63)


def works(server):
    return server.connect("ALIVE", "WELL") == COMPLETE


def test_length_of_2_to_the_63():
    """In every place where a length can stand: closed, with one line."""
    openings = {
        "publish": (PUBLISH,), "subscribe": (SUBSCRIBE,), "connect": (CONNECT,),
        "connect's second": (CONNECT, string("A")), "channel": (CHANNEL,), "attach": (SHM_ATTACH,),
        "hello": (HELLO,), "stream": (0x1E,),
    }
    for opening in openings.values():
        with Server(log="warn") as server:
            with server.link() as link:
                link.send(*opening, HUGE)
                link.expect_closed()
            assert works(server)
            server.stop()
            assert server.log.count("\n") == 1 and "over the limit" in server.log, server.log


def test_length_on_links():
    with Server("--dialect", "3.9") as server:
        publisher = server.publisher("A")
        channel = server.channel(publisher.id)
        session = server.link()
        session.send(SESSION)
        session.read_str()
        session.expect(COMPLETE)
        process = server.link()
        process.send(0x21)
        process.read_str()
        process.expect(COMPLETE)
        for link, command in ((channel, PROFILE_DATA), (publisher, PROFILE_DATA), (session, 0x19),
                              (process, 0x22)):
            link.send(command, HUGE)
            link.expect_closed()
        link = server.link()
        link.send(PUBLISH, string("A"))
        link.read_str()
        link.send(HUGE)
        link.expect_closed()
        assert works(server)


def test_segment_sizes():
    sizes = [(0, 0), (0, 65536), (1, 1 << 63), (1 << 63, 1), (1 << 60, 1 << 60), (2**64 - 1, 2**64 - 1),
             (1 << 32, 1 << 32), (1 << 20, 1 << 20), (1, (1 << 63) - 17)]
    with Server() as server:
        before = set(os.listdir("/dev/shm"))
        for num_buffers, size in sizes:
            with server.link() as link:
                link.send(SHM_CREATE, u64(num_buffers), u64(size))
                link.expect_closed()
        own = [name for name in set(os.listdir("/dev/shm")) - before if name.startswith("psm_")]
        assert works(server)
        assert len(own) == 0 or not any(os.stat("/dev/shm/" + n).st_size > 1 << 40 for n in own)


def test_too_many_edges():
    with Server("--max-edges", "3") as server:
        for i in range(3):
            assert server.connect("A", f"B{i}") == COMPLETE
        with server.link() as link:
            link.send(CONNECT, string("A"), string("C"))
            link.expect_closed()
        assert server.connect("A", "B0", DISCONNECT) == COMPLETE
        assert server.connect("A", "C") == COMPLETE


def test_output_that_nobody_reads():
    with Server(log="debug") as server:
        server.process.stdout.close()
        server.process.stderr.close()
        with server.link() as link:
            link.send(0xEE)
            link.expect_closed()
        assert works(server)
        server.process.terminate()
        assert server.process.wait(10) == 0


def test_log_that_nobody_reads():
    """A full pipe on stderr holds nobody up; what was lost is counted."""
    with Server(log="debug") as server:
        links = [server.subscriber("A") for _ in range(20)]
        for link in links:
            link.send(bytes([0x99]) * 2000)
        assert works(server)
        for link in links:
            link.close()
        eventually(lambda: server.descriptors() < 12)
        os.read(server.process.stderr.fileno(), 1 << 20)
        with server.link() as link:
            link.send(SHUTDOWN)
            link.expect_closed()
        assert server.wait() == 0
        assert "lines were lost" in server.log


def test_bad_topics():
    with Server() as server:
        for topic in (b"\xff", b"\xed\xa0\x80", b"a\0b", b"\xc3", b"x" * 5000):
            for command in (PUBLISH, SUBSCRIBE, CONNECT):
                with server.link() as link:
                    link.send(command, string(topic), string("B"))
                    link.expect_closed()
        assert works(server)


def test_bad_addresses():
    with Server() as server:
        subscriber = server.subscriber("A")
        for text in ("", "nonsense", "127.0.0.1:0", "127.0.0.1:70000", "::1:5", "a b:1", "x" * 300 + ":1"):
            with server.link() as link:
                link.send(PUBLISH, string("A"))
                link.read_str()
                link.send(string(text))
                link.expect_closed()
        assert subscriber.is_silent()


def test_bad_hello():
    with Server() as server:
        for text in ("", "[]", "{", '{"role": "agent"', "\0", '{"role":"agent"}x'):
            with server.link() as link:
                link.send(HELLO, string(text))
                link.expect_closed()
        with server.hello("agent") as agent:
            agent.send(0x99)
            agent.expect_closed()
        with server.hello("client") as client:
            client.send(0x00)
            client.expect_closed()
        assert works(server)


def test_silent_clients():
    """Whoever connects and says nothing, or half of something, is dropped in time, links are not."""
    with Server("--request-timeout-ms", "200") as server:
        publisher, lease = server.publisher("A"), server.segment()
        idle = [server.link() for _ in range(5)]
        idle[1].send(CONNECT)
        idle[2].send(CONNECT, string("A"), b"\1\0")
        idle[3].send(PUBLISH, string("A"))
        idle[3].read_str()
        idle[4].send(0x15, b"\1\2")
        for link in idle:
            link.expect_closed()
        publisher.send(PROFILE_DATA, u64(100), b"half")
        publisher.expect_closed()
        assert lease.is_silent(0.4)
        assert works(server)


def test_client_that_never_reads():
    """What it leaves unread is bounded: it is dropped, and nobody else is."""
    with Server("--max-pending-bytes", "65536") as server:
        publishers = [server.publisher("X") for _ in range(200)]
        subscriber = server.link()
        subscriber.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        subscriber.send(SUBSCRIBE, string("A"))
        # Each change lists 200 ids or none; the kernel buffers some megabytes of it.
        for _ in range(1500):
            server.connect("X", "A", CONNECT)
            server.connect("X", "A", DISCONNECT)
        assert publishers[0].is_silent(0)
        assert works(server)
        server.stop()
        assert server.log.count("it doesn't read") == 1, server.log


def test_reset_in_the_middle():
    with Server() as server:
        for request in ((CONNECT,), (PUBLISH, string("A")), (SUBSCRIBE, string("A")), (SHM_CREATE, u64(4), u64(64))):
            link = server.link()
            link.send(*request)
            link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.close()
        eventually(lambda: server.descriptors() < 12)
        assert works(server)


def memory_kb(server):
    with open(f"/proc/{server.process.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def test_topics_of_10_mb():
    """Refused by their length alone, whatever follows; nothing of them is kept."""
    with Server("--max-string-bytes", str(1 << 20), log="warn") as server:
        before = memory_kb(server)
        for command in (PUBLISH, SUBSCRIBE, CONNECT):
            with server.link() as link:
                link.send(command, u64(10_000_000))
                try:
                    link.send(b"t" * 10_000_000)
                except ConnectionError:
                    pass
                link.expect_closed()
        assert works(server)
        assert memory_kb(server) - before < 4096
        server.stop()
        assert "over the limit" in server.log, server.log


def test_10000_half_open():
    """Clients that said half a command: the others don't notice, and in time they are dropped, with their memory."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    n = min(10000, hard - 200)
    with Server("--request-timeout-ms", "8000", log="warn") as server:
        works(server)
        before, links = memory_kb(server), []
        for i in range(n):
            link = socket.create_connection(("127.0.0.1", int(server.address.rsplit(":", 1)[1])))
            link.sendall(bytes([(CONNECT, PUBLISH, SUBSCRIBE, SHM_CREATE)[i % 4]]) + u64(100)[:i % 8])
            links.append(link)
        took = []
        for _ in range(20):
            start = time.monotonic()
            assert works(server)
            took.append(time.monotonic() - start)
        assert max(took) < 0.5, took
        used_kb = memory_kb(server) - before
        # What the thread sanitizer remembers of each access is in there too.
        assert "tsan" in SANITIZER or used_kb < 4 * n, f"{used_kb} KiB for {n}"
        eventually(lambda: server.descriptors() < 20, 60)
        print(f"{n} half-open clients: {used_kb} KiB; others' slowest request {1000 * max(took):.1f} ms")
        for link in links:
            link.close()
        assert works(server)
        server.stop()
        # By name, and at a rate that doesn't drown the rest.
        assert re.search(r"127\.0\.0\.1:\d+: closed: no complete request within 8000 ms", server.log), server.log
        assert server.log.count("\n") < 1000


def test_random_bytes():
    source = random.Random(7)
    with Server("--request-timeout-ms", "500", log="off") as server:
        links = []
        for _ in range(300):
            link = server.link()
            command = source.choice([c for c in range(48) if c != SHUTDOWN])
            link.send(bytes([command]) + source.randbytes(source.randrange(64)))
            links.append(link)
            if len(links) > 50:
                links.pop(0).close()
        for link in links:
            link.close()
        assert works(server)


def test_too_many_clients():
    with Server("--max-clients", "10") as server:
        links = [server.link() for _ in range(10)]
        more = Link(server.address, greet=False)
        more.expect_closed()
        for link in links[:2]:
            link.close()
        eventually(lambda: is_accepted(server))


def is_accepted(server):
    try:
        return works(server)
    except Exception:
        return False


def test_out_of_descriptors():
    """Accepting pauses and comes back; the links that are there go on meanwhile."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Server(log="warn") as server:
        subscriber = server.subscriber("B")
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (32, 32))
        links = []
        for _ in range(100):
            link = Link(server.address, greet=False)
            links.append(link)
        time.sleep(0.3)
        before = cpu_ticks(server.process.pid)
        time.sleep(0.3)
        assert cpu_ticks(server.process.pid) - before < 15, "the loop spins"
        assert subscriber.is_silent(0)
        for link in links:
            link.close()
        eventually(lambda: is_accepted(server))
        server.stop()
        assert 1 <= server.log.count("can't accept") <= 2, server.log


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


run_tests(globals())
