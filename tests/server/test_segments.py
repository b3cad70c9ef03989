# SPDX-License-Identifier: MIT
"""Shared memory: layout, leases, and that nothing stays."""
import os
import signal
import struct
import subprocess

from graph_client import COMPLETE, SHM_ATTACH, SHM_CREATE, Server, eventually, run_tests, string, u64


def path(name):
    return "/dev/shm/" + name


def attach(server, name):
    link = server.link()
    link.send(SHM_ATTACH, string(name))
    link.expect(COMPLETE)
    assert link.read_str().decode() == name
    return link


def test_layout():
    with Server() as server:
        for num_buffers, size in ((32, 65536), (4, 1024), (1, 0), (2, 1), (3, 5 << 20)):
            with server.segment(num_buffers, size) as lease:
                stride = size + 16 * num_buffers
                data = open(path(lease.name), "rb").read()
                assert len(data) == num_buffers * stride
                assert data[:16] == struct.pack("<QQ", num_buffers, stride)
                assert data[16:] == b"0" * (len(data) - 16)
                status = os.stat(path(lease.name))
                assert status.st_mode & 0o777 == 0o600
                # Really there: no hole that would have to be filled when somebody writes to it.
                assert status.st_blocks * 512 >= status.st_size
                assert len(lease.name) == 12 and lease.name.startswith("psm_")
                int(lease.name[4:], 16)


def test_leases():
    with Server() as server:
        creator = server.segment()
        name = creator.name
        first, second = attach(server, name), attach(server, name)
        creator.close()
        first.close()
        assert second.is_silent()
        assert os.path.exists(path(name))
        attach(server, name).close()
        assert os.path.exists(path(name))
        second.close()
        eventually(lambda: not os.path.exists(path(name)))
        with server.link() as link:
            link.send(SHM_ATTACH, string(name))
            link.expect_closed()


def test_unknown_names():
    with Server() as server, server.segment() as lease:
        for name in ("", "psm_00000000", "../" + lease.name, "/" + lease.name, lease.name[:-1], "x" * 256):
            with server.link() as link:
                link.send(SHM_ATTACH, string(name))
                link.expect_closed()


def test_lease_link_is_idle():
    with Server() as server, server.segment() as lease:
        lease.send(b"whatever a client may send here")
        assert lease.is_silent()
        assert os.path.exists(path(lease.name))


def test_creator_leaves_early():
    with Server() as server:
        before = set(os.listdir("/dev/shm"))
        for _ in range(20):
            with server.link() as link:
                link.send(SHM_CREATE, u64(32), u64(1 << 20))
        assert server.connect("A", "B") == COMPLETE
        eventually(lambda: not own_segments(before, server))


def own_segments(before, server):
    """New segments that the server still has open or that lie there at full size."""
    return [n for n in set(os.listdir("/dev/shm")) - before
            if n.startswith("psm_") and is_size(n, 32 * ((1 << 20) + 512), server)]


def is_size(name, size, server):
    try:
        return os.stat(path(name)).st_size in range(1, size + 1) and is_ours(name, server)
    except FileNotFoundError:
        return False


def is_ours(name, server):
    links = f"/proc/{server.process.pid}/fd"
    for fd in os.listdir(links):
        try:
            if os.readlink(f"{links}/{fd}").startswith(path(name)):
                return True
        except FileNotFoundError:
            pass
    return os.stat(path(name)).st_size == 32 * ((1 << 20) + 512)


def test_no_space():
    """More than there ever is, since others may free some meanwhile; small_shm.py asks for more than is left."""
    status = os.statvfs("/dev/shm")
    if not status.f_blocks:
        print("/dev/shm has no limit here")
        return
    too_much = status.f_blocks * status.f_bsize
    with Server("--max-segment-bytes", str(1 << 44)) as server:
        with server.link() as link:
            link.send(SHM_CREATE, u64(1), u64(too_much))
            link.expect_closed()
        assert os.statvfs("/dev/shm").f_bavail > status.f_bavail / 2
        server.stop()
        assert "No space left" in server.log


def test_small_filesystem():
    """The space is gone while the segment is being written, by somebody else's doing: refused, undone."""
    script = """
set -e
mount -t tmpfs -o size=16m none /dev/shm
exec "$0" "$1"
"""
    inner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_shm.py")
    result = subprocess.run(["unshare", "-m", "sh", "-c", script, "python3", inner],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    if "unshare" in result.stdout or "mount:" in result.stdout:
        print("no mount namespace here:", result.stdout.strip())
        return
    print(result.stdout, end="")
    assert result.returncode == 0


def test_unlinked_by_somebody_else():
    """The lease lives on; who comes later is refused, and takes TCP."""
    with Server() as server, server.segment() as lease:
        os.unlink(path(lease.name))
        with server.link() as link:
            link.send(SHM_ATTACH, string(lease.name))
            link.expect_closed()
        assert lease.is_silent()
        open(path(lease.name), "w").close()  # a stranger's
        lease.close()
        with server.segment() as other:
            attach(server, other.name).close()
        assert os.path.exists(path(lease.name))
        os.unlink(path(lease.name))


def test_killed_server():
    """What a killed server left is removed by the next one; what lives, or isn't its own, stays."""
    with Server() as living, living.segment() as kept:
        with Server() as killed, killed.segment() as first, killed.segment() as second:
            mine = [first.name, second.name]
            killed.stop(signal.SIGKILL)
            assert all(os.path.exists(path(name)) for name in mine)
            # Somebody else's file under a name that was ours.
            os.unlink(path(mine[1]))
            open(path(mine[1]), "w").close()
        with Server():
            assert not os.path.exists(path(mine[0]))
            assert os.path.exists(path(mine[1]))
            assert os.path.exists(path(kept.name))
        os.unlink(path(mine[1]))


run_tests(globals())
