# SPDX-License-Identifier: MIT
"""`ezprof doctor`: what is missing is found and named, and what it says to type does help."""

import json
import os
import signal
import subprocess

from agent import Player, command
from graph import BIN, Graph
from require import skip

EZPROF = os.path.join(BIN, "ezprof")
NAMES = {"version", "kernel", "btf", "semaphores", "lockdown", "tracefs", "capabilities", "server",
         "processes", "agents", "shm"}
PUBLISHER = 1


def checks(text, status):
    """{name: [check...]}: other tests run on this machine as well."""
    document = json.loads(text)
    found = {}
    for check in document["checks"]:
        assert set(check) == {"name", "status", "text", "fix"}, check
        assert check["status"] in ("ok", "warn", "fail") and "\n" not in check["text"], check
        assert bool(check["fix"]) == (check["status"] != "ok"), check
        found.setdefault(check["name"], []).append(check)
    fails = any(c["status"] == "fail" for c in document["checks"])
    assert document["works"] == (not fails) and status == (3 if fails else 0), (status, text)
    assert NAMES <= set(found), found
    return found


def doctor():
    result = command("ezprof", "doctor", "--json")
    assert not result.stderr, result
    return checks(result.stdout, result.returncode)


def elsewhere(script, *words):
    """After a script in namespaces of its own, where $DOCTOR prints; what is printed, by lines."""
    done = subprocess.run(["unshare", "--mount", *words, "sh", "-c", script], text=True, timeout=120,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "DOCTOR": f"{EZPROF} doctor --json"})
    assert done.stdout and not done.stderr, done
    return [{c["name"]: c for c in json.loads(line)["checks"]} for line in done.stdout.splitlines()]


def healthy():
    with Graph() as graph, Player() as player:
        player.do("open", PUBLISHER, 8)
        found = doctor()
        assert [c["status"] for c in found["capabilities"]] == ["ok"], found
        assert any(graph.address in c["text"] and f"pid {graph.server.pid}" in c["text"]
                   for c in found["server"]), found
        assert found["processes"][0]["status"] == "ok", found
        text = command("ezprof", "doctor").stdout
        for line in text.splitlines():
            assert line.split()[0] in ("ok", "warn", "FAIL"), line
        assert NAMES <= {line.split()[1] for line in text.splitlines()}, text


def orphan():
    with Graph() as graph:
        node = graph.node("source", "T")
        os.kill(node.pid, signal.SIGSTOP)
        graph.server.process.kill()
        graph.server.process.wait()
        found = [c for c in doctor()["orphan"] if graph.address in c["text"]]
        assert len(found) == 1 and found[0]["status"] == "fail", found
        assert found[0]["fix"].startswith(f"kill {node.pid},"), found
        os.kill(node.pid, signal.SIGKILL)


def remedy(check):
    return check["fix"].split(" (")[0].removeprefix("sudo ")


def small_shm():
    """64 MiB, as in a container, and segments that want more; what is said to be typed, typed."""
    small = "mount -t tmpfs -o size=64m tmpfs /dev/shm; truncate -s 60m /dev/shm/psm_0123abcd; $DOCTOR; "
    more = small + "truncate -s 90m /dev/shm/psm_0123abce; $DOCTOR; "
    fits, full = (found["shm"] for found in elsewhere(more))
    assert fits["status"] == "ok" and "has 64.0 MiB" in fits["text"], fits
    assert full["status"] == "fail" and "2 segments take up to 150.0 MiB" in full["text"], full
    helped = elsewhere(more + remedy(full) + "; $DOCTOR")[2]["shm"]
    assert helped["status"] == "ok", helped
    huge = small + "truncate -s 0 /dev/shm/psm_0123abcd; for i in 1 2 3; do " \
        "truncate -s 8E /dev/shm/psm_$i 2>/dev/null || truncate -s 7E /dev/shm/psm_$i; done; $DOCTOR"
    assert elsewhere(huge)[1]["shm"]["status"] == "fail"


def kernel_files():
    """Files of the kernel that are missing, or say something else."""
    hidden = "for f in /sys/kernel/tracing /sys/kernel/debug; do while umount -l $f 2>/dev/null; " \
        "do :; done; done; mount -t tmpfs tmpfs /sys/kernel/btf; " \
        "mount -t tmpfs tmpfs /sys/bus/event_source; $DOCTOR; "
    [found] = elsewhere(hidden)
    assert [found[n]["status"] for n in ("tracefs", "btf", "semaphores")] == \
        ["warn", "warn", "fail"], found
    helped = elsewhere(hidden + remedy(found["tracefs"]) + "; $DOCTOR")[1]["tracefs"]
    assert helped["status"] == "ok", helped
    if os.path.isdir("/sys/kernel/security"):
        says = "mount -t tmpfs tmpfs /sys/kernel/security; for s in 'none integrity [confidentiality]' " \
            "'none [integrity] confidentiality'; do echo $s > /sys/kernel/security/lockdown; $DOCTOR; done"
        locked, half = (f["lockdown"] for f in elsewhere(says))
        assert locked["status"] == "fail" and half["status"] == "ok", (locked, half)


def no_server():
    [found] = elsewhere("$DOCTOR", "--net")
    assert (found["server"]["status"], found["server"]["fix"]) == ("warn", "ezprof serve"), found


def no_rights():
    done = subprocess.run(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", EZPROF,
                           "doctor", "--json"], text=True, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)
    found = checks(done.stdout, done.returncode)
    [rights] = found["capabilities"]
    assert rights["status"] == "warn" and "CAP_BPF" in rights["text"], rights
    assert "setcap cap_bpf," in rights["fix"], rights
    assert found["kernel"][0]["fix"] == "sudo ezprof doctor", found


def bad_usage():
    for arguments in (["x"], ["--what"]):
        result = command("ezprof", "doctor", *arguments)
        assert result.returncode == 2 and not result.stdout and result.stderr, result
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([EZPROF, "doctor"], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and "No space left" in done.stderr, done


if os.geteuid() or subprocess.run(["unshare", "--mount", "--net", "true"], check=False).returncode:
    skip("wants root and namespaces", "EZPROF_REQUIRE_BPF")
for story in (healthy, orphan, small_shm, kernel_files, no_server, no_rights, bad_usage):
    story()
    print(f"{story.__name__}: ok", flush=True)
