# SPDX-License-Identifier: MIT
"""completions.py: what the shells offer is what the programs' tables of options say.

Everything through the shells' own functions; and a few lines typed into the shells themselves.
"""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from itertools import chain

from graph import Graph
from tree import ROOT

BIN = os.environ["EZPROF_BIN_DIR"]
ENV = {**os.environ, "PATH": BIN + ":" + os.environ["PATH"], "TERM": "dumb"}
FOLDER = os.path.join(ROOT, "completions")
TYPED_S = 30


def commands(text):
    """The commands that a program's help lists."""
    match = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  ([a-z][a-z-]*)", match[1], re.M)


def output(*words, folder=ROOT):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          timeout=60, env=ENV, check=False, cwd=folder)
    return done.stdout


def bash(*words, folder=ROOT):
    script = f'. "{FOLDER}/ezprof.bash"; COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}; ' \
        '_ezprof "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    return output("bash", "--norc", "-c", script, "bash", *words, folder=folder)


def zsh(*words, folder=ROOT):
    """_describe's words and others, printed instead of offered."""
    script = 'CURRENT=$#; words=("$@"); _files() { print -l -- ${word}*(N); }; compset() { :; }; ' \
        '_describe() { print -l -- ${(M)${found%%:*}:#${word}*}; }; ' \
        'compadd() { print -l -- ${(M)found:#${word}*}; }; ' \
        f'source "{FOLDER}/_ezprof"'
    return output("zsh", "-f", "-c", script, "zsh", *words, folder=folder)


def fish(*words, folder=ROOT):
    line = " ".join(words)
    script = f'source "{FOLDER}/ezprof.fish"; complete -C "{line}"'
    said = output("fish", "--no-config", "-c", script, folder=folder)
    # fish offers whole words, the others what stands behind the =.
    return re.sub(r"^--[a-z-]+=", "", said, flags=re.M) if "=" in words[-1] else said


def options_of(*words):
    """{option: what stands for its value}: of the options themselves, not of the texts around them."""
    found = {}
    for line in output(*words, "--help").splitlines():
        match = re.match(r" +(?:-[A-Za-z?], )?(--[a-z][a-z0-9-]*)(?:=(\S+))?", line)
        if match:
            found[match[1]] = match[2]
    assert found or words[-1] == "run", words
    return found


def programs():
    """(words of a command, its options)"""
    for program in ("ezprof", "ezprof-bpf"):
        if not os.path.exists(os.path.join(BIN, program)):
            continue
        for command in set(commands(output(program, "--help"))) - {"serve"}:
            # What every command has is no sign that the right one was asked.
            yield (program, command), options_of(program, command)
    yield ("ezprof", "serve"), options_of("ezprof-graphserver")
    yield ("ezprof-graphserver",), options_of("ezprof-graphserver")


def faults(shell, known, graph, folder):
    def check(typed, wanted):
        offered = {line.split("\t")[0] for line in shell(*typed, folder=folder).splitlines()} - {""}
        if offered != set(wanted):
            yield f"{shell.__name__}: {typed}: {sorted(offered ^ set(wanted))}"

    def contains(typed, wanted):
        offered = {line.split("\t")[0] for line in shell(*typed, folder=folder).splitlines()}
        if wanted not in offered:
            yield f"{shell.__name__}: {typed}: {wanted} isn't offered, but {sorted(offered)}"

    # Who types a command of the other program is told so.
    for program, other in (("ezprof", "ezprof-bpf"), ("ezprof-bpf", "ezprof")):
        for command in set(commands(output(other, "--help"))):
            done = subprocess.run([program, command], capture_output=True, text=True, env=ENV, timeout=60,
                                  stdin=subprocess.DEVNULL, check=False)
            if f"{other} {command}'?" not in done.stderr:
                yield f"{program} {command}: {done.stderr}"
    for program in {words[0] for words, _ in known} - {"ezprof-graphserver"}:
        yield from check((program, ""), [*commands(output(program, "--help")), "--help", "--version"])
    for words, options in known:
        yield from check((*words, "--"), options)
        for option, value in options.items():
            if value and "|" in value:
                yield from check((*words, option, ""), value.split("|"))
                yield from check((*words, f"{option}="), value.split("|"))
        for option in [name for name, value in options.items() if value in ("N", "SECONDS")][:1]:
            yield from check((*words, option, ""), ())
    # Options that are known to have choices: else the table could have lost them.
    yield from check(("ezprof", "profile", "--format", ""), "json table jsonl csv openmetrics".split())
    yield from check(("ezprof", "graph", "-f", "d"), ["dot"])
    yield from check(("ezprof-bpf", "attach", "--probes=b"), ["boundary", "both"])
    yield from check(("ezprof", "w"), ["why"])
    yield from check(("ezprof", "explain", "agent.hit_"), ["agent.hit_ns"])
    yield from check(("ezprof", "check", "--fail-if", "agent.hit_"), ["agent.hit_ns"])
    # Files of the folder, where files are wanted.
    for typed in (("why", ""), ("profile", "--from", ""), ("diff", "k"), ("check", "--baseline=")):
        yield from check(("ezprof", *typed), ["kept.json"])
    yield from check(("ezprof", "profile", ""), ())
    # Processes and graphs of this machine.
    address, pid = graph
    yield from contains(("ezprof-bpf", "attach", ""), pid)
    yield from contains(("ezprof", "probes", pid[:-1]), pid)
    for typed in (("--address", "127.0.0.1:"), ("-a", ""), (f"--address={address[:-1]}",)):
        # bash replaces only what stands behind the colon.
        tail = address.split(":")[1] if shell is bash and ":" in typed[-1] else address
        yield from contains(("ezprof", "profile", *typed), tail)


def plain(said):
    """Without bells and what moves the cursor."""
    return re.sub(rb"\x07|\x1b\[[0-9;?]*[A-Za-z]", b"", said)


def typed(shell, setup, line, wanted):
    """Types the line and a tab into a shell at a terminal, and waits for what becomes of it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(shell[0], shell, ENV)
    said, end = b"", time.monotonic() + TYPED_S
    try:
        for text in (setup + "; echo rea''dy\n", line + "\t"):
            sign = b"ready" if text.endswith("\n") else wanted.encode()
            os.write(terminal, text.encode())
            said = b""
            while sign not in plain(said) and time.monotonic() < end:
                if select.select([terminal], [], [], 0.1)[0]:
                    said += os.read(terminal, 4096)
            if sign not in plain(said):
                yield f"{shell[0]}: {line!r} and a tab: {wanted!r} is awaited, there is {said[-300:]!r}"
                return
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def typed_faults(name):
    shells = {
        "bash": (["bash", "--norc", "--noprofile", "-i"], f". '{FOLDER}/ezprof.bash'"),
        "zsh": (["zsh", "-f", "-i"], f"fpath=('{FOLDER}' $fpath); autoload -U compinit; compinit -D"),
    }
    if name not in shells:
        return
    shell, setup = shells[name]
    for line, wanted in (("ezprof shu", "shutdown"), ("ezprof profile --format=ope", "openmetrics"),
                         ("ezprof-bpf attach --probes bou", "boundary")):
        found = list(typed(shell, setup, line, wanted))
        if found:
            yield from found
            return


def main():
    with tempfile.TemporaryDirectory() as home:
        # What a shell leaves goes with it.
        ENV.update(HOME=home, **{f"XDG_{kind}_HOME": home for kind in ("CONFIG", "DATA", "STATE", "CACHE")})
        return tried()


def tried():
    bad = False
    known = list(programs())
    with Graph() as graph, tempfile.TemporaryDirectory() as folder:
        node = graph.node("sink", "topic")
        with open(os.path.join(folder, "kept.json"), "w", encoding="utf-8"):
            pass
        for shell in (bash, zsh, fish):
            if not shutil.which(shell.__name__):
                print(f"{shell.__name__} is not installed: not tried")
                continue
            for fault in chain(faults(shell, known, (graph.address, str(node.pid)), folder),
                               typed_faults(shell.__name__)):
                print(fault, flush=True)
                bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main())
