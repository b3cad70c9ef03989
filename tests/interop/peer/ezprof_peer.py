# SPDX-License-Identifier: MIT
"""A pytest plugin: whenever ezmsg's tests start a graph server, it is ours (EZPROF_BIN_DIR says where).

Only that one call is exchanged. What the tests do with the server's address is ezmsg's own code.
"""
import os
import signal
import subprocess

from ezmsg.core import graphserver
from ezmsg.core.netprotocol import Address

HOST = "127.0.0.1"


class Server:
    """What callers of create_server() use of the thread that they expect."""

    name = "GraphServer"

    def __init__(self, address=None):
        host, port = address if address is not None else (HOST, 0)
        program = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof-graphserver")
        # A group of its own: a test that interrupts its children doesn't mean a thread.
        self._process = subprocess.Popen([program, "--address", f"{host}:{port}"],
                                         stdout=subprocess.PIPE, text=True, start_new_session=True)
        line = self._process.stdout.readline().strip()
        if not line:
            raise OSError(f"our server doesn't listen on {host}:{port}")
        self.address = Address.from_string(line)

    def stop(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self.join()

    def join(self, timeout=None):
        self._process.wait(timeout)
        self._process.stdout.close()

    def is_alive(self):
        return self._process.poll() is None

    def __del__(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def create_server(self):
    server = Server(self._address)
    self._address = server.address
    return server


graphserver.GraphService.create_server = create_server
