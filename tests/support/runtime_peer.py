# SPDX-License-Identifier: MIT
"""Processes that obey (tests/runtime/runtime_peer.c says what), as context managers."""
import os
import subprocess


class Peer:
    """One with libezmsg."""

    def __init__(self, address, env=None, wrapper=()):
        program = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "runtime_peer")
        self.start([*wrapper, program, address], {**os.environ, **(env or {})})

    def start(self, command, env):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.expect("ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def expect(self, beginning=""):
        """The next answer, which must begin like this."""
        line = self.process.stdout.readline().rstrip("\n")
        assert line.startswith(beginning), f"expected '{beginning}', the peer says '{line}'"
        return line

    def tell(self, command, beginning="ok"):
        self.send(command)
        return self.expect(beginning)

    def quit(self):
        self.send("quit")
        assert self.process.wait(timeout=30) == 0
        self.process.communicate()

    def kill(self):
        self.process.kill()
        self.process.communicate()


class EzmsgPeer(Peer):
    """One with the real ezmsg (tests/interop/ezmsg_peer.py); require("interop") comes first."""

    def __init__(self, address, wrapper=()):  # pylint: disable=super-init-not-called
        script = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests/interop/ezmsg_peer.py")
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.start([*wrapper, os.environ["EZPROF_INTEROP_PYTHON"], script, address], env)
