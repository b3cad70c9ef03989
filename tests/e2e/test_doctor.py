# SPDX-License-Identifier: MIT
"""`ezprof doctor`: what is missing is found and named, and what it says to type does help."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from agent import Player, command
from graph import BIN, Graph
from require import skip

EZPROF = os.path.join(BIN, "ezprof")
NAMES = {"version", "kernel", "btf", "semaphores", "lockdown", "tracefs", "capabilities", "server",
         "graph", "hello", "processes", "ezmsg", "agents", "shm"}
PUBLISHER = 1
VERSION = command("ezprof", "--version").stdout.split()[1]


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


def doctor(**variables):
    result = subprocess.run([EZPROF, "doctor", "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=120, check=False, env={**os.environ, **variables})
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
        [server] = [c for c in found["server"] if graph.address in c["text"]]
        assert f"version {VERSION}, greets as ezmsg 3.9.0" in server["text"], server
        [version] = found["version"]
        assert re.search(rf"^ezprof {VERSION} with libbpf v\d+\.\d+ on Linux \S+ ", version["text"]), version
        text = command("ezprof", "doctor").stdout
        for line in text.splitlines():
            assert line.split()[0] in ("ok", "warn", "FAIL"), line
        assert NAMES <= {line.split()[1] for line in text.splitlines()}, text


def settings():
    """What counts here, and who says so."""
    said = doctor(EZMSG_GRAPHSERVER_ADDR="10.1.2.3:4567", EZPROF_HELLO="1")
    assert said["graph"][0]["text"] == "10.1.2.3:4567, from EZMSG_GRAPHSERVER_ADDR in the environment", said
    assert said["hello"][0]["text"].startswith("EZPROF_HELLO=1 in the environment: "), said
    said = doctor(EZMSG_GRAPHSERVER_ADDR="nonsense", EZPROF_HELLO="perhaps")
    assert said["graph"][0]["status"] == "fail" and said["hello"][0]["status"] == "warn", said
    with Graph() as one, Graph() as other:
        [several] = doctor()["graph"]
        assert several["status"] == "warn" and one.address in several["text"], several
        assert other.address in several["text"], several
        address = re.match(r"export EZMSG_GRAPHSERVER_ADDR=(\S+) ", several["fix"])[1]
        assert address in several["text"].split(), several


def deaf_server():
    with Graph() as graph:
        os.kill(graph.server.pid, signal.SIGSTOP)
        [server] = [c for c in doctor()["server"] if graph.address in c["text"]]
        os.kill(graph.server.pid, signal.SIGCONT)
        assert server["status"] == "fail" and "no graph server answers there" in server["text"], server
        assert server["fix"].startswith(f"kill {graph.server.pid},"), server


def python_versions():
    """By what pip writes down beside a library that is mapped: here one of ours, in such a folder."""
    with Graph() as graph, tempfile.TemporaryDirectory() as folder:
        packages = os.path.join(folder, "lib", "site-packages")
        for name in ("ezmsg-3.9.7b1.dist-info", "ezmsg_usdt-0.0.1.dist-info", "ezmsg-\x1b[31m.dist-info",
                     "ezmsg-" + "9" * 200 + ".dist-info"):
            os.makedirs(os.path.join(packages, name))
        shutil.copy(os.path.join(BIN, "../lib/libezmsg.so.0"), packages)
        node = graph.program(os.path.join(BIN, "ezmsg-node"), "sink", "T", env={"LD_LIBRARY_PATH": packages})
        assert "ready" in node.line(), node.stderr()
        found = doctor()
        assert "3.9.7b1 in 1 process" in found["ezmsg"][0]["text"], found
        [old] = [c for c in found["ezmsg-usdt"] if f"process {node.pid} " in c["text"]]
        # Where nothing of it is mapped: by the interpreter's own name.
        environment = os.path.join(folder, "environment")
        os.makedirs(os.path.join(environment, "lib/python3.11/site-packages/ezmsg-3.9.8.dist-info"))
        program = graph.program("bash", "-c", f"exec -a {environment}/bin/python3 {BIN}/ezmsg-node sink T")
        assert "ready" in program.line(), program.stderr()
        assert "3.9.8 in 1 process" in doctor()["ezmsg"][0]["text"], doctor()
        assert "has ezmsg-usdt 0.0.1" in old["text"] and "pip install --upgrade ezmsg-usdt" in old["fix"], old


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


def bounded():
    """Root of a container: what it lacks comes from who started the container, neither by sudo nor by setcap."""
    for gone, added in (("bpf,-perfmon,-sys_admin", "--cap-add BPF --cap-add PERFMON"),
                        ("sys_ptrace", "--cap-add SYS_PTRACE")):
        done = subprocess.run(["setpriv", f"--bounding-set=-{gone}", EZPROF, "doctor", "--json"], text=True,
                              capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        found = checks(done.stdout, done.returncode)
        [rights] = found["capabilities"]
        assert rights["status"] == "warn" and "bounding set" in rights["text"], rights
        assert f"start the container with {added} (a systemd" in rights["fix"], rights
        assert "run it on the host" in rights["fix"] and "sudo" not in rights["fix"], rights
        assert "sudo" not in (found["kernel"][0]["fix"] or ""), found


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
for story in (healthy, settings, deaf_server, python_versions, orphan, small_shm, kernel_files, no_server, no_rights, bounded, bad_usage):
    story()
    print(f"{story.__name__}: ok", flush=True)
