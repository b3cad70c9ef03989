# SPDX-License-Identifier: MIT
"""What neighbouring tools were reported to get wrong (docs/cases.md), with our server and ezprof."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from graph_client import CONNECT, COMPLETE, PROFILE_DATA, PUBLISH, Link, Server, run_tests, string, u64

ODD = ['a"b', "a\\b", "new\nline", "tab\there", "bell\x01", "emoji \U0001f600", "</script>", "", "x", "x "]


def ezprof(address, *arguments, env=None):
    path = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
    return subprocess.run([path, "profile", "--address", address, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env={**os.environ, **(env or {})})


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


def parsed(result):
    assert result.returncode in (0, 5), result
    return json.loads(result.stdout, parse_constant=no_constant)


def publisher_object(link, topic, **more):
    times = {"avg_ms": 0.125, "max_ms": 1234.5, "samples": 3}
    return {"type": "publisher", "id": link.id, "topic": topic, "pid": 1, "num_buffers": 32, "window_s": 2.5,
            "message_rate_hz": 1.5, "byte_rate_per_s": 0.25, "messages": {"total": 1, "window": 0},
            "bytes": {"total": 1, "window": 0}, "backpressure": {**times, "in_flight": 0}, "source": "process",
            "links": [], **more}


class Answering:
    """A context: publishers that answer every PROFILE; the windows that they were asked for are kept."""

    def __init__(self, server, topics, **more):
        self.windows = []
        self.links = {topic: server.publisher(topic, mark=True) for topic in topics}
        self.threads = [threading.Thread(target=self.answer, args=(topic, link, more), daemon=True)
                        for topic, link in self.links.items()]
        for thread in self.threads:
            thread.start()
        time.sleep(0.2)

    def answer(self, topic, link, more):
        with contextlib.suppress(Exception):
            link.socket.settimeout(None)
            while link.read_u8() == 0x15:
                self.windows.append(link.read_u64())
                link.send(PROFILE_DATA, string(json.dumps(publisher_object(link, topic, **more))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for link in self.links.values():
            link.socket.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for link in self.links.values():
            link.close()


class Relay:
    """A context: passes everything on, `size` bytes at a time; cuts the answers off after `cut` bytes."""

    def __init__(self, address, size, cut=None):
        self.target, self.size, self.left = address, size, cut
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                host, port = self.target.rsplit(":", 1)
                server = socket.create_connection((host, int(port)))
                for one, other, back in ((client, server, False), (server, client, True)):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self.forward, args=(one, other, back), daemon=True).start()

    def forward(self, one, other, back):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                for i in range(0, len(data), self.size):
                    piece = data[i:i + self.size]
                    if back and self.left is not None:
                        self.left -= len(piece)
                        if self.left < 0:
                            break
                    other.sendall(piece)
                else:
                    continue
                break
            other.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def timeless(document):
    return {key: value for key, value in document.items() if not key.startswith("time_")}


def test_b32_names():
    """Whatever a topic is called, the document parses and gives it back, in errors[] too."""
    with Server() as server, Answering(server, ODD):
        silent = server.publisher(ODD[0] + ODD[2], mark=True)
        result = ezprof(server.address)
        document = parsed(result)
        assert sorted(p["topic"] for p in document["publishers"]) == sorted(ODD), document
        assert [error["topic"] for error in document["errors"]] == [ODD[0] + ODD[2]], document["errors"]
        if shutil.which("jq"):
            told = subprocess.run(["jq", "-c", "[.publishers[].topic]"], input=result.stdout, stdout=subprocess.PIPE,
                                  check=True)
            assert sorted(json.loads(told.stdout)) == sorted(ODD)
        silent.close()


def test_b34_no_numbers():
    """What isn't a number can't be asked for, and doesn't come out."""
    with Server() as server, Answering(server, ["A"], message_rate_hz=float("nan"), more=float("inf")):
        for window in ("0", "0.0004", "-1", "nan", "1e300"):
            assert ezprof(server.address, "--window", window).returncode == 2, window
        document = parsed(ezprof(server.address))
        assert document["publishers"] == [] and document["errors"][0]["reason"] == "bad_json", document


def test_b35_decimal_comma():
    """Both programs give the same bytes, and read the same numbers, where a comma is the decimal point."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert made.returncode in (0, 1) and os.path.isdir(f"{folder}/de_DE.UTF-8"), "no locale could be made"
        outputs = []
        for name in ("C", "de_DE.UTF-8"):
            env = {"LC_ALL": name, "LOCPATH": folder}
            with Server(env=env) as server, Answering(server, ["A"]) as publishers:
                result = ezprof(server.address, "--window", "2.5", env=env)
                assert publishers.windows == [2500], publishers.windows
                document = parsed(result)
                lines = result.stdout.decode().splitlines()
                outputs.append([line for line in lines if '"id"' not in line and '"time_' not in line])
                assert document["window_s"] == 2.5 and not document["errors"]
                [publisher] = document["publishers"]
                assert publisher["backpressure"]["max_ms"] == 1234.5
        # Without what is another one in each run.
        assert outputs[0] == outputs[1]


def test_b38_port_check():
    """A port check, and whoever says little, leave no noise."""
    with Server(log="warn") as server:
        for _ in range(50):
            Link(server.address, greet=False).close()
        for request in ((), (2,), (2, b"\1\0\0"), (2, u64(5), b"ab")):
            with server.link() as link:
                link.send(*request)
        assert server.connect("A", "B") == COMPLETE
        server.stop()
        assert server.log == "", server.log


def test_b40_strangers():
    """An HTTP client, a TLS client, lengths that nobody means: closed, one line each at most."""
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
    with Server(log="warn") as server:
        for first in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", hello, bytes([PUBLISH]) + u64(1 << 32),
                      bytes([PUBLISH]) + u64(2**64 - 1), bytes([CONNECT]) + u64(1 << 30)):
            with server.link() as link:
                link.send(first)
                link.expect_closed()
            time.sleep(0.06)  # lines come at a limited rate
        assert server.connect("A", "B") == COMPLETE
        server.stop()
        assert server.log.count("\n") == 5, server.log


def test_b47_one_byte_at_a_time():
    """The same document, however it comes; and a cut one is an error and nothing on stdout."""
    with Server() as server, Answering(server, [f"T{i}" for i in range(5)]):
        whole = ezprof(server.address)
        env = {"EZPROF_HELLO": "1"}  # a relay is nobody whom a mark tells of
        with Relay(server.address, 1) as relay:
            assert timeless(parsed(ezprof(relay.address, env=env))) == timeless(parsed(whole))
        for cut in (40, 200, len(whole.stdout) // 4):
            with Relay(server.address, 65536, cut) as relay:
                result = ezprof(relay.address, env=env)
                assert result.returncode == 1 and result.stdout == b"" and result.stderr, (cut, result)


def test_b47_many_publishers():
    """A document of several MiB."""
    n = 2000
    with Server("--profile-deadline-ms", "20000") as server:
        links = [server.publisher(f"T{i}", mark=True) for i in range(n)]
        answers = [bytes([PROFILE_DATA]) + string(json.dumps(publisher_object(link, f"T{i}", filler="x" * 2000)))
                   for i, link in enumerate(links)]

        def answer():
            for link, text in zip(links, answers):
                link.read(9)
                link.socket.sendall(text)
        thread = threading.Thread(target=answer)
        time.sleep(0.5)
        thread.start()
        result = ezprof(server.address)
        thread.join()
        document = parsed(result)
        assert len(result.stdout) > 4 << 20 and len(document["publishers"]) == n and not document["errors"]
        for link in links:
            link.close()


run_tests(globals())
