# SPDX-License-Identifier: MIT
"""`ezprof export`: what it says of a graph, and that series stay the same."""

import copy
import os
import random
import shutil
import socket
import subprocess
import threading
import time

from agent import command
from exporter import OPENMETRICS, TEXT, Exporter, MadeServer, Page
from graph import BIN, wait_until
from hostile_names import NAMES
from made_profile import Made
from official_parser import by_prometheus

def named():
    made = Made()
    for number, name in enumerate(NAMES):
        publisher = made.publisher(name, 1000 + number, 10.0 + number)
        made.subscriber(publisher, name, 2000 + number, 1.5, topic=name)
        made.task(name, 2000 + number)
    return made


def serve(document, *arguments):
    """(server, exporter), entered"""
    server = MadeServer(document)
    return server, Exporter("--address", server.address, *arguments, env=MadeServer.ENV)


def names():
    server, exporter = serve(named().document)
    with server, exporter:
        texts = [exporter.ask(Accept=accept)[2] for accept in (OPENMETRICS, TEXT)]
    pages = [Page(text, accept == OPENMETRICS) for text, accept in zip(texts, (OPENMETRICS, TEXT))]
    for page in pages:
        rates = page.all("ezprof_publisher_rate_per_second")
        assert sorted(labels["topic"] for labels, _ in rates) == sorted(NAMES)
        assert sorted(labels["handle"] for labels, _ in
                      page.all("ezprof_subscriber_process_p99_seconds")) == sorted(NAMES)
        assert page.one("ezprof_up") == 1 and page.one("ezprof_dropped_series") == 0
        assert page.one("ezprof_publisher_messages_total", topic=NAMES[2]) == 24
    official = by_prometheus(texts[0])
    if official:
        assert sorted(labels["topic"] for labels, _ in official["ezprof_publisher_in_flight"]) == \
            sorted(NAMES)
    strip = [{key: value for key, value in page.samples.items()
              if not key[0].startswith(("ezprof_scrape", "ezprof_dropped"))} for page in pages]
    assert strip[0] == strip[1], "the dialects differ"
    families = pages[0].families
    assert families["ezprof_publisher_blocked_seconds"][:2] == ["counter", "seconds"]
    assert families["ezprof_publisher_bytes"][:2] == ["counter", "bytes"]
    assert families["ezprof_subscriber_process_p99_seconds"][:2] == ["gauge", "seconds"]
    assert families["ezprof_build"][0] == "info"
    assert pages[1].families["ezprof_build_info"][0] == "gauge"
    assert pages[1].families["ezprof_publisher_messages_total"][0] == "counter"
    for page in pages:
        assert all(what[2] for what in page.families.values())


def negotiation():
    om, plain = OPENMETRICS, TEXT
    prometheus = ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
    newer = ("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
             "text/plain;version=1.0.0;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1")
    wanted = ((None, plain), ("", plain), ("*/*", plain), (prometheus, om), (newer, om),
              ("application/openmetrics-text", om), ("text/plain", plain),
              ("application/openmetrics-text; version=\"1.0.0\"", om),
              ("APPLICATION/OpenMetrics-Text;Version=1.0.0 , text/html", om),
              ("application/openmetrics-text;version=0.0.1", plain),
              ("application/openmetrics-text;q=0", plain),
              ("application/openmetrics-text;q=0.4,text/plain;q=0.5", plain),
              ("application/openmetrics-text;q=nonsense", plain),
              (",;,=;q==," + "a" * 5000, plain))
    server, exporter = serve(Made().document)
    with server, exporter:
        for accept, expected in wanted:
            _, headers, text = exporter.ask(**({} if accept is None else {"Accept": accept}))
            assert headers["Content-Type"] == expected, (accept, headers["Content-Type"])
            Page(text, expected == om)


def pages():
    server, exporter = serve(Made().document)
    with server, exporter:
        status, headers, text = exporter.ask(method="HEAD")
        assert (status, text, headers["Content-Type"]) == (200, "", TEXT)
        assert exporter.ask("/healthz")[::2] == (200, "ok\n")
        assert "/metrics" in exporter.ask("/")[2]
        status, _, text = exporter.ask("/metric")
        assert status == 404 and "/metrics" in text
        assert exporter.ask("/metrics?a=b")[0] == 200
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"):
            status, headers, _ = exporter.ask(method=method)
            assert status in (405, 501), (method, status)
        assert exporter.ask(method="POST")[1]["Allow"] == "GET, HEAD"
        server.listener.close()
        assert exporter.ask("/healthz")[0] == 200


def series_of(page):
    """Which series there are, but for those that say which process it is now."""
    return {key for key in page.samples if not key[0].endswith("_info")}


def restart():
    """A restart of everything changes pids and ids, and no series; its totals begin anew."""
    def graph(pid, first_id, count):
        made = Made()
        made.ids = first_id
        for topic in ("A", "B"):
            pub = made.publisher(topic, pid, messages={"total": count, "window": 1})
            for handle in ("x", "y"):
                made.subscriber(pub, handle, pid + 1)
        made.task("t", pid)
        made.document["agents"][0]["pid"] = pid + 2
        return made.document
    server, exporter = serve(graph(100, 0, 1000))
    with server, exporter:
        before = exporter.scrape()
        server.document = graph(500, 500, 3)
        after = exporter.scrape()
    assert series_of(before) == series_of(after)
    assert before.one("ezprof_publisher_messages_total", topic="A") == 1000
    assert after.one("ezprof_publisher_messages_total", topic="A") == 3
    assert before.one("ezprof_publisher_info", topic="A", pid="100") == 1
    assert after.one("ezprof_publisher_info", topic="A", pid="500") == 1
    assert not any("pid" in labels or "id" in labels for name, key in series_of(after)
                   for labels in [dict(key)] if name != "ezprof_process_errors"), after.samples


def twins():
    """Several of one name keep their numbers, whatever their order and whoever goes."""
    made = Made()
    pubs = [made.publisher("A", 100 + n, rate=10.0 * (n + 1)) for n in range(4)]
    server, exporter = serve(made.document)

    def numbers():
        found = exporter.scrape().all("ezprof_publisher_rate_per_second")
        return {value: labels.get("twin", "0") for labels, value in found}
    with server, exporter:
        first = numbers()
        assert sorted(first.values()) == ["0", "1", "2", "3"], first
        made.document["publishers"].reverse()
        assert numbers() == first
        made.document["publishers"].remove(pubs[1])
        left = numbers()
        assert left == {rate: first[rate] for rate in left} and len(left) == 3, left
        pubs[1].update(id=made.number(), pid=900, message_rate_hz=70.0)
        made.document["publishers"].insert(0, pubs[1])
        assert numbers() == {**left, 70.0: first[20.0]}
        made.document["publishers"].append(copy.deepcopy(pubs[2]))  # the very same one twice
        page = exporter.scrape()
        assert len(page.all("ezprof_publisher_rate_per_second")) == 4
        assert page.one("ezprof_dropped_series") > 0


def monotonic():
    """Of one and the same endpoint no total goes back, but what a new agent counts does."""
    made = Made()
    pub = made.publisher("A", 100)
    server, exporter = serve(made.document)
    with server, exporter:
        def totals():
            page = exporter.scrape()
            return [page.one(f"ezprof_publisher_{name}_total", topic="A") for name in
                    ("blocked_seconds", "messages", "measured_messages", "lost")]
        pub["blocked"]["total_ms"], pub["lost"] = 1000.5, 7
        pub["messages"]["total"], pub["measured"]["messages"] = 500, 400
        assert totals() == [1.0005, 500, 400, 7]
        pub["blocked"]["total_ms"], pub["lost"] = 1000.1, 6
        assert totals() == [1.0005, 500, 400, 7]
        pub["blocked"]["total_ms"], pub["messages"]["total"] = 2000.0, 501
        assert totals() == [2.0, 501, 400, 7]
        pub["measured"]["messages"], pub["lost"] = 1, 0
        assert totals() == [2.0, 501, 1, 0]
        pub["lost"] = None
        assert not exporter.scrape().all("ezprof_publisher_lost_total"), "unknown is absent"


def limit():
    made = Made()
    for number in range(40):
        pub = made.publisher(f"T{number:02}", 100 + number)
        made.subscriber(pub, "sink", 200 + number)
    server, exporter = serve(made.document, "--max-series", 300)
    with server, exporter:
        one = exporter.scrape()
        mixed = random.Random(8)
        for key in ("publishers", "channels"):
            mixed.shuffle(made.document[key])
        for channel in made.document["channels"]:  # values that come and go change nothing
            channel["subscribers"][0]["drops"]["total"] = None
        other = exporter.scrape()
    own = {key for key in one.samples if key[0].startswith(("ezprof_scrape", "ezprof_up",
                                                            "ezprof_dropped", "ezprof_build"))}
    assert 200 < len(one.samples) - len(own) <= 300, len(one.samples)
    assert one.one("ezprof_dropped_series") > 1000
    assert len(one.all("ezprof_publisher_messages_total")) == 40
    lacking = series_of(one) - series_of(other)
    assert len(lacking) == 40 and {name for name, _ in lacking} == {"ezprof_subscriber_drops_total"}
    assert not series_of(other) - series_of(one)


def errors():
    made = Made()
    made.publisher("A", 1)
    for who, pid, reason in (("agent", 9, "timeout"), ("publisher", 7, "died"),
                             ("publisher", 7, "died"), ('"\n', None, "\\")):
        made.document["errors"].append({"who": who, "pid": pid, "reason": reason, "detail": "x",
                                        "topic": None, "id": None, "host": "here"})
    server, exporter = serve(made.document)
    with server, exporter:
        page = exporter.scrape()
    assert page.one("ezprof_process_errors", who="agent", pid="9", reason="timeout") == 1
    assert page.one("ezprof_process_errors", pid="7", reason="died") == 2
    assert page.one("ezprof_process_errors", who='"\n', reason="\\") == 1
    assert page.one("ezprof_graph_errors") == 4


def down():
    """No stale figure, no hang: whoever is silent, late or gone is ezprof_up 0, in time."""
    server, exporter = serve(named().document)
    with server, exporter:
        assert exporter.scrape().one("ezprof_up") == 1
        server.open.clear()
        begin = time.monotonic()
        page = exporter.scrape(X_Prometheus_Scrape_Timeout_Seconds="1")
        took = time.monotonic() - begin
        assert page.one("ezprof_up") == 0 and 0.8 < took < 9, took
        assert page.one("ezprof_scrape_failure", reason="timeout") == 1
        assert not any(name.startswith("ezprof_publisher") for name, _ in page.samples)
        assert exporter.ask("/healthz")[0] == 200
        server.open.set()
        assert exporter.scrape().one("ezprof_up") == 1
        server.listener.close()
        page = wait_until(lambda: next((p for p in [exporter.scrape()] if not p.one("ezprof_up")),
                                       None), 60)
        assert page.one("ezprof_scrape_failure", reason="unreachable") == 1
        assert page.one("ezprof_scrapes_failed_total") >= 2
    server, exporter = serve("no document")
    with server, exporter:
        page = exporter.scrape()
        assert page.one("ezprof_scrape_failure", reason="bad_answer") == 1


def together():
    """Scrapes at one time share a document, in either dialect."""
    server, exporter = serve(named().document)
    with server, exporter:
        server.open.clear()
        found = []
        threads = [threading.Thread(target=lambda a=accept: found.append(exporter.scrape(a)))
                   for accept in (OPENMETRICS, TEXT) * 6]
        for thread in threads:
            thread.start()
        wait_until(lambda: exporter.descriptors() > 20, 20)
        server.open.set()
        for thread in threads:
            thread.join(60)
        assert len(found) == 12 and all(page.one("ezprof_up") == 1 for page in found)
        assert server.asked < 6, server.asked


def at_once():
    """A signal ends it with 0, also while the graph server doesn't answer."""
    import signal
    for signum in (signal.SIGINT, signal.SIGTERM):
        server, exporter = serve(Made().document)
        with server, exporter:
            server.open.clear()
            threading.Thread(target=lambda: _quiet(exporter.ask), daemon=True).start()
            wait_until(lambda: server.asked, 20)
            begin = time.monotonic()
            exporter.stop(signum)
            assert exporter.process.returncode == 0 and time.monotonic() - begin < 3
            assert exporter.stderr() == "", exporter.stderr()


def own_address():
    """One that isn't loopback; None where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return probe.getsockname()[0]
        except OSError:
            return None


def foreign():
    """A Python server elsewhere is asked once what it is: it prints a warning each time."""
    host = own_address()
    if not host or host.startswith("127."):
        return
    with MadeServer(None, host) as server, Exporter("--address", server.address) as exporter:
        for _ in range(4):
            exporter.scrape()
        assert server.greeted == 1, server.greeted


def _quiet(call):
    try:
        call()
    except Exception:
        pass


def usage():
    for arguments in (("--listen", "9464"), ("--window", "17"), ("--max-series", "0"), ("extra",),
                      ("--interval", "1"), ("--textfile", "f", "--listen", "127.0.0.1:0"),
                      ("--textfile", ""), ("--textfile", "f", "--interval", "0")):
        done = command("ezprof", "export", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), (arguments, done)
        assert done.stderr.count("\n") == 1, done.stderr
    server, exporter = serve(Made().document)
    with server, exporter:
        taken = command("ezprof", "export", "--listen", "%s:%d" % exporter.address)
        assert taken.returncode == 1 and "in use" in taken.stderr, taken
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([os.path.join(BIN, "ezprof"), "export", "--listen", "127.0.0.1:0"],
                              stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    away = command("ezprof", "export", "--listen", "203.0.113.1:0")
    assert away.returncode == 1 and away.stderr.count("\n") == 1, away


def promtool():
    if not shutil.which("promtool"):
        return
    server, exporter = serve(named().document)
    with server, exporter:
        _, _, text = exporter.ask()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout


for part in (names, negotiation, pages, restart, twins, monotonic, limit, errors, down, together,
             at_once, foreign, usage, promtool):
    begin = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - begin:.2f} s", flush=True)
