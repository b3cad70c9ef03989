# SPDX-License-Identifier: MIT
"""completions.py: what the shells offer is what the programs' tables of options say."""
import os
import re
import shutil
import subprocess
import sys

from tree import ROOT

BIN = os.environ["EZPROF_BIN_DIR"]
ENV = {**os.environ, "PATH": BIN + ":" + os.environ["PATH"], "HOME": "/nonexistent"}
FOLDER = os.path.join(ROOT, "completions")


def commands(text):
    """The commands that a program's help lists."""
    match = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  ([a-z][a-z-]*)", match[1], re.M)


def output(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          timeout=60, env=ENV, check=False)
    return done.stdout


def bash(*words):
    script = f'. "{FOLDER}/ezprof.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
        '_ezprof "$1" "${@: -1}"; printf "%s\\n" "${COMPREPLY[@]}"'
    return output("bash", "--norc", "-c", script, "bash", *words)


def zsh(*words):
    """_describe's words, printed instead of offered."""
    script = 'CURRENT=$#; words=("$@"); _files() { :; }; ' \
        '_describe() { print -l -- ${(M)${found%%:*}:#${words[CURRENT]}*}; }; ' \
        f'source "{FOLDER}/_ezprof"'
    return output("zsh", "-f", "-c", script, "zsh", *words)


def fish(*words):
    line = " ".join(words)
    script = f'source "{FOLDER}/ezprof.fish"; complete -C "{line}"'
    return output("fish", "--no-config", "-c", script)


def options_of(*words):
    """Of the options themselves, not of the texts and examples around them."""
    found = set()
    for line in output(*words, "--help").splitlines():
        match = re.match(r" +(?:-[A-Za-z?], )?(--[a-z][a-z0-9-]*)", line)
        if match:
            found.add(match[1])
    assert found or words[-1] == "run", words
    return found


def faults(shell):
    def check(typed, wanted):
        offered = {line.split("\t")[0] for line in shell(*typed).splitlines()} - {""}
        if offered != set(wanted):
            yield f"{shell.__name__}: {typed}: {sorted(offered ^ set(wanted))}"

    for program in ("ezprof", "ezprof-bpf"):
        if not os.path.exists(os.path.join(BIN, program)):
            continue
        listed = commands(output(program, "--help"))
        yield from check((program, ""), [*listed, "--help", "--version"])
        for command in set(listed) - {"serve"}:
            # What every command has is no sign that the right one was asked.
            yield from check((program, command, "--"), options_of(program, command))
    yield from check(("ezprof", "serve", "--"), options_of("ezprof-graphserver"))
    yield from check(("ezprof-graphserver", "--"), options_of("ezprof-graphserver"))
    yield from check(("ezprof", "w"), {"why"})
    yield from check(("ezprof", "explain", "agent.hit_"), {"agent.hit_ns"})


def main():
    bad = []
    for shell in (bash, zsh, fish):
        if shutil.which(shell.__name__):
            bad += faults(shell)
        else:
            print(f"{shell.__name__} is not installed: not tried")
    for fault in bad:
        print(fault)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
