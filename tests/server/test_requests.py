# SPDX-License-Identifier: MIT
"""Each request and its answer, byte by byte."""
import os
import signal
import subprocess
import time

from graph_client import (COMPLETE, CONNECT, CYCLIC, DAG, DISCONNECT, PAUSE, PUBLISH, RESUME, SHUTDOWN,
                          SUBSCRIBE, SYNC, CHANNEL, SESSION, SESSION_CONNECT, Link, Server,
                          eventually, run_tests, string, u64)
from pickle_graph import load_graph


def test_greeting_and_ping():
    with Server() as server, server.link() as link:
        assert link.version == "3.9.0"
    with Server("--announce-version", "3.7.3") as server, server.link() as link:
        assert link.version == "3.7.3"


def test_unknown_command():
    with Server() as server:
        with server.link() as link:
            link.send(0xEE)
            link.expect_closed()
        server.stop()
        assert "unknown command ee" in server.log


def test_edges():
    with Server() as server:
        assert server.connect("A", "B") == COMPLETE
        assert server.connect("B", "A") == CYCLIC
        assert server.connect("A", "A") == CYCLIC
        assert server.connect("A", "B") == COMPLETE
        assert server.connect("", "\u00e4\u20ac") == COMPLETE
        assert graph_of(server) == {"A": {"B"}, "B": set(), "": {"\u00e4\u20ac"}, "\u00e4\u20ac": set()}
        assert server.connect("A", "B", DISCONNECT) == COMPLETE
        assert server.connect("X", "Y", DISCONNECT) == COMPLETE
        assert graph_of(server) == {"": {"\u00e4\u20ac"}, "\u00e4\u20ac": set()}


def graph_of(server):
    with server.link() as link:
        link.send(DAG)
        link.expect(DAG)
        graph = load_graph(link.read_str())
        link.expect(COMPLETE)
        link.expect_closed()
        return graph


def test_subscriber_and_publisher():
    with Server("--departure-delay-ms", "0") as server:
        first = server.publisher("A")
        subscriber = server.subscriber("B")
        assert subscriber.publishers == []
        server.connect("A", "B")
        assert subscriber.read_update() == [first.id]
        subscriber.confirm()
        # A second publisher is complete once the subscriber has confirmed, and not earlier.
        second = server.link()
        second.send(PUBLISH, string("A"))
        second.id = second.read_str().decode()
        second.send(string("127.0.0.1:2"))
        assert subscriber.read_update() == [first.id, second.id]
        assert second.is_silent()
        subscriber.confirm()
        second.expect(COMPLETE)
        # One that leaves is taken off the list.
        first.close()
        assert subscriber.read_update() == [second.id]
        subscriber.confirm()
        # Nothing changes: nothing is said.
        server.connect("A", "B")
        server.connect("X", "Y", DISCONNECT)
        assert subscriber.is_silent()
        server.connect("A", "B", DISCONNECT)
        assert subscriber.read_update() == []


def test_departures():
    """Told after a moment, and not twice; a graph that ends as a whole isn't told at all."""
    with Server("--departure-delay-ms", "400") as server:
        subscriber, other = server.subscriber("T"), server.subscriber("U")
        first, second = server.publisher_into("T", subscriber), server.publisher_into("T", subscriber)
        first.close()
        assert subscriber.is_silent(0.2)
        assert subscriber.read_update() == [second.id]
        subscriber.confirm()
        # One that joins meanwhile tells it already.
        second.close()
        eventually(lambda: not channel_opens(server, second.id))
        third = server.publisher_into("T", subscriber)
        assert subscriber.publishers == [third.id]
        assert subscriber.is_silent(0.8)
        third.close()
        subscriber.close()
        assert other.is_silent(0.8)


def test_update_goes_downstream_only():
    with Server() as server:
        for edge in (("A", "B"), ("B", "C"), ("X", "C")):
            assert server.connect(*edge) == COMPLETE
        subscribers = {topic: server.subscriber(topic) for topic in "ABCX"}
        link = server.link()
        link.send(PUBLISH, string("A"))
        link.id = link.read_str().decode()
        link.send(string("127.0.0.1:1"))
        for topic in "ABC":
            assert subscribers[topic].read_update() == [link.id]
            subscribers[topic].confirm()
        link.expect(COMPLETE)
        assert subscribers["X"].is_silent()


def test_one_topic_is_enough():
    with Server() as server:
        publisher = server.publisher("T")
        assert server.subscriber("T").publishers == [publisher.id]


def test_channel():
    with Server() as server:
        publisher = server.publisher("A", port=4711)
        channel = server.channel(publisher.id)
        assert channel.publisher_address == "127.0.0.1:4711"
        assert channel.id != publisher.id
        server.channel(publisher.id.upper()).close()
        subscriber = server.subscriber("A")
        for wrong in (subscriber.id, "no id", "", "00000000-0000-0000-0000-000000000000"):
            with server.link() as link:
                link.send(CHANNEL, string(wrong))
                link.expect_closed()
        publisher.close()
        eventually(lambda: not channel_opens(server, publisher.id))


def channel_opens(server, publisher_id):
    with server.link() as link:
        link.send(CHANNEL, string(publisher_id))
        try:
            return link.read_u8() == COMPLETE
        except Exception:
            return False


def test_pause_resume_sync():
    with Server() as server:
        publishers = [server.publisher("A"), server.publisher("B")]
        for command in (PAUSE, RESUME):
            with server.link() as link:
                link.send(command)
                link.expect_closed()
            for publisher in publishers:
                publisher.expect(command)
        sync = server.link()
        sync.send(SYNC)
        publishers[0].expect(SYNC)
        assert publishers[1].is_silent()
        publishers[0].send(COMPLETE)
        publishers[1].expect(SYNC)
        assert sync.is_silent()
        # One that leaves holds nothing any more.
        publishers[1].close()
        sync.expect(COMPLETE)
        sync.expect_closed()


def test_sync_without_publishers():
    with Server() as server, server.link() as link:
        link.send(SYNC)
        link.expect(COMPLETE)
        link.expect_closed()


def test_every_cut():
    """However the bytes are cut, the answer is the same."""
    request = bytes([CONNECT]) + string("A") + string("B")
    with Server() as server:
        for cut in range(1, len(request)):
            with server.link() as link:
                link.send(request[:cut])
                time.sleep(0.002)
                link.send(request[cut:])
                link.expect(COMPLETE)
                link.expect_closed()


def test_session():
    with Server() as server:
        publisher, subscriber = server.publisher("A"), server.subscriber("B")
        session = server.link()
        start = time.monotonic()
        session.send(SESSION)
        assert len(session.read_str()) == 36
        assert time.monotonic() - start > 0.05
        session.expect(COMPLETE)
        session.send(SESSION_CONNECT, string("A"), string("B"))
        # Unlike CONNECT it is complete after the subscriber has confirmed.
        assert subscriber.read_update() == [publisher.id]
        assert session.is_silent()
        subscriber.confirm()
        session.expect(COMPLETE)
        session.send(SESSION_CONNECT, string("B"), string("A"))
        session.expect(CYCLIC)
        # Nobody else can take its edge away.
        assert server.connect("A", "B", DISCONNECT) == COMPLETE
        assert graph_of(server) == {"A": {"B"}, "B": set()}
        session.send(0x19, u64(3), b"abc", 0x1B, 0x1C, string("0"), 0x99)
        session.expect(COMPLETE)
        assert session.read_str() == b"\x80\x04}."
        session.expect(COMPLETE)
        assert session.read_str() == b"\x80\x04]."
        session.expect(COMPLETE)
        session.send(0x18)
        assert subscriber.read_update() == []
        subscriber.confirm()
        session.expect(COMPLETE)
        session.send(SESSION_CONNECT, string("A"), string("B"))
        assert subscriber.read_update() == [publisher.id]
        subscriber.confirm()
        session.expect(COMPLETE)
        session.close()
        assert subscriber.read_update() == []
        eventually(lambda: graph_of(server) == {})


def test_session_without_a_wait():
    with Server("--dialect", "3.9") as server, server.link() as session:
        session.send(SESSION)
        assert len(session.read_str()) == 36
        session.expect(COMPLETE)


def test_process_and_streams():
    with Server() as server:
        with server.link() as process:
            process.send(0x21)
            assert len(process.read_str()) == 36
            process.expect(COMPLETE)
            for command in (0x22, 0x23, 0x24):
                process.send(command, u64(5), b"12345")
                process.expect(0x28)  # what can't be read is refused
            process.send(0x25, u64(2), b"ab", 0x27, u64(0))
            assert process.is_silent()
        for command, first in ((0x1D, None), (0x1E, b"PROCESS_CHANGED")):
            with server.link() as stream:
                stream.send(command, string("0"))
                assert len(stream.read_str()) == 36
                stream.expect(COMPLETE)
                if first:
                    assert first in stream.read_str()
                assert stream.is_silent()
        with server.link() as stream:
            stream.send(0x1F, string("0"))  # wants a pickle
            stream.expect_closed()


def test_shutdown():
    with Server() as server:
        links = [server.publisher("A"), server.subscriber("A"), server.segment()]
        path = "/dev/shm/" + links[2].name
        assert os.path.exists(path)
        with server.link() as link:
            link.send(SHUTDOWN)
            link.expect_closed()
        assert server.wait() == 0
        assert not os.path.exists(path)
        for link in links:
            if link is links[1]:
                continue
            link.expect_closed()


def test_signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Server() as server:
            segment = server.segment()
            assert server.stop(number) == 0
            assert not os.path.exists("/dev/shm/" + segment.name)


def test_port_that_is_taken():
    program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")
    with Server() as server:
        result = subprocess.run([program, "--address", server.address], capture_output=True, text=True)
        assert result.returncode == 1
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1 and server.address in result.stderr, result.stderr


def test_places_to_listen():
    """What can't be had is said with what to do."""
    program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if not os.getuid() else []
    for prefix, address, status, said in (([], "192.0.2.1:0", 1, "no such address"),
                                          (nobody, "127.0.0.1:1", 77, "take a higher one")):
        result = subprocess.run([*prefix, program, "--address", address], capture_output=True, text=True,
                                timeout=10)
        assert result.returncode == status and said in result.stderr, result
        assert result.stderr.count("\n") == 1 and result.stdout == "", result


def test_usage_errors():
    program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")
    for arguments in (["--address", "nonsense"], ["--address", "127.0.0.1:-1"], ["--address", "h:65536"],
                      ["--profile-deadline-ms", "1s"], ["--profile-deadline-ms", "-5"],
                      ["--max-clients", "0"], ["--dialect", "pr207"], ["--log-level", "loud"], ["stray"],
                      ["--announce-version", "x" * 64]):
        result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=10)
        assert result.returncode == 2, (arguments, result.returncode)
        assert result.stdout == "" and result.stderr, arguments
    result = subprocess.run([program], capture_output=True, text=True, timeout=10,
                            env={**os.environ, "EZMSG_GRAPHSERVER_ADDR": "here"})
    assert result.returncode == 2 and result.stderr.count("\n") == 1


def test_address_from_the_environment():
    program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "EZMSG_GRAPHSERVER_ADDR": "127.0.0.1:0"})
    try:
        assert Link(process.stdout.readline().strip()).version == "3.9.0"
    finally:
        process.terminate()
        assert process.wait(10) == 0


def test_ipv6():
    try:
        server = Server(address="[::1]:0")
    except AssertionError:
        print("no IPv6 here")
        return
    with server:
        assert server.address.startswith("[::1]:")
        publisher = server.publisher("A", port=77)
        assert server.channel(publisher.id).publisher_address == "[::1]:77"


run_tests(globals())
