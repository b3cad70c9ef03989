# SPDX-License-Identifier: MIT
"""`ezprof export` where somebody is slow, rude or gone; its file; and as a service.

EZPROF_FULL=1: 20,000 scrapes instead of 1,000, 20,000 random requests instead of 500.
"""

import os
import random
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from agent import command
from exporter import OPENMETRICS, Exporter, MadeServer, Page
from graph import BIN, Graph, Program, wait_until
from made_profile import Made

FULL = os.environ.get("EZPROF_FULL") == "1"
SANITIZED = bool(os.environ.get("EZPROF_TEST_SANITIZE"))  # what is freed stays for a while
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 8


def small():
    made = Made()
    made.subscriber(made.publisher("A", 1), "sink", 2)
    return made.document


def large(endpoints):
    made = Made()
    for number in range(endpoints):
        made.subscriber(made.publisher(f"T{number}", 10 + number), f"sink{number}", 9000 + number)
    return made.document


def serve(document, *arguments):
    server = MadeServer(document)
    return server, Exporter("--address", server.address, *arguments, env=MadeServer.ENV)


def connect(exporter):
    link = socket.create_connection(exporter.address, timeout=60)
    link.settimeout(60)
    return link


def said(link, text):
    """What comes back until the other end closes; b"" if it is reset."""
    found = b""
    try:
        link.sendall(text)
        link.shutdown(socket.SHUT_WR)
        while part := link.recv(65536):
            found += part
    except OSError:
        pass
    return found


def still_well(exporter):
    assert exporter.scrape().one("ezprof_up") == 1
    assert exporter.process.poll() is None


def rubbish():
    """Random bytes, and requests that are almost ones."""
    dice = random.Random(SEED)
    good = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    server, exporter = serve(small())
    with server, exporter:
        before = exporter.descriptors()
        for number in range(20000 if FULL else 500):
            if number % 2:
                text = dice.randbytes(dice.randrange(1, 3000))
            else:
                text = bytearray(good)
                for _ in range(dice.randrange(1, 6)):
                    text[dice.randrange(len(text))] = dice.randrange(256)
            with connect(exporter) as link:
                said(link, bytes(text))
        still_well(exporter)
        wait_until(lambda: exporter.descriptors() <= before + 2, 30, "no descriptor stays")


def too_much():
    """Huge heads, lines and bodies get an answer that refuses, or none, and cost nothing."""
    server, exporter = serve(small())
    head = b"GET /metrics HTTP/1.1\r\n"
    with server, exporter:
        exporter.scrape()
        size = exporter.resident_kib()
        for text in (head + b"X: " + b"a" * (1 << 24) + b"\r\n\r\n",
                     head + b"".join(b"X%d: y\r\n" % n for n in range(200000)) + b"\r\n",
                     b"GET /" + b"a" * (1 << 24) + b" HTTP/1.1\r\n\r\n",
                     b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                     b"POST /metrics HTTP/1.1\r\nContent-Length: 16777216\r\n\r\n" + b"a" * (1 << 24),
                     b"POST /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
                     head + b"Accept: " + b"text/plain;q=0.1," * 400 + b"\r\n\r\n"):
            with connect(exporter) as link:
                answer = said(link, text)
                assert re.match(rb"HTTP/1.1 (4\d\d|501) |$", answer) or b"q=0.1" in text, answer[:200]
        still_well(exporter)
        assert SANITIZED or exporter.resident_kib() < size + 8192, (size, exporter.resident_kib())


def half_open():
    """500 who connect and say nothing, or not all: others are served, and descriptors bounded."""
    server, exporter = serve(small())
    with server, exporter:
        links = []
        for number in range(500):
            links.append(connect(exporter))
            if number % 2:
                links[-1].sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            if number % 100 == 99:
                still_well(exporter)
        assert exporter.descriptors() < 64 + 128, exporter.descriptors()
        page = exporter.scrape()
        assert page.one("ezprof_dropped_connections_total") > 300
        for link in links:
            link.close()
        wait_until(lambda: exporter.descriptors() < 20, 30, "no descriptor stays")


def drip():
    """Who sends a byte at a time is closed though never idle; served is who comes meanwhile."""
    server, exporter = serve(small())
    with server, exporter, connect(exporter) as link:
        begin = time.monotonic()
        try:
            while time.monotonic() - begin < 100:
                link.sendall(b"a")
                still_well(exporter)
                if select.select([link], [], [], 0.2)[0]:
                    break
        except OSError:
            pass
        assert 5 < time.monotonic() - begin < 100


def slow_reader():
    """Who asks and doesn't read holds up nobody, nor does a signal wait for them."""
    server, exporter = serve(large(400))
    with server, exporter:
        links = [connect(exporter) for _ in range(8)]
        for link in links:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" * 3)
        for _ in range(5):
            still_well(exporter)
        begin = time.monotonic()
        exporter.stop()
        assert exporter.process.returncode == 0 and time.monotonic() - begin < 5
        for link in links:
            link.close()


def gone_meanwhile():
    """Scrapers that go while their document is on its way."""
    server, exporter = serve(small())
    with server, exporter:
        server.open.clear()
        for reset in (False, True) * 20:
            link = connect(exporter)
            link.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            if reset:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            link.close()
        wait_until(lambda: server.asked, 20)
        server.open.set()
        still_well(exporter)
        wait_until(lambda: exporter.descriptors() < 20, 30, "no descriptor stays")


def flat():
    """Memory and descriptors over many scrapes, also with processes that come and go."""
    server, exporter = serve(large(20))
    with server, exporter:
        def scrapes(n):
            for number in range(n):
                server.document["publishers"][number % 20]["id"] = f"id-{number}"
                server.document["publishers"][number % 20]["pid"] = 100 + number
                exporter.ask(Accept=OPENMETRICS)
        scrapes(100)
        size, descriptors = exporter.resident_kib(), exporter.descriptors()
        scrapes(20000 if FULL else 200 if SANITIZED else 1000)
        grown = exporter.resident_kib() - size
        print(f"flat: {size} KiB, {grown} more", flush=True)
        assert SANITIZED or grown < 2048, (size, grown)
        wait_until(lambda: exporter.descriptors() <= descriptors, 30, "no descriptor stays")
        still_well(exporter)


def without_rights():
    """Nobody's process with no capabilities exports a graph of root's server."""
    if os.geteuid():
        return
    with Graph() as graph:
        sink = graph.node("sink", "T")
        source = graph.node("source", "T", "--count", 23, "--wait-channels", 1)
        Graph.sent(source)
        graph.sync()
        program = Program(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                           "--bounding-set=-all", "--no-new-privs", os.path.join(BIN, "ezprof"),
                           "export", "--listen", "127.0.0.1:0", "--address", graph.address])
        try:
            with urllib.request.urlopen(program.line(), timeout=60) as answer:
                page = Page(answer.read().decode())
            assert page.one("ezprof_up") == 1
            assert page.one("ezprof_publisher_messages_total", topic="T") == 23
            assert page.one("ezprof_subscriber_messages_total", topic="T") == 23
        finally:
            program.stop()
        assert sink.process.poll() is None


def textfile():
    server = MadeServer(small())
    with server, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ezprof.prom")

        def write(*more, where=path, address=server.address, umask=0o077):
            return command("ezprof", "export", "--address", address, "--textfile", where, *more,
                           env=MadeServer.ENV, preexec_fn=lambda: os.umask(umask))

        def page():
            with open(path, encoding="utf-8") as file:
                return Page(file.read())
        done = write()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        assert page().one("ezprof_publisher_messages_total", topic="A") == 200
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o644
        assert os.listdir(folder) == ["ezprof.prom"]
        old = os.stat(path).st_ino
        assert write().returncode == 0 and os.stat(path).st_ino != old, "not replaced as a whole"
        for where in (os.path.join(folder, "no", "x.prom"), folder, "/dev/full/x.prom"):
            done = write(where=where)
            assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert os.listdir(folder) == ["ezprof.prom"], "a part stayed"
        done = write(address="127.0.0.1:1")
        assert done.returncode == 1 and "nobody listens" in done.stderr, done
        assert page().one("ezprof_up") == 0
        assert page().one("ezprof_scrape_failure", reason="unreachable") == 1
        small_disk(folder, server)
        again(server, path, page)


def small_disk(folder, server):
    """A full disk: the file of before stays whole, and no part of the new one is left."""
    if os.geteuid():
        return
    script = ('mount -t tmpfs -o size=4k none "$1" && echo old >"$1/e.prom" && '
              '"$2" export --address "$3" --textfile "$1/e.prom"; s=$?; '
              'cat "$1/e.prom"; ls "$1"; exit $s')
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", folder,
                           os.path.join(BIN, "ezprof"), server.address], text=True,
                          env={**os.environ, **MadeServer.ENV}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stdout) == (1, "old\ne.prom\n"), done
    assert "No space" in done.stderr, done


def again(server, path, page):
    """With --interval, whatever the graph does; a reader never sees half a file; none in the end."""
    program = Program([os.path.join(BIN, "ezprof"), "export", "--address", server.address,
                       "--textfile", path, "--interval", "0.02"], env=MadeServer.ENV)
    try:
        wait_until(lambda: page().one("ezprof_up") == 1, 20)
        seen = set()
        for number in range(300):
            server.document["publishers"][0]["messages"]["total"] = 200 + number
            seen.add(page().one("ezprof_publisher_messages_total", topic="A"))
        wait_until(lambda: page().one("ezprof_publisher_messages_total", topic="A") == 499, 20)
        server.listener.close()
        wait_until(lambda: page().one("ezprof_up") == 0, 20)
        program.stop(signal.SIGTERM)
        assert program.process.returncode == 0 and not os.path.exists(path)
        assert os.listdir(os.path.dirname(path)) == []
        assert program.stderr().count("\n") == 1, program.stderr()
    finally:
        if program.process.poll() is None:
            program.stop()


def service():
    """Says that it is ready, that it lives, and that it ends."""
    with tempfile.TemporaryDirectory() as folder, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(os.path.join(folder, "notify"))
        notify.settimeout(20)
        server = MadeServer(small())
        with server, Exporter("--address", server.address, env={
                **MadeServer.ENV, "NOTIFY_SOCKET": notify.getsockname(),
                "WATCHDOG_USEC": "200000"}) as exporter:
            words = [notify.recv(100) for _ in range(3)]
            assert words == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"], words
            server.open.clear()  # the loop turns though the graph server hangs
            threading.Thread(target=lambda: _quietly(exporter.ask), daemon=True).start()
            wait_until(lambda: server.asked, 20)
            assert [notify.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            exporter.stop()
            while (word := notify.recv(100)) == b"WATCHDOG=1":
                pass
            assert word == b"STOPPING=1", word


def _quietly(call):
    try:
        call()
    except Exception:
        pass


print(f"seed {SEED}")
for part in (rubbish, too_much, half_open, drip, slow_reader, gone_meanwhile, flat, without_rights,
             textfile, service):
    begin = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - begin:.2f} s", flush=True)
