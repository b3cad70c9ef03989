# SPDX-License-Identifier: MIT
"""The recorded graph server, for our runtime to talk to: whatever it answered then, it answers now.

Clients are ours, all of them; what they send on each connection must be what was recorded. Their links to
publishers pass through a proxy that keeps the bytes. Only what must differ is translated: names of
segments (these here are real), ports, process ids.
"""
import json
import os
import re
import secrets
import socket
import struct
import threading

WAIT_S = 20
COMMANDS = {1: "PUBLISH", 2: "SUBSCRIBE", 3: "CONNECT", 4: "DISCONNECT", 0x0F: "SHM_CREATE",
            0x10: "SHM_ATTACH", 0x12: "CHANNEL"}
UNASKED = (0x06, 0x07, 0x08, 0x09)  # PAUSE, SYNC, RESUME, UPDATE
RECORDED_PORT = re.compile(rb"127\.0\.0\.1:2[67](\d{3})")


def u64(value):
    return struct.pack("<Q", value)


class Recording:
    """Per connection the turns [direction, bytes, number of earlier client turns elsewhere]."""

    def __init__(self, path):
        self.connections = {}
        asked = 0
        with open(path, encoding="utf-8") as file:
            for line in file:
                event = json.loads(line)
                if event["dir"] == "note":
                    continue
                turns = self.connections.setdefault(event["conn"], [])
                data = bytes.fromhex(event["hex"])
                if turns and turns[-1][0] == event["dir"] and turns[-1][1] and data:
                    turns[-1][1] += data
                    continue
                asked += event["dir"] == "c2s" and bool(data) and event["conn"].startswith("g")
                turns.append([event["dir"], data, asked])

    def stream(self, name, direction):
        return b"".join(turn[1] for turn in self.connections[name] if turn[0] == direction)

    def names(self, prefix):
        return [name for name in self.connections if name.startswith(prefix)]


class Segment:
    """Shared memory as a graph server makes it, for as long as the test runs."""

    def __init__(self, num_buffers, buf_size):
        self.name = "psm_" + secrets.token_hex(4)
        stride = buf_size + 16 * num_buffers
        self.path = "/dev/shm/" + self.name
        with open(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "wb") as file:
            file.write(u64(num_buffers) + u64(stride) + b"0" * (num_buffers * stride - 16))

    def content(self):
        with open(self.path, "rb") as file:
            return file.read()

    def remove(self):
        os.unlink(self.path)


class Proxy:
    """In front of one publisher; its k-th connection plays the recorded p....k."""

    def __init__(self, port):
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.streams = []  # per connection {"c2s": bytes, "s2c": bytes}
        self.ended = []    # Event per connection
        threading.Thread(target=self.serve, daemon=True).start()

    def address(self):
        return b"127.0.0.1:%d" % self.listener.getsockname()[1]

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.port))
            stream = {"c2s": bytearray(), "s2c": bytearray()}
            self.streams.append(stream)
            self.ended.append(threading.Event())
            threading.Thread(target=self.play, args=(client, server, stream, self.ended[-1]), daemon=True).start()

    def play(self, client, server, stream, ended):
        """It has ended when both sides have closed it: then the publisher knows too."""
        other = threading.Thread(target=self.pump, args=(server, client, stream["s2c"]), daemon=True)
        other.start()
        self.pump(client, server, stream["c2s"])
        other.join()
        ended.set()

    @staticmethod
    def pump(source, target, kept):
        try:
            while data := source.recv(65536):
                kept += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class FakeGraph:
    def __init__(self, path):
        self.recording = Recording(path)
        self.left = self.recording.names("g")
        self.segments = {}  # recorded name -> Segment
        self.proxies = {}   # recorded port's last three digits -> Proxy
        self.asked = 0      # client turns so far
        self.changed = threading.Condition()
        self.problems = []
        self.threads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        self.listener.close()
        for proxy in self.proxies.values():
            proxy.listener.close()
        for segment in self.segments.values():
            segment.remove()

    def serve(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            link.settimeout(WAIT_S)
            thread = threading.Thread(target=self.serve_link, args=(link,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve_link(self, link):
        with link:
            try:
                self.play(link)
            except Exception as error:  # told to the test, which is in another thread
                self.problems.append(f"{type(error).__name__}: {error}")

    def take_connection(self, command):
        """The next recorded connection with that request."""
        request = COMMANDS.get(command, hex(command))
        with self.changed:
            for name in self.left:
                if name.endswith(":" + request):
                    self.left.remove(name)
                    return name
        raise AssertionError(f"{request}: more than were recorded")

    def play(self, link):
        any_name = next(iter(self.recording.connections))
        link.sendall(self.recording.connections[any_name][0][1])  # every greeting is the same
        first = link.recv(1)
        if not first:
            return  # a look whether there is a server
        name = self.take_connection(first[0])
        for direction, data, asked in self.recording.connections[name][1:]:
            if direction == "s2c" and data:
                self.answer(link, data, asked)
            elif direction == "s2c":
                link.shutdown(socket.SHUT_WR)
            elif data:
                first = self.expect(link, name, data, first)
            else:
                self.expect_end(link, name)

    def expect(self, link, name, recorded, got):
        while len(got) < len(recorded):
            piece = link.recv(len(recorded) - len(got))
            assert piece, f"{name}: ends after {got!r}, not with {recorded!r}"
            got += piece
        self.learn(name, recorded, got)
        assert self.translated(got) == self.masked(recorded), f"{name}: {got!r} instead of {recorded!r}"
        with self.changed:
            self.asked += 1
            self.changed.notify_all()
        return b""

    @staticmethod
    def expect_end(link, name):
        try:
            rest = link.recv(4096)
        except ConnectionResetError:
            rest = b""
        assert not rest, f"{name}: {rest!r} instead of the end"

    def learn(self, name, recorded, got):
        """What our side chose: a segment's size, a publisher's port."""
        if name.endswith(":SHM_CREATE"):
            answer = self.recording.stream(name, "s2c")
            self.segments[answer[-12:]] = Segment(*struct.unpack("<QQ", got[1:17]))
        elif name.endswith(":PUBLISH") and (port := re.search(rb"127\.0\.0\.1:(\d+)$", got)):
            self.proxies[RECORDED_PORT.search(recorded)[1]] = Proxy(int(port[1]))

    @staticmethod
    def masked(recorded):
        return RECORDED_PORT.sub(b"127.0.0.1:?", recorded)

    def translated(self, got):
        """Our bytes, with the recorded names in place of ours."""
        for recorded, segment in self.segments.items():
            got = got.replace(segment.name.encode(), recorded)
        return re.sub(rb"127\.0\.0\.1:\d+$", b"127.0.0.1:?", got)

    def answer(self, link, recorded, asked):
        if recorded[0] in UNASKED:
            # What the server does on another client's request comes after that request.
            with self.changed:
                assert self.changed.wait_for(lambda: self.asked >= asked, WAIT_S), "requests are missing"
        for name, segment in self.segments.items():
            recorded = recorded.replace(name, segment.name.encode())
        if port := RECORDED_PORT.search(recorded):
            recorded = RECORDED_PORT.sub(self.proxies[port[1]].address(), recorded)
        link.sendall(recorded)

    def finish(self):
        """After all clients have left: everything recorded was played, and nothing else."""
        for thread in self.threads:
            thread.join(WAIT_S)
        for problem in self.problems:
            print(f"  {problem}")
        assert not self.problems, "see above"
        assert not self.left, f"never opened: {self.left}"
        return sum(self.compare_links(port, proxy) for port, proxy in self.proxies.items())

    def compare_links(self, port, proxy):
        names = self.recording.names("p26" + port.decode())
        assert len(names) == len(proxy.streams), f"{len(proxy.streams)} links, recorded {names}"
        count = 0
        for name, stream in zip(names, proxy.streams):
            for direction in ("c2s", "s2c"):
                recorded = self.recording.stream(name, direction)
                got = self.translated(bytes(stream[direction]))
                if direction == "c2s":
                    # CHANNEL + id, then SHM_OK or SHM_ATTACH_FAILED + the process id.
                    assert int.from_bytes(got[46:54], "little") in self.pids, f"{name}: process id"
                    got = got[:46] + recorded[46:54] + got[54:]
                assert got == recorded, f"{name} {direction}:\n  {got.hex()} instead of\n  {recorded.hex()}"
                count += len(got)
        return count

    pids = ()
