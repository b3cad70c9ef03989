# SPDX-License-Identifier: MIT
"""`ezprof export`, a reader of its text, and a graph server that answers what a test says."""

import http.client
import json
import os
import re
import socket
import threading
import urllib.parse

from graph import BIN, Program

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')


def labels_of(text):
    """{name: value} of what is between the braces; nothing else may be there."""
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text[at:]
        assert match.group(1) not in found, text
        found[match.group(1)] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m.group(1), m.group(1)),
                                       match.group(2))
        at = match.end()
    return found


class Page:
    """samples: {(name, frozenset of labels): value}; families: {name: (type, unit, help)}"""

    def __init__(self, text, openmetrics=False):
        self.samples, self.families = {}, {}
        lines = text.split("\n")
        assert lines.pop() == ""
        if openmetrics:
            assert lines.pop() == "# EOF"
        family, done = None, set()
        for line in lines:
            head = re.match(r"^# (TYPE|UNIT|HELP) ([a-z0-9_]+) (.+)$", line)
            if head:
                word, name, rest = head.groups()
                if word == "TYPE":
                    assert name not in self.families, name
                    family = name
                    self.families[name] = [rest, "", ""]
                assert name == family, line
                if word == "UNIT":
                    assert openmetrics and name.endswith("_" + rest), line
                    self.families[name][1] = rest
                if word == "HELP":
                    self.families[name][2] = rest
                continue
            name, labels, value = re.match(r'^([a-z0-9_]+)(?:\{(.+)\})? (\S+)$', line).groups()
            kind = self.families[family][0]
            ending = {"counter": "_total", "info": "_info"}.get(kind, "") if openmetrics else ""
            assert name == family + ending, (name, family)
            assert kind != "counter" or name.endswith("_total"), line
            key = (name, frozenset(labels_of(labels or "").items()))
            assert key not in self.samples, line
            done.add(family)
            self.samples[key] = float(value)
        assert done == set(self.families), set(self.families) - done

    def all(self, name):
        """[(labels, value)]"""
        return [(dict(labels), value) for (of, labels), value in self.samples.items()
                if of == name]

    def one(self, name, **labels):
        """The value of the one series that has these labels among its own."""
        [value] = [value for own, value in self.all(name) if labels.items() <= own.items()]
        return value


class Exporter(Program):
    """with Exporter("--address", ...) as exporter"""

    def __init__(self, *arguments, env=None):
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        super().__init__([os.path.join(BIN, "ezprof"), "export", *listen, *map(str, arguments)],
                         env)
        self.url = self.line()
        parts = urllib.parse.urlsplit(self.url)
        assert parts.path == "/metrics", (self.url, self.stderr())
        self.address = (parts.hostname, parts.port)

    def ask(self, path="/metrics", method="GET", seconds=60, **headers):
        """(status, headers, text)"""
        link = http.client.HTTPConnection(*self.address, timeout=seconds)
        try:
            link.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            link.close()

    def scrape(self, accept=OPENMETRICS, **headers):
        status, head, text = self.ask(Accept=accept, **headers)
        assert status == 200, text
        return Page(text, head["Content-Type"] == OPENMETRICS)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_kib(self):
        with open(f"/proc/{self.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if self.process.poll() is None:
            self.stop()
        assert failed or self.process.returncode == 0, (self.process.returncode, self.stderr())
        self.process.stdout.close()
        self.errors.close()


class MadeServer:
    """A graph server of ours, as far as PROFILE: answers with `document`, when `open` is set.

    document None: one of another kind, which doesn't know HELLO.
    """

    ENV = {"EZPROF_HELLO": "1"}  # it leaves no mark

    def __init__(self, document, host="127.0.0.1"):
        self.document, self.asked, self.greeted = document, 0, 0
        self.open = threading.Event()
        self.open.set()
        self.listener = socket.create_server((host, 0), backlog=64)
        self.address = "%s:%d" % self.listener.getsockname()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link):
        def text(data):
            return len(data).to_bytes(8, "little") + data
        with link:
            try:
                link.sendall(text(b"3.9.0"))
                while request := link.recv(65536):
                    if request[0] == 0xe0:
                        self.greeted += 1
                        if self.document is None:
                            return
                        link.sendall(b"\xe0" + text(b"{}"))
                    elif request[0] == 0x15:
                        self.asked += 1
                        self.open.wait()
                        answer = json.dumps(self.document).encode("utf-8", "surrogatepass")
                        link.sendall(b"\x16" + text(answer))
                        return
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open.set()
        self.listener.close()
