# SPDX-License-Identifier: MIT
"""The mark by which programs of this project know our server."""
import os
import shutil
import signal
import subprocess
import tempfile

from graph_client import Server, run_tests


def folders(uid):
    return (["/run/ezprof"] if uid == 0 else []) + [f"/run/user/{uid}/ezprof", f"/tmp/ezprof-{uid}"]


def find(server, uid=None):
    name = "server-" + server.address.rsplit(":", 1)[1]
    paths = [f"{folder}/{name}" for folder in folders(os.geteuid() if uid is None else uid)]
    return [path for path in paths if os.path.exists(path)]


def test_life():
    with Server() as server:
        (path,) = find(server)
        status = os.stat(path)
        assert status.st_mode & 0o777 == 0o644 and status.st_uid == os.geteuid()
        fields = dict(field.split("=") for field in open(path).read().split())
        assert int(fields["pid"]) == server.process.pid
        assert int(fields["netns"]) == os.stat("/proc/self/ns/net").st_ino
        with open(f"/proc/{server.process.pid}/stat") as f:
            assert fields["start"] == f.read().rsplit(")", 1)[1].split()[19]
        assert server.stop() == 0
        assert find(server) == []


def test_killed_server_leaves_one_that_is_not_believed():
    with Server() as server:
        (path,) = find(server)
        server.stop(signal.SIGKILL)
        assert os.path.exists(path)
        os.unlink(path)


def test_folder_of_somebody_else():
    """Another user's folder isn't written to; the server runs without a mark and says so."""
    if os.geteuid() != 0:
        print("needs root")
        return
    uid = 100000 + os.getpid()  # its folder is nobody else's, another run's included
    folder = f"/tmp/ezprof-{uid}"
    os.mkdir(folder, 0o777)
    # The checkout may lie in a folder that only root may enter.
    open_to_all = tempfile.mkdtemp()
    os.chmod(open_to_all, 0o755)
    try:
        program = shutil.copy(os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver"), open_to_all)
        process = subprocess.Popen([program, "--address", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, user=uid, group=uid)
        assert process.stdout.readline()
        process.terminate()
        _, error = process.communicate(timeout=10)
        assert process.returncode == 0
        assert "mark" in error, error
        assert os.listdir(folder) == []
    finally:
        os.rmdir(folder)
        shutil.rmtree(open_to_all)


run_tests(globals())
