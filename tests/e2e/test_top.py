# SPDX-License-Identifier: MIT
"""`ezprof top` on a terminal: any size, any key, any signal at any time; the terminal is as it was.

test_top.py [KEYS [SEED]]: so many keys typed at random; default 2000. The seed is printed.
"""
import copy
import json
import os
import random
import re
import signal
import sys
import tempfile
import time

from graph import BIN, Graph, wait_until
from made_profile import Made
from vt_screen import Terminal

EZPROF = os.path.join(BIN, "ezprof")
KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
SIZES = ((24, 80), (5, 20), (1, 1), (2, 9), (3, 300), (60, 10), (100, 200))
UP, DOWN, PAGE_DOWN, END, ESCAPE = "\x1bOA", "\x1bOB", "\x1b[6~", "\x1bOF", "\x1b"


def recording(count=3):
    """As many documents; names that would hurt, more rows than a screen has."""
    made = Made()
    source = made.publisher("SRC/OUT", 10, 100.0, 0.9, in_flight=32)
    made.subscriber(source, "slow", 11, 20.0, 600.0, in_flight=32)
    for number, name in enumerate(("Grüße/日本語" * 4, "esc\x1b[2Jape", "c1\x9b31m", "co\u0301mb", "x" * 4000,
                                   "‮over", "tab\t", "🦄" * 30)):
        made.subscriber(made.publisher(name, 100 + number, 10.0), name, 200 + number)
    for number in range(30):
        made.subscriber(source, f"watcher-{number:02}", 300 + number, 0.1)
    documents = []
    for step in range(count):
        document = copy.deepcopy(made.document)
        document["time_unix_s"] += step
        document["publishers"][0]["message_rate_hz"] = 100.0 + step
        documents.append(json.dumps(document) + "\n")
    return "".join(documents)


class Recorded:
    def __init__(self, count=3):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        self.file.write(recording(count))
        self.file.flush()

    def top(self, *options, lines=24, columns=80, **keywords):
        return Terminal([EZPROF, "top", "--from", self.file.name, "--interval", "0.05", *options],
                        lines, columns, **keywords)


def quits(terminal, keys="q", status=0):
    terminal.type(keys)
    assert terminal.end() == status, (terminal.status, terminal.output[-2000:])
    assert terminal.modes_are_as_before() and not terminal.screen.alternate
    assert terminal.status == status


def keys_and_views(recorded):
    with recorded.top() as terminal:
        text = terminal.wait_for("at its end")
        lines = text.splitlines()
        assert lines[0].startswith("ezprof top  1 edges"), text
        assert lines[1].startswith("182 msg/s") and lines[2].startswith("! SRC/OUT waits for slow"), text
        assert re.search(r"(?m)^>! SRC/OUT +slow .* slow$", text), text
        for key, view in (("2", "publishers"), ("\t", "subscribers"), ("4", "processes"), ("\t", "edges")):
            terminal.type(key)
            terminal.wait_for(lambda text, view=view: f" {view}  " in text.splitlines()[0])
        terminal.type("s")
        terminal.wait_for("sorted by publisher")
        terminal.type("S")
        terminal.wait_for("sorted by state")
        # The selected row stays the same one when the order changes.
        terminal.type(DOWN + DOWN)
        row = re.search(r"(?m)^>..(.{25})", terminal.wait_for(lambda t: re.search(r"(?m)^>- ", t))).group(1)
        terminal.type("sr")
        terminal.wait_for(lambda text: re.search(r"(?m)^>..(.{25})", text).group(1).split() == row.split())
        terminal.type("/watcher-1\r")
        terminal.wait_for("/watcher-1: 10 of 39")
        terminal.type("/日\x7fxyz\x1b")
        terminal.wait_for("/watcher-1: 10 of 39")
        terminal.type(ESCAPE)
        terminal.wait_for(lambda text: "watcher-1:" not in text)
        terminal.type("\r")
        terminal.wait_for("messages/s, ")
        terminal.type(PAGE_DOWN)
        terminal.wait_for("sub.process_avg_ms")
        terminal.type("c")
        terminal.wait_for(" 1. SRC/OUT waits for slow on SRC/OUT (pid 11)")
        terminal.type("?")
        terminal.wait_for("freeze: nothing is asked")
        terminal.type("cc ")
        terminal.wait_for("FROZEN")
        quits(terminal)


def any_size(recorded):
    for lines, columns in SIZES:
        with recorded.top(lines=lines, columns=columns) as terminal:
            text = terminal.wait_for(lambda text: text.strip())
            terminal.type("2?qc" + DOWN + "\r")
            terminal.read(0.1)
            if (lines, columns) == (5, 20):
                assert "! SRC/OUT waits" in text and re.search(r"(?m)^>! slow +slow$", text), text
            quits(terminal, "qq")


def resized(recorded):
    with recorded.top() as terminal:
        terminal.wait_for("at its end")
        for lines, columns in (*SIZES[1:], SIZES[0]):
            terminal.size(lines, columns)
            terminal.wait_for(lambda text: text.strip())
        terminal.wait_for(lambda text: text.splitlines()[0].startswith("ezprof top  1 edges"))
        terminal.wait_for(">! SRC/OUT")
        quits(terminal)


def random_keys(recorded):
    """Nothing ends it but q and Ctrl-C, which aren't among them."""
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        keys = ["1", "2", "3", "4", "\t", "s", "S", "r", "/", " ", " ", "\r", "\n", "c", "?", "h", "j", "k", "g",
                "G", UP, DOWN, PAGE_DOWN, "\x1b[5~", END, "\x1bOH", "\x1bOC", "\x1bOD", ESCAPE, "\x7f", "\x15",
                "\x0c", "ä", "日", "e\u0301", "\0", "\x01", "\x1b[99~", "\x1b[<0;1;1M", b"\xff\xfe", b"\xc3",
                "w", "x", "~"]
        with recorded.top(env={"PWD": folder}) as terminal:
            terminal.wait_for("SRC/OUT")
            for number in range(KEYS):
                key = chance.choice(keys)
                # What would write a file somewhere goes nowhere.
                terminal.type("w\x15/dev/null/x\r" if key == "w" else key)
                if number % 50 == 0:
                    terminal.size(*chance.choice(SIZES))
                    terminal.read(0.01)
                if number % 10 == 0:
                    terminal.read(0.002)
                assert terminal.poll() is None, (terminal.status, number, SEED, terminal.output[-500:])
            terminal.size(24, 80)
            terminal.type("\x15" + ESCAPE)
            terminal.read(0.3)
            terminal.type(ESCAPE + "2")
            terminal.read(0.3)
            terminal.type(ESCAPE)
            terminal.wait_for(lambda text: text.splitlines()[0].startswith("ezprof top"))
            terminal.type("q")
            terminal.read(0.3)
            quits(terminal, "q") if terminal.poll() is None else None
            assert terminal.end() == 0 and terminal.modes_are_as_before()


def signals(recorded):
    """The terminal is as it was, whatever ends it, and whenever."""
    for step in range(30):
        with recorded.top() as terminal:
            if step == 0:
                terminal.wait_for("SRC/OUT")
            terminal.read(step * 0.002)
            number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)[step % 4]
            if number == signal.SIGINT:
                terminal.type("\x03")  # as a person does it; the terminal makes the signal
            else:
                os.kill(terminal.pid, number)
            status = terminal.end()
            # Before it has begun it is a death by the signal as any other.
            assert status in (0, -number), (status, number, terminal.output[-500:])
            assert step or status == 0
            assert terminal.modes_are_as_before(), step
            assert not terminal.screen.alternate, step


def stopped(recorded):
    """Ctrl-Z gives the terminal back, going on takes it again; also after a SIGSTOP."""
    with recorded.top() as terminal:
        terminal.wait_for("at its end")
        # The session's leader has no shell around it that would let it stop: a group with a parent in
        # the session can. So both are tried: nothing happens, and SIGSTOP.
        os.kill(terminal.pid, signal.SIGTSTP)
        terminal.read(0.2)
        terminal.type("2")
        terminal.wait_for(" publishers  ")
        os.kill(terminal.pid, signal.SIGSTOP)
        _, state = os.waitpid(terminal.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(state)
        terminal.screen.resize(24, 80)
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for(" publishers  ")
        quits(terminal)


def job_control(recorded):
    """In a shell that has jobs: Ctrl-Z, the shell's own prompt, fg."""
    command = f"{EZPROF} top --from {recorded.file.name} --interval 0.05"
    with Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], env={"PS1": "prompt$ ", "HISTFILE": ""}) as shell:
        shell.wait_for("prompt$")
        shell.type(command + "\r")
        shell.wait_for("at its end")
        shell.type("\x1a")
        shell.wait_for("Stopped")
        assert not shell.screen.alternate
        shell.type("stty -a | tr ';' '\\n' | grep -c '[^-]icanon'\r")
        shell.wait_for(lambda text: re.search(r"(?m)^1$", text))
        shell.type("fg\r")
        shell.wait_for(">! SRC/OUT")
        assert shell.screen.alternate
        shell.type("q")
        shell.wait_for(lambda text: not shell.screen.alternate)
        shell.type("echo status=$?\r")
        shell.wait_for("status=0")
        shell.type("exit\r")
        shell.end()


def stopped_amid_paint(recorded):
    """A Ctrl-Z that comes while a key is answered with a new screen isn't lost."""
    command = f"{EZPROF} top --from {recorded.file.name} --interval 0.05"
    with Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], env={"PS1": "prompt$ ", "HISTFILE": ""}) as shell:
        shell.wait_for("prompt$")
        shell.type(command + "\r")
        for step in range(40):
            shell.wait_for(lambda text: "ezprof top  1 edges" in text and shell.screen.alternate)
            shell.type("s")
            time.sleep(step * 0.0001)
            shell.type("\x1a")
            shell.wait_for(lambda _: not shell.screen.alternate)
            shell.wait_for("Stopped")
            shell.type("printf '\\033[2J'; fg\r")
        shell.wait_for(lambda _: shell.screen.alternate)
        shell.type("q")
        shell.wait_for(lambda _: not shell.screen.alternate)
        shell.type("exit\r")
        shell.end()


def written(recorded):
    with tempfile.TemporaryDirectory() as folder, recorded.top() as terminal:
        path = os.path.join(folder, "view.txt")
        terminal.wait_for("at its end")
        terminal.type(f"w\x15{path}\r")
        terminal.wait_for("is written")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # All rows, whole names, nothing that moves a cursor, and what is wrong.
        assert len(re.findall(r"(?m)^ [-!~> ] ", text)) >= 39 and "x" * 4000 in text and "\x1b" not in text
        assert "SRC/OUT waits for slow on SRC/OUT (pid 11)" in text
        for name, message in ((path, "there already"), ("/dev/full", "No space left"),
                              ("/dev/null/x", "Not a directory"), (folder, "Is a directory")):
            terminal.type(f"w\x15{name}\r")
            terminal.wait_for(message)
        quits(terminal)


def colours(recorded):
    """Never the only sign, and not where nobody wants them."""
    for options, env, coloured in (((), {}, True), ((), {"NO_COLOR": "1"}, False), ((), {"NO_COLOR": ""}, True),
                                   (("--color", "never"), {}, False), ((), {"TERM": "vt220"}, False),
                                   (("--color=always",), {"NO_COLOR": "1"}, True)):
        with recorded.top(*options, env=env) as terminal:
            terminal.wait_for(">! SRC/OUT")
            assert bool(terminal.screen.styled & {31, 33, 36}) == coloured, (options, env, terminal.screen.styled)
            quits(terminal)


def other_terminals(recorded):
    with recorded.top(env={"LC_ALL": "C"}) as terminal:
        text = terminal.wait_for("at its end")
        assert text.isascii() and "#####" in text, text
        quits(terminal)
    for term, words in (("dumb", "no cursor"), (None, "isn't set"), ("no-such-terminal", "nothing is known")):
        with recorded.top(env={"TERM": term}) as terminal:
            assert terminal.end() == 2 and words in terminal.output.decode(), terminal.output
            assert "--once" in terminal.output.decode() and terminal.modes_are_as_before()


def from_stdin():
    """Documents come through a pipe, keys from the terminal all the same."""
    reading, writing = os.pipe()
    with open(writing, "w") as pipe:
        with Terminal([EZPROF, "top", "--from", "-", "--interval", "0.05"], stdin=reading) as terminal:
            os.close(reading)
            pipe.write(recording(2))
            pipe.close()
            terminal.wait_for("at its end")
            terminal.type("2")
            terminal.wait_for(" publishers  ")
            quits(terminal)


def hung_up(recorded):
    """The terminal goes away: so does the program, at once and without a busy loop."""
    terminal = recorded.top(held=False)
    terminal.wait_for("SRC/OUT")
    os.close(terminal.master)
    wait_until(lambda: terminal.poll() is not None, 20, "the end after a hangup")


def silent_server():
    """Data grow old and say so, the keyboard lives, and it goes on when the server answers again."""
    with Graph() as graph:
        graph.node("sink", "T", "--handle", "reader")
        graph.node("source", "T", "--rate", 50)
        with Terminal([EZPROF, "top", "--address", graph.address, "--interval", "0.2"]) as terminal:
            terminal.wait_for("reader")
            terminal.wait_for(graph.address)
            # Nobody measures, but totals grow.
            terminal.wait_for(lambda text: re.search(r"(?m)^>~ T +reader +[1-9][0-9.]* ", text))
            os.kill(graph.server.pid, signal.SIGSTOP)
            text = terminal.wait_for("data is ", 60)
            assert "s old" in text and "reader" in text, text
            begin = time.monotonic()
            terminal.type("2")
            terminal.wait_for(" publishers  ")
            assert time.monotonic() - begin < 10
            os.kill(graph.server.pid, signal.SIGCONT)
            terminal.wait_for(lambda text: "data is " not in text, 60)
            quits(terminal)


def server_dies():
    """Also told where whoever started it ignores that children end, and so did it at first."""
    ignoring = [sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                                      "os.execv(sys.argv[1], sys.argv[1:])"]
    with Graph() as graph:
        graph.node("source", "T", "--rate", 50)
        port = graph.address.rsplit(":", 1)[1]
        with Terminal([*ignoring, EZPROF, "top", "--address", graph.address, "--interval", "0.2"]) as terminal:
            terminal.wait_for("(nobody)")
            graph.server.stop()
            text = terminal.wait_for("nobody listens there", 60)
            assert re.search(r"data is \d+ s old: ", text), text
            again = graph.program(os.path.join(BIN, "ezprof-graphserver"), "--address", f"127.0.0.1:{port}")
            assert again.line().endswith(port)
            terminal.wait_for(lambda text: "data is " not in text, 60)
            quits(terminal)
        with Graph(), Terminal([EZPROF, "top"], env={"EZMSG_GRAPHSERVER_ADDR": None}) as terminal:
            assert terminal.end() == 2 and graph.address.encode() in terminal.output, terminal.output
        with Terminal([EZPROF, "top", "--address", "127.0.0.1:1"]) as terminal:
            assert terminal.end() == 1 and not terminal.screen.alternate
            assert b"nobody listens there" in terminal.output, terminal.output


def main():
    print(f"seed {SEED}", flush=True)
    recorded = Recorded()
    for story in (keys_and_views, any_size, resized, random_keys, signals, stopped, job_control,
                  stopped_amid_paint, written, colours,
                  other_terminals, hung_up):
        begin = time.monotonic()
        story(recorded)
        print(f"{story.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)
    for story in (from_stdin, silent_server, server_dies):
        begin = time.monotonic()
        story()
        print(f"{story.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)


main()
