# SPDX-License-Identifier: MIT
"""Equal process ids in different pid namespaces: to every ezmsg publisher that is the same process, and
nothing would travel. Our channel asks for TCP there, and has shared memory wherever it can be sure.
"""
import os
import subprocess
import sys

from graph_client import Server
from require import require, skip
from runtime_peer import EzmsgPeer, Peer

# Its first process, which is what runs then, has the id 1 in each of them.
CONTAINER = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def pass_messages(publisher, subscriber, transport):
    publisher.tell("pub T 4 shm")
    subscriber.tell("sub T")
    subscriber.send("recv 11")
    publisher.tell("send 11 8", "sent 11")
    answer = subscriber.expect("got 11")
    assert answer.endswith(transport), answer
    publisher.quit()
    subscriber.quit()


def two_containers(publisher_class):
    with Server() as server, publisher_class(server.address, wrapper=CONTAINER) as publisher, \
            Peer(server.address, wrapper=CONTAINER) as subscriber:
        pass_messages(publisher, subscriber, "tcp")


def one_container():
    """The same graph, all of it in one container: this script again, inside."""
    result = subprocess.run([*CONTAINER, sys.executable, os.path.abspath(__file__), "inside"], timeout=60)
    assert result.returncode == 0, result


def inside():
    with Server() as server, Peer(server.address) as publisher, Peer(server.address) as subscriber:
        pass_messages(publisher, subscriber, "shm")


def main():
    if sys.argv[1:] == ["inside"]:
        inside()
        return
    if subprocess.run([*CONTAINER, "true"], stderr=subprocess.DEVNULL).returncode:
        skip("no right to make a pid namespace", "EZPROF_REQUIRE_BPF")
    one_container()
    print("one container: shared memory")
    two_containers(Peer)
    print("two containers, libezmsg in both: TCP")
    require("interop")
    two_containers(EzmsgPeer)
    print("two containers, ezmsg and libezmsg: TCP")


main()
