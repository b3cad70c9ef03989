# SPDX-License-Identifier: MIT
"""Whatever one client does or leaves undone, the others are served at once."""
import threading
import time

from graph_client import (COMPLETE, CONNECT, DAG, PUBLISH, SHM_CREATE, SUBSCRIBE, SYNC, Server, run_tests,
                          read_profile, string, u64)
from stalling_clients import StallingClients

# A stall would take at least the second of a confirmation; a busy machine takes less than half of it.
AT_ONCE_S = 0.5


def timed(function):
    start = time.monotonic()
    function()
    return time.monotonic() - start


def everything(server):
    """One request of each kind that nobody has to be waited for."""
    server.connect("P", "Q")
    with server.link() as link:
        link.send(DAG)
        link.expect(DAG)
        link.read_str()
        link.expect(COMPLETE)
    with server.publisher("FREE") as publisher, server.channel(publisher.id):
        with server.segment() as lease, server.link() as link:
            link.send(0x10, string(lease.name))
            link.expect(COMPLETE)
    server.subscriber("FREE").close()
    assert server.profile()["errors"] == []


def test_half_requests():
    with Server() as server:
        halves = [server.link() for _ in range(4)]
        halves[0].send(CONNECT)
        halves[1].send(SUBSCRIBE, u64(10), b"abc")
        halves[2].send(PUBLISH, string("FREE"))
        assert timed(lambda: everything(server)) < AT_ONCE_S


def test_subscriber_that_does_not_confirm():
    with Server() as server:
        silent = server.link()
        silent.send(SUBSCRIBE, string("T"))
        silent.read_str()
        assert silent.read_update() == []
        # CONNECT upstream of it is answered at once, as is everything that has nothing to do with it.
        assert timed(lambda: server.connect("S", "T")) < AT_ONCE_S
        assert timed(lambda: everything(server)) < AT_ONCE_S
        # A publisher upstream waits for it, one second and no longer; others don't.
        publisher = server.link()
        publisher.send(PUBLISH, string("T"))
        publisher.id = publisher.read_str().decode()
        start = time.monotonic()
        publisher.send(string("127.0.0.1:1"))
        assert timed(lambda: everything(server)) < AT_ONCE_S
        publisher.expect(COMPLETE)
        assert 0.9 < time.monotonic() - start < 5
        # Its own SUBSCRIBE was completed in the same way.
        assert silent.read_update() == []
        assert silent.read_update() == [publisher.id]
        silent.expect(COMPLETE)


def test_subscriber_that_dies():
    with Server() as server:
        silent = server.link()
        silent.send(SUBSCRIBE, string("T"))
        silent.read_str()
        silent.read_update()
        publisher = server.link()
        publisher.send(PUBLISH, string("T"))
        publisher.read_str()
        publisher.send(string("127.0.0.1:1"))
        silent.read_update()
        assert timed(lambda: (silent.close(), publisher.expect(COMPLETE))) < AT_ONCE_S


def test_time_limit_from_the_environment():
    with Server(env={"EZMSG_SUBSCRIBER_UPDATE_TIMEOUT_SEC": "0.05"}) as server:
        silent = server.link()
        silent.send(SUBSCRIBE, string("T"))
        silent.read_str()
        silent.read_update()
        assert timed(lambda: silent.expect(COMPLETE)) < AT_ONCE_S


def test_sync_that_is_never_answered():
    with Server() as server:
        publisher = server.publisher("T")
        syncs = [server.link() for _ in range(2)]
        for sync in syncs:
            sync.send(SYNC)
            publisher.expect(SYNC)
        assert timed(lambda: everything(server)) < AT_ONCE_S
        # Its requester may leave; the answers still go to whom they belong.
        syncs[0].close()
        time.sleep(0.1)
        publisher.send(COMPLETE)
        assert syncs[1].is_silent()
        publisher.send(COMPLETE)
        syncs[1].expect(COMPLETE)


def test_twenty_clients():
    """Stopped, deaf, half a command, late, twice, broken JSON, dying: the others don't notice."""
    with StallingClients() as clients:
        slowest = max(max(clients.requests()) for _ in range(20))
        assert slowest < 1000 * AT_ONCE_S, slowest
        document = read_profile(clients.asker)
        assert len(document["publishers"]) == 1
        assert sorted(error["reason"] for error in document["errors"]) == ["bad_json", "died", "timeout"], document


def test_large_segment():
    """A quarter of a gigabyte takes a while to write, in steps between which others are served."""
    with Server() as server, server.link() as link:
        link.send(SHM_CREATE, u64(1), u64(256 << 20))
        slowest = max(timed(lambda: server.connect("A", "B")) for _ in range(20))
        assert slowest < AT_ONCE_S, slowest
        link.expect(COMPLETE)


def test_many_at_once():
    """Forty clients that join and leave at the same time, with subscribers in between."""
    def one(server, failures, i):
        try:
            for _ in range(5):
                with server.subscriber(f"T{i % 3}"), server.publisher(f"U{i % 3}"):
                    server.connect(f"U{i % 3}", f"T{i % 3}")
        except Exception as error:
            failures.append(error)

    with Server("--request-timeout-ms", "60000", env={"EZMSG_SUBSCRIBER_UPDATE_TIMEOUT_SEC": "0.02"}) as server:
        failures = []
        threads = [threading.Thread(target=one, args=(server, failures, i)) for i in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]
        assert server.connect("A", "B") == COMPLETE


run_tests(globals())
