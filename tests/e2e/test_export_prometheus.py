# SPDX-License-Identifier: MIT
"""A real Prometheus scrapes `ezprof export`: its figures are those of `ezprof profile`, to the last one."""

import json
import os
import re
import shutil
import socket
import tempfile
import urllib.parse
import urllib.request

from agent import Agent, profile
from exporter import Exporter
from graph import Graph, Program, end_all, wait_until
from require import require, skip

require("bpf")
if not shutil.which("prometheus"):
    skip("prometheus isn't installed", "EZPROF_REQUIRE_BPF")

TOPICS = {'"quoted", {comma}=1': 23, "line\nbreak\\n": 45, "Grüße/日本語": 67, "SYS/" + "x" * 4000: 89}
RULES = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "docs", "prometheus", "ezprof.rules.yml")


class Prometheus:
    def __init__(self, folder, target):
        self.folder, self.target, self.program = folder, target, None
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                       "rule_files": [RULES],
                       "scrape_configs": [{"job_name": "ezprof",
                                           "static_configs": [{"targets": [target]}]}]}, file)
        for _ in range(5):  # the port may be taken between our looking and its listening
            if self.start():
                return
        raise RuntimeError(self.program.stderr())

    def start(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.url = "http://127.0.0.1:%d" % free.getsockname()[1]
        self.program = Program(["prometheus", f"--config.file={self.folder}/prometheus.yml",
                                f"--storage.tsdb.path={self.folder}/data",
                                f"--web.listen-address={self.url[7:]}"])

        def ready():
            try:
                return urllib.request.urlopen(self.url + "/-/ready", timeout=10).status == 200
            except OSError:
                return self.program.process.poll() is not None
        wait_until(ready, 60, "prometheus is ready")
        return self.program.process.poll() is None

    def ask(self, path, **query):
        text = self.url + "/api/v1/" + path + "?" + urllib.parse.urlencode(query)
        with urllib.request.urlopen(text, timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def values(self, expression):
        """{frozenset of labels, without Prometheus' own: value}, of now"""
        found = self.ask("query", query=expression)["result"]
        own = ("__name__", "instance", "job")
        return {frozenset((k, v) for k, v in one["metric"].items() if k not in own):
                float(one["value"][1]) for one in found}

    def one(self, expression):
        values = self.values(expression)
        return next(iter(values.values())) if len(values) == 1 else None

    def own_counter(self, name):
        with urllib.request.urlopen(self.url + "/metrics", timeout=30) as answer:
            return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.M).group(1))


def target_is_well(prometheus):
    """None: it hasn't been scraped yet."""
    for target in prometheus.ask("targets")["activeTargets"]:
        assert target["health"] != "down", target["lastError"]
        return target["health"] == "up"
    return None


def labels(**names):
    return frozenset(names.items())


def same_totals(prometheus, document):
    """After the traffic has ended, what is in Prometheus is what is in the document."""
    wanted = {"messages": {}, "bytes": {}}
    for pub in document["publishers"]:
        key = labels(topic=pub["topic"], handle=pub["handle"], host=pub["host"])
        for what, values in wanted.items():
            values["publisher", key] = pub[what]["total"]
    by_id = {pub["id"]: pub["topic"] for pub in document["publishers"]}
    for channel in document["channels"]:
        for sub in channel["subscribers"]:
            key = labels(topic=sub["topic"], publisher=by_id[channel["pub_id"]],
                         handle=sub["handle"], host=channel["host"])
            for what, values in wanted.items():
                values["subscriber", key] = sub[what]["total"]
    assert {pub["topic"]: pub["messages"]["total"] for pub in document["publishers"]} == TOPICS
    for what, values in wanted.items():
        assert len(values) == 2 * len(TOPICS), values
        found = {(scope, key): value for scope in ("publisher", "subscriber")
                 for key, value in prometheus.values(f"ezprof_{scope}_{what}_total").items()}
        assert found == values, (what, found, values)


def metadata(prometheus):
    """By family: {name: (type, unit, help)}"""
    found = {one["metric"]: one for one in prometheus.ask("targets/metadata",
                                                          match_target='{job="ezprof"}')}
    ours = {name: one for name, one in found.items() if name.startswith("ezprof_")}
    assert len(ours) > 40 and all(one["help"] for one in ours.values())
    for name, kind, unit in (("ezprof_publisher_messages", "counter", ""),
                             ("ezprof_publisher_blocked_seconds", "counter", "seconds"),
                             ("ezprof_publisher_bytes", "counter", "bytes"),
                             ("ezprof_publisher_in_flight", "gauge", ""),
                             ("ezprof_subscriber_process_p99_seconds", "gauge", "seconds"),
                             ("ezprof_publisher", "info", "")):
        assert (ours[name]["type"], ours[name]["unit"]) == (kind, unit), ours[name]


def nothing_dropped(prometheus):
    scraped = prometheus.one("scrape_samples_scraped")
    assert scraped > 200
    assert prometheus.one("scrape_samples_post_metric_relabeling") == scraped
    for name in ("duplicate_timestamp", "out_of_order", "out_of_bounds"):
        assert prometheus.own_counter(f"prometheus_target_scrapes_sample_{name}_total") == 0, name
    assert prometheus.one("ezprof_dropped_series") == 0
    health = {rule["health"] for group in prometheus.ask("rules")["groups"]
              for rule in group["rules"]}
    assert health == {"ok"}, health


def node_restarts(graph, prometheus, source, topic):
    """Another process of the same name goes on with the same series, whose counter begins anew."""
    source.stop()
    again = graph.node("source", topic, "--count", 5, "--wait-channels", 1)
    Graph.sent(again)

    def by_topic(expression):
        return {dict(key)["topic"]: value for key, value in prometheus.values(expression).items()}
    wait_until(lambda: by_topic("ezprof_publisher_messages_total").get(topic) == 5, 60, "5 of it")
    resets = by_topic("resets(ezprof_publisher_messages_total[10m])")
    assert resets == {name: float(name == topic) for name in TOPICS}, resets
    kept = prometheus.ask("series", **{"match[]": "ezprof_publisher_messages_total"})
    assert len(kept) == len(TOPICS), kept
    infos = prometheus.ask("series", **{"match[]": "ezprof_publisher_info"})
    pids = {one["pid"] for one in infos if one["topic"] == topic}
    assert {str(source.pid), str(again.pid)} <= pids, pids


def restarts(graph, prometheus):
    """A server that is gone is ezprof_up 0, and no figure stays; back again is 1."""
    graph.server.process.kill()
    graph.server.process.wait()
    wait_until(lambda: prometheus.one("ezprof_up") == 0, 60, "ezprof_up 0")
    assert prometheus.one("up") == 1
    assert prometheus.one('ezprof_scrape_failure{reason="unreachable"}') == 1
    assert not prometheus.values("ezprof_publisher_messages_total")
    graph.program(os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver"), "--address",
                  graph.address)
    wait_until(lambda: prometheus.one("ezprof_up") == 1, 60, "ezprof_up 1")


def main():
    with tempfile.TemporaryDirectory() as folder, Graph() as graph:
        sink = graph.node("sink", *TOPICS)
        sources = [graph.node("source", topic, "--count", count, "--rate", 100, "--bytes", count,
                              "--wait-channels", 1) for topic, count in TOPICS.items()]
        with Agent(sink.pid, *(source.pid for source in sources)), \
                Exporter("--address", graph.address, "--window", 16) as exporter:
            prometheus = Prometheus(folder, "%s:%d" % exporter.address)
            try:
                wait_until(lambda: target_is_well(prometheus), 60, "the target is scraped")
                for source in sources:
                    Graph.sent(source)
                graph.sync()
                document = profile(graph.address)
                total = sum(TOPICS.values())
                wait_until(lambda: prometheus.one("sum(ezprof_subscriber_messages_total)") == total,
                           60, "all messages are counted")
                same_totals(prometheus, document)
                metadata(prometheus)
                nothing_dropped(prometheus)
                measured = prometheus.values("ezprof_publisher_measured_messages_total")
                assert len(measured) == len(TOPICS)
                node_restarts(graph, prometheus, sources[0], next(iter(TOPICS)))
            except BaseException:
                end_all([prometheus.program])
                raise
        # Agents would tell without a server; now there is none.
        with Exporter("--listen", "%s:%d" % exporter.address, "--address", graph.address):
            try:
                restarts(graph, prometheus)
                assert target_is_well(prometheus)
                nothing = prometheus.one('sum(increase(ezprof_dropped_connections_total[1m]))')
                assert nothing in (0, None), nothing
            finally:
                end_all([prometheus.program])


main()
