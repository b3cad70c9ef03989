# SPDX-License-Identifier: MIT
"""Starting, stopping and addresses, as a person or systemd does it."""
import os
import signal
import socket
import subprocess
import tempfile

from graph_client import Link, run_tests

PROGRAM = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")


def start(address, **more):
    process = subprocess.Popen([PROGRAM, "--address", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, **more)
    return process, process.stdout.readline().strip()


def stop(process, number=signal.SIGTERM):
    process.send_signal(number)
    _, error = process.communicate(timeout=10)
    assert process.returncode == 0, (process.returncode, error)


def test_restart_on_the_same_port():
    """The server closes first, so that its side of the connections is in TIME_WAIT; the port is free at once."""
    process, address = start("127.0.0.1:0")
    for _ in range(3):
        links = [Link(address) for _ in range(5)]
        stop(process, signal.SIGINT)
        for link in links:
            link.expect_closed()
            link.close()
        process, again = start(address)
        assert again == address, process.communicate()
    stop(process)


def test_ipv6():
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        print("no IPv6 here")
        return
    process, address = start("[::1]:0")
    assert address.startswith("[::1]:")
    Link(address).close()
    stop(process)


def test_localhost_of_both_families():
    """A name with two addresses is served on both, and each is busy for a second server."""
    if not os.path.exists("/proc/net/if_inet6"):
        print("no IPv6 here")
        return
    with tempfile.NamedTemporaryFile("w") as hosts:
        hosts.write("127.0.0.1 localhost both.test\n::1 localhost both.test\n")
        hosts.flush()
        os.chmod(hosts.name, 0o644)
        inner = f'mount --bind {hosts.name} /etc/hosts && exec "$0" --address both.test:0'
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", inner, PROGRAM], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        address = process.stdout.readline().strip()
        if not address:
            print("no mount namespace here:", process.communicate()[1].strip())
            return
        port = address.rsplit(":", 1)[1]
        assert address == f"both.test:{port}"
        for host in ("127.0.0.1", "[::1]"):
            with Link(f"{host}:{port}") as link:
                assert link.version
            busy = subprocess.run([PROGRAM, "--address", f"{host}:{port}"], capture_output=True, text=True)
            assert busy.returncode == 1 and f"{host}:{port}" in busy.stderr, busy
        stop(process)


def test_unknown_host():
    result = subprocess.run([PROGRAM, "--address", "no.such.host.invalid:1234"], capture_output=True, text=True)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and "no.such.host.invalid" in result.stderr, result.stderr


def notified(path, name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(path)
        sock.settimeout(10)
        process, address = start("127.0.0.1:0", env={**os.environ, "NOTIFY_SOCKET": name})
        assert sock.recv(100) == b"READY=1"
        Link(address).close()
        stop(process)
        assert sock.recv(100) == b"STOPPING=1"


def test_readiness():
    with tempfile.TemporaryDirectory() as folder:
        notified(f"{folder}/notify", f"{folder}/notify")
    notified(f"\0ezprof-test-{os.getpid()}", f"@ezprof-test-{os.getpid()}")
    # Nobody there: said, and no reason not to run.
    process, address = start("127.0.0.1:0", env={**os.environ, "NOTIFY_SOCKET": "/nonexistent/socket"})
    Link(address).close()
    stop(process)


run_tests(globals())
