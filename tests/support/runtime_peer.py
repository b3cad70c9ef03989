# SPDX-License-Identifier: MIT
"""A process with libezmsg that obeys (tests/runtime/runtime_peer.c), as a context manager."""
import os
import subprocess


class Peer:
    def __init__(self, address, env=None):
        program = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "runtime_peer")
        self.process = subprocess.Popen([program, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(env or {})})
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
