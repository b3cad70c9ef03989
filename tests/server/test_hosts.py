# SPDX-License-Identifier: MIT
"""One graph on two hosts: server, publisher, subscriber and agent on the near one, the same but the server on the far.

They share /dev/shm here, as two hosts never do: what keeps them from using it is that the server refuses.
"""
import json
import signal
import subprocess
import time

from agent import checked, messages_of
from graph import wait_until
from graph_client import run_tests
from hosts import Host, connect, require_namespaces
from require import require

NEAR, FAR = "198.51.100.1", "198.51.100.2"
AGAIN_S = 90  # what a path of this kernel takes to be tried again, and room for a slow machine


class TwoHosts:
    """A context: topic N is published on the near host, F on the far one; a subscriber of both on each."""

    def __init__(self, *server_arguments, agents=True, own_folders=()):
        self.near, self.far = Host("ez-near", NEAR), Host("ez-far", FAR, own_folders)
        connect(self.near, self.far)
        server = self.near.start("ezprof-graphserver", "--address", f"{NEAR}:0", *server_arguments)
        self.address = server.line()
        self.sources = {host.name: self.source(host) for host in (self.near, self.far)}
        self.sinks = {host.name: self.sink(host) for host in (self.near, self.far)}
        if agents:
            for host in (self.near, self.far):
                self.attach(host)

    def ready(self, node):
        assert json.loads(node.line() or "{}").get("type") == "ready", node.stderr()
        return node

    def source(self, host):
        return self.ready(host.start("ezmsg-node", "source", "N" if host is self.near else "F", "--rate", 100,
                                     "--host", host.address, "--address", self.address))

    def sink(self, host):
        return self.ready(host.start("ezmsg-node", "sink", "N", "F", "--handle", host.name,
                                     "--address", self.address))

    def attach(self, host):
        """To both, and to one that outlives them: an agent ends with its last process."""
        keeper = self.ready(host.start("ezmsg-node", "sink", "K", "--address", self.address))
        agent = host.start("ezprof-bpf", "attach", self.sources[host.name].pid, self.sinks[host.name].pid, keeper.pid)
        wait_until(lambda: "ready" in messages_of(agent) or agent.process.poll() is not None, 60, "the agent")
        assert "registered" in messages_of(agent), messages_of(agent)
        return agent

    def profile(self):
        """The document, and the seconds that it took."""
        start = time.monotonic()
        result = self.near.output("ezprof", "profile", "--address", self.address)
        assert result.returncode in (0, 5), result
        document = checked(result.stdout)
        assert (result.returncode == 5) >= bool(document["errors"])
        return document, time.monotonic() - start

    def until(self, condition, what):
        return wait_until(lambda: condition(self.profile()[0]), AGAIN_S, what)

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.near.__exit__(*arguments)
        self.far.__exit__(*arguments)


def paths(document):
    """{(topic, host of the subscriber): (transport, messages that its subscriber got)}, without publishers' own."""
    found = {}
    transports = {link["channel_id"]: link["transport"] for p in document["publishers"] for link in p["links"]}
    for channel in document["channels"]:
        for subscriber in channel["subscribers"]:
            key = (channel["topic"], channel["host"])
            assert key not in found, key
            found[key] = (transports.get(channel["channel_id"]), subscriber["messages"]["total"])
    return found


def is_whole(document):
    return not document["errors"] and len(paths(document)) == 4 and \
        {agent["host"] for agent in document["agents"]} == {"ez-near", "ez-far"}


def numbers(value, path=""):
    """(path, number) of all numbers in a document."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, f"{path}.{key}")
    elif isinstance(value, list):
        for member in value:
            yield from numbers(member, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def check_whole(hosts):
    hosts.until(is_whole, "a document of both hosts")
    document, _ = hosts.profile()
    publishers = {p["topic"]: p["host"] for p in document["publishers"]}
    assert publishers == {"N": "ez-near", "F": "ez-far"}, publishers
    used = {key: transport for key, (transport, _) in paths(document).items()}
    assert used == {("N", "ez-near"): "shm", ("N", "ez-far"): "tcp",
                    ("F", "ez-near"): "tcp", ("F", "ez-far"): "shm"}, used
    # A duration out of two hosts' clocks would be anything.
    for path, value in numbers(document):
        if path.endswith("_ms"):
            assert 0 <= value < 60000, (path, value)
    return document


def check_cut(hosts):
    """The near half answers in time and names the far one; it is whole again some time after the cable is back."""
    before = paths(hosts.profile()[0])
    hosts.far.cable("down")
    document, seconds = hosts.profile()
    assert seconds < 15, seconds
    assert {error["host"] for error in document["errors"]} >= {"ez-far"}, document["errors"]
    for error in document["errors"]:
        assert error["host"] == "ez-far" and error["reason"] == "timeout", error
    assert {p["topic"] for p in document["publishers"] if p["host"] == "ez-near"} == {"N"}
    assert ("N", "ez-near") in paths(document) and ("F", "ez-near") in paths(document)
    hosts.far.cable("up")
    hosts.until(is_whole, "the far half")

    def all_flow(document):
        now = paths(document)
        return len(now) == 4 and all(now[key][1] > before[key][1] + 20 for key in before)
    hosts.until(all_flow, "messages on all four paths")


def test_both_hosts_and_a_cut_cable():
    with TwoHosts() as hosts:
        check_whole(hosts)
        check_cut(hosts)


def test_a_host_that_vanishes():
    """Dropped after the time-out, in nobody's way until then, and there once when it comes back; so is its agent."""
    with TwoHosts("--peer-timeout-s", "4") as hosts:
        hosts.until(is_whole, "a document of both hosts")
        hosts.far.cable("down")
        for program in (hosts.sources["ez-far"], hosts.sinks["ez-far"]):
            program.stop(signal.SIGKILL)
        hosts.until(lambda d: not d["errors"] and {p["topic"] for p in d["publishers"]} == {"N"}, "the far host dropped")
        document, seconds = hosts.profile()
        assert seconds < 15 and not document["errors"]
        hosts.far.cable("up")
        hosts.sources["ez-far"], hosts.sinks["ez-far"] = hosts.source(hosts.far), hosts.sink(hosts.far)

        def is_back(document):
            topics = sorted(p["topic"] for p in document["publishers"])
            assert topics in (["F", "N"], ["N"]), topics
            return topics == ["F", "N"] and not document["errors"] and len(paths(document)) == 4 and \
                "ez-far" in {agent["host"] for agent in document["agents"]}
        hosts.until(is_back, "the far host, and its agent by itself")


def test_without_shared_memory():
    """Real hosts: the segment that the server makes for a far publisher isn't on its machine."""
    with TwoHosts(agents=False, own_folders=["/dev/shm"]) as hosts:
        hosts.until(lambda d: len(paths(d)) == 4 and all(n > 20 for _, n in paths(d).values()), "messages on all paths")
        used = {key: transport for key, (transport, _) in paths(hosts.profile()[0]).items()}
        assert used == {("N", "ez-near"): "shm", ("N", "ez-far"): "tcp",
                        ("F", "ez-near"): "tcp", ("F", "ez-far"): "tcp"}, used


def test_marks_of_two_networks():
    """Both servers have the same port and leave their marks in one folder; each network sees its own."""
    with Host("ez-one", NEAR, ["/run"]) as one, Host("ez-two", FAR, beside=one) as two:
        address = one.start("ezprof-graphserver", "--address", "127.0.0.1:0").line()
        # The other network's server isn't there: its mark doesn't count, and nothing is asked.
        alone = two.output("ezprof", "profile", "--address", address)
        assert alone.returncode == 1 and address in alone.stderr, alone
        alone = two.output("ezprof", "profile")
        assert alone.returncode == 1 and address not in alone.stderr, alone
        assert two.start("ezprof-graphserver", "--address", address).line() == address
        marks = subprocess.run([*one.wrapper, "ls", "/run/ezprof"], stdout=subprocess.PIPE, text=True, check=True)
        assert len([name for name in marks.stdout.split() if name.startswith("server-")]) == 2, marks
        for host in (one, two):
            host.start("ezmsg-node", "source", host.name, "--rate", 10, "--address", address).line()
            # Found without an address, and as ours: a document, not the word that it knows no PROFILE.
            result = host.output("ezprof", "profile")
            document = checked(result.stdout)
            assert [p["topic"] for p in document["publishers"]] == [host.name], result
            assert document["host"] == host.name


require("bpf")
require_namespaces()
run_tests(globals())
