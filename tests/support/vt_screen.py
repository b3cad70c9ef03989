# SPDX-License-Identifier: MIT
"""A terminal for tests: a pseudo-terminal and the screen that what comes out of it would make.

It knows what an xterm is told by ncurses, and nothing else: a sequence that it doesn't know is a
failure, and so is a control character that arrives as text.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

CSI = re.compile(rb"\x1b\[([<-?]?)([0-9;]*)([ -/]*)([@-~])")
IGNORED_MODES = {"1", "7", "12", "25", "1000", "1006", "1034", "2004"}


def columns_of(char):
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Screen:
    def __init__(self, lines, columns):
        self.pending, self.bells = b"", 0
        self.styled = set()  # SGR parameters that were seen
        self.alternate, self.usual = False, None
        self.resize(lines, columns)

    def resize(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.cells = [[" "] * columns for _ in range(lines)]
        self.y = self.x = 0
        self.wrap = False
        self.top, self.bottom = 0, lines - 1
        self.last = " "

    def text(self):
        """The lines as one sees them; the second half of a wide character is nothing."""
        return ["".join(row).rstrip() for row in self.cells]

    def feed(self, data):
        data = self.pending + data
        self.pending = b""
        at = 0
        while at < len(data):
            took = self.one(data[at:at + 4096])
            if not took:
                self.pending = data[at:]
                assert len(self.pending) < 64, f"an endless sequence: {self.pending!r}"
                return
            at += took

    def one(self, data):
        """Obeys the first sequence or character; how many bytes, 0 = there must be more."""
        byte = data[0]
        if byte == 0x1b:
            return self.escape(data)
        if byte < 0x20 or byte == 0x7f:
            self.control(byte)
            return 1
        need = 1 if byte < 0x80 else 2 if byte < 0xe0 else 3 if byte < 0xf0 else 4
        if len(data) < need:
            return 0
        self.put(data[:need].decode())
        return need

    def control(self, byte):
        self.wrap = False
        if byte == 0x0d:
            self.x = 0
        elif byte == 0x0a:
            self.line_feed()
        elif byte == 0x08:
            self.x = max(0, self.x - 1)
        elif byte == 0x09:
            self.x = min(self.columns - 1, (self.x // 8 + 1) * 8)
        elif byte == 0x07:
            self.bells += 1
        else:
            raise AssertionError(f"a control character {byte:#x}")

    def line_feed(self):
        if self.y == self.bottom:
            self.scroll(1)
        else:
            self.y = min(self.lines - 1, self.y + 1)

    def scroll(self, count, top=None):
        top = self.top if top is None else top
        for _ in range(min(abs(count), self.lines)):
            if count > 0:
                del self.cells[top]
                self.cells.insert(self.bottom, [" "] * self.columns)
            else:
                del self.cells[self.bottom]
                self.cells.insert(top, [" "] * self.columns)

    def put(self, char):
        assert not 0x80 <= ord(char) < 0xa0 and unicodedata.category(char) not in ("Cc", "Cf"), \
            f"U+{ord(char):04x} reached the terminal"
        width = columns_of(char)
        if width == 0:
            x = self.x if self.wrap else max(0, self.x - 1)
            self.cells[self.y][x] += char
            return
        if self.wrap or self.x + width > self.columns:
            self.x = 0
            self.line_feed()
        self.wrap = False
        self.last = char
        self.cells[self.y][self.x] = char
        if width == 2 and self.x + 1 < self.columns:
            self.cells[self.y][self.x + 1] = ""
        self.x += width
        if self.x >= self.columns:
            self.x, self.wrap = self.columns - 1, True

    def escape(self, data):
        if len(data) < 2:
            return 0
        if data[1:2] in b"()":
            return 3 if len(data) > 2 else 0
        if data[1:2] in b"=>78cM":
            if data[1:2] == b"M":
                if self.y == self.top:
                    self.scroll(-1)
                else:
                    self.y = max(0, self.y - 1)
            return 2
        if data[1:2] == b"]":
            end = data.find(b"\a")
            return end + 1
        assert data[1:2] == b"[", f"unknown sequence {data[:8]!r}"
        match = CSI.match(data)
        if not match:
            assert re.match(rb"\x1b\[[0-9;<-?]*[ -/]*$", data), f"unknown sequence {data[:16]!r}"
            return 0
        self.csi(*(part.decode() for part in match.groups()))
        return match.end()

    def csi(self, private, parameters, middle, final):
        numbers = [int(p) if p else 0 for p in parameters.split(";")] if parameters else []
        first = numbers[0] if numbers else 0
        count = max(1, first)
        row = self.cells[self.y]
        if final != "m":
            self.wrap = False
        if private or middle:
            assert final in "hlcpqtu", (private, parameters, middle, final)
            if final in "hl" and "1049" in parameters.split(";"):
                self.switch(final == "h")
            else:
                assert final not in "hl" or set(parameters.split(";")) <= IGNORED_MODES, parameters
        elif final == "m":
            self.styled.update(numbers or [0])
        elif final in "Hf":
            self.y = min(self.lines, count) - 1
            self.x = min(self.columns, max(1, numbers[1] if len(numbers) > 1 else 1)) - 1
        elif final == "A":
            self.y = max(0, self.y - count)
        elif final in "Be":
            self.y = min(self.lines - 1, self.y + count)
        elif final in "Ca":
            self.x = min(self.columns - 1, self.x + count)
        elif final == "D":
            self.x = max(0, self.x - count)
        elif final in "G`":
            self.x = min(self.columns, count) - 1
        elif final == "d":
            self.y = min(self.lines, count) - 1
        elif final == "J":
            self.erase_display(first)
        elif final == "K":
            begin, end = ((self.x, self.columns), (0, self.x + 1), (0, self.columns))[first]
            row[begin:end] = [" "] * (end - begin)
        elif final == "X":
            end = min(self.columns, self.x + count)
            row[self.x:end] = [" "] * (end - self.x)
        elif final == "P":
            del row[self.x:self.x + count]
            row.extend([" "] * (self.columns - len(row)))
        elif final == "@":
            row[self.x:self.x] = [" "] * count
            del row[self.columns:]
        elif final == "L":
            self.scroll(-count, self.y)
        elif final == "M":
            self.scroll(count, self.y)
        elif final == "S":
            self.scroll(count)
        elif final == "T":
            self.scroll(-count)
        elif final == "b":
            for _ in range(count):
                self.put(self.last)
        elif final == "r":
            # What was under way when the size changed may speak of more lines.
            self.bottom = min(numbers[1] if len(numbers) > 1 and numbers[1] else self.lines, self.lines) - 1
            self.top = min(max(1, first) - 1, self.bottom)
            self.y = self.x = 0
        elif final in "hlt":
            assert first in (4, 22, 23), parameters
        else:
            raise AssertionError(f"unknown sequence CSI {parameters} {final}")

    def switch(self, alternate):
        """To the screen beside the usual one, which is empty at first, and back."""
        if alternate != self.alternate:
            usual = [[" "] * self.columns for _ in range(self.lines)]
            self.usual, self.cells = (self.cells, usual) if alternate else (None, self.usual or usual)
            if len(self.cells) != self.lines or len(self.cells[0]) != self.columns:
                self.cells = usual
        self.alternate = alternate

    def erase_display(self, what):
        blank = [" "] * self.columns
        if what == 0:
            self.cells[self.y][self.x:] = [" "] * (self.columns - self.x)
        first, last = ((self.y + 1, self.lines), (0, self.y), (0, self.lines))[what]
        for y in range(first, last):
            self.cells[y] = list(blank)


class Terminal:
    """A program on a pseudo-terminal of its own, as its session's leader."""

    def __init__(self, arguments, lines=24, columns=80, env=None, stdin=None, held=True):
        self.screen = Screen(lines, columns)
        self.output, self.status = b"", None
        self.master, self.slave = pty.openpty()
        self.size(lines, columns, tell=False)
        self.modes = termios.tcgetattr(self.slave)
        settings = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "TERMINFO"):
            settings.pop(name, None)
        settings.update(env or {})
        settings = {k: v for k, v in settings.items() if v is not None}
        started, closes = os.pipe()  # the program's own beginning: until then signals are the test's
        self.pid = os.fork()
        if self.pid == 0:
            self.become(arguments, settings, stdin, closes)
        os.close(closes)
        os.read(started, 1)
        os.close(started)
        if not held:
            os.close(self.slave)
            self.slave = None

    def become(self, arguments, settings, stdin, closes):
        try:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            os.dup2(self.slave if stdin is None else stdin, 0)
            os.dup2(self.slave, 1)
            os.dup2(self.slave, 2)
            os.closerange(3, closes)
            os.closerange(closes + 1, 256)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execve(arguments[0], [str(a) for a in arguments], settings)
        finally:
            os._exit(127)

    def size(self, lines, columns, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        # Who is told nothing, because nothing has changed, doesn't paint again.
        if tell and (lines, columns) != (self.screen.lines, self.screen.columns):
            self.screen.resize(lines, columns)

    def read(self, seconds=0.05):
        """What comes within the time; False: the other side is gone."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            ready, _, _ = select.select([self.master], [], [], max(0, left))
            if not ready:
                return True
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            self.output += data
            self.screen.feed(data)

    def type(self, text):
        data = text.encode() if isinstance(text, str) else text
        while data:
            # A program that is busy painting may have a full queue of keys.
            self.read(0)
            data = data[os.write(self.master, data[:256]):]

    def wait_for(self, condition, seconds=30):
        """Until the screen's text (one string) fulfils it, or has that piece."""
        end = time.monotonic() + seconds
        while True:
            text = "\n".join(self.screen.text())
            if condition in text if isinstance(condition, str) else condition(text):
                return text
            assert time.monotonic() < end, f"waited in vain for {condition!r}; there is:\n{text}"
            assert self.poll() is None, (self.status, text, self.output[-2000:])
            self.read(0.05)

    def poll(self):
        if self.status is None:
            pid, state = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(state)
        return self.status

    def end(self, seconds=30):
        """Waits for the program's end; its status. All that it wrote is read."""
        end = time.monotonic() + seconds
        while self.poll() is None:
            assert time.monotonic() < end, "it doesn't end:\n" + "\n".join(self.screen.text())
            self.read(0.02)
        self.read(0)
        return self.status

    def modes_are_as_before(self):
        return termios.tcgetattr(self.slave) == self.modes

    def close(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
        if self.slave is not None:
            os.close(self.slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
