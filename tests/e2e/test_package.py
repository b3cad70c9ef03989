# SPDX-License-Identifier: MIT
"""The Debian packages: made, looked at by lintian, installed, used, purged, and nothing is left.

They are installed for real, by dpkg, into a machine that forgets it: an overlay over this one's root, in a
mount namespace of its own. What was changed is the overlay's upper layer.
"""
import filecmp
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

from profile_schema import check
from require import require, skip

ROOT = os.environ["EZPROF_SOURCE_DIR"]
PACKAGES = ("ezprof", "libezmsg-dev", "libezmsg0")
PAGES = ("1 ezprof", "1 ezprof-graphserver", "5 ezprof-json", "7 ezprof-probes", "8 ezprof-bpf")
# What dpkg and its triggers write of themselves, whatever is installed.
BOOKS = re.compile(r"(var/lib/dpkg|var/cache/man|var/cache/ldconfig)(/|$)|var/log/\w+\.log$|etc/ld\.so\.cache$")
SIZE_MAX = {"ezprof": 2 << 20, "libezmsg0": 1 << 20, "libezmsg-dev": 2 << 20}


def run(*words, **how):
    """stdout; the run must succeed."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=240, check=False, **how)
    assert done.returncode == 0, f"{words}: exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def made():
    files = run(os.path.join(ROOT, "scripts/package.sh")).split()
    names = sorted(run("dpkg-deb", "-f", file, "Package").strip() for file in files)
    assert names == sorted(PACKAGES), names
    for file in files:
        name = run("dpkg-deb", "-f", file, "Package").strip()
        print(f"{name}: {os.path.getsize(file)} bytes; needs {run('dpkg-deb', '-f', file, 'Depends').strip()}")
        assert os.path.getsize(file) < SIZE_MAX[name], file
    return files


def looked_at(files):
    if not shutil.which("lintian"):
        print("lintian isn't installed: not asked")
        return
    done = subprocess.run(["lintian", "--fail-on=error,warning", *files], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout


class Machine:
    """This one, with a layer over it that takes all changes. Only in a mount namespace of our own."""

    def __init__(self, folder):
        run("mount", "-t", "tmpfs", "-o", "mode=755", "changes", folder)
        self.upper, self.root = os.path.join(folder, "upper"), os.path.join(folder, "root")
        work = os.path.join(folder, "work")
        for path in (self.upper, self.root, work):
            os.mkdir(path)
        run("mount", "-t", "overlay", "-o", f"lowerdir=/,upperdir={self.upper},workdir={work}", "overlay", self.root)
        for place in ("proc", "sys", "dev"):
            run("mount", "--rbind", f"/{place}", os.path.join(self.root, place))
        for place in ("run", "tmp"):
            run("mount", "-t", "tmpfs", "-o", "mode=1777", place, os.path.join(self.root, place))

    def run(self, *words, **how):
        # What shells keep of themselves at home is not the packages'.
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "TERM": "dumb"}
        return run("chroot", self.root, *words, env=environment, cwd="/", **how)

    def path(self, name):
        return os.path.join(self.root, name.lstrip("/"))

    def left(self):
        """What differs from the machine below, but for dpkg's own books."""
        for folder, folders, names in os.walk(self.upper):
            for name in [*folders, *names]:
                path = os.path.join(folder, name)
                below = "/" + os.path.relpath(path, self.upper)
                if BOOKS.match(below[1:]):
                    continue
                mode = os.lstat(path).st_mode
                if stat.S_ISCHR(mode):
                    yield f"{below} was taken away"
                elif not os.path.lexists(below):
                    yield f"{below} is new"
                elif stat.S_ISREG(mode) and not filecmp.cmp(path, below, shallow=False):
                    yield f"{below} is changed"


def installed(machine, files):
    for file in files:
        shutil.copy(file, machine.path("/tmp"))
    names = ["/tmp/" + os.path.basename(file) for file in files]
    # Containers' dpkg leaves manual pages out.
    options = ("--path-include=/usr/share/*", "-i", *names)
    machine.run("dpkg", *options)
    machine.run("dpkg", "--no-triggers", *options)  # over itself, as an upgrade
    print(f"installed: {run('du', '-sh', machine.upper).split()[0]} of changes")


def listed(machine, package):
    return machine.run("dpkg", "-L", package).split()


def no_builder(machine):
    """Nothing tells of the place where it was built."""
    for package in PACKAGES:
        for name in listed(machine, package):
            path = machine.path(name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    assert ROOT.encode() not in file.read(), f"{name} has {ROOT} in it"


def manual(machine):
    for page in PAGES:
        section, name = page.split()
        assert machine.run("man", "-w", section, name).strip().startswith("/usr/share/man/"), page
        text = machine.run("man", "-P", "cat", section, name)
        assert "NAME" in text and name in text, text[:300]


def completions(machine):
    """The shells find them by themselves."""
    if os.path.exists("/usr/share/bash-completion/bash_completion"):
        said = machine.run("bash", "--norc", "-c", ". /usr/share/bash-completion/bash_completion; "
                           "_completion_loader ezprof-bpf; complete -p ezprof-bpf")
        assert "_ezprof" in said, said
    if shutil.which("zsh"):
        said = machine.run("zsh", "-f", "-c", "autoload -U compinit; compinit -D; print $_comps[ezprof]")
        assert said.strip() == "_ezprof", said
    if shutil.which("fish"):
        said = machine.run("fish", "--no-config", "-c",
                           "set -p fish_complete_path /usr/share/fish/vendor_completions.d; complete -C 'ezprof wh'")
        assert said.startswith("why"), said


def development(machine):
    """An application built as the documents say; the library is found without more ado."""
    flags = machine.run("pkg-config", "--cflags", "--libs", "ezmsg").split()
    source = "/usr/share/doc/libezmsg-dev/examples/hello.c"
    machine.run("cc", source, "-o", "/tmp/hello", *flags)
    assert "libezmsg.so.0 => /" in machine.run("ldd", "/tmp/hello")
    assert machine.run("ezprof", "probes", "/usr/lib/" + os.uname().machine + "-linux-gnu/libezmsg.so.0")


def units(machine):
    found = [name for name in listed(machine, "ezprof") if name.endswith(".service")]
    assert found
    for name in found:
        with open(machine.path(name), encoding="utf-8") as file:
            program = re.search(r"^ExecStart=(\S+)", file.read(), re.M)[1]
        assert program.startswith("/usr/bin/") and os.access(machine.path(program), os.X_OK), (name, program)
        with open(machine.path("/etc/default/ezprof-exporter"), "w", encoding="utf-8") as file:
            file.write("EZPROF_EXPORT_OPTIONS=--address 127.0.0.1:1\n")
        # As `systemctl enable` would leave it.
        wants = machine.path("/etc/systemd/system/multi-user.target.wants")
        os.makedirs(wants, exist_ok=True)
        link = os.path.join(wants, os.path.basename(name))
        if not os.path.lexists(link):
            os.symlink(name, link)
    if shutil.which("systemd-analyze"):
        machine.run("systemd-analyze", "verify", "--man=no", *found)


def demo(machine):
    document = json.loads(machine.run("/usr/libexec/ezprof/demo.sh"))
    faults = list(check(document, ours=True))
    assert not faults and not document["lost"] and not document["errors"], (faults, document["errors"])
    assert all(entry["source"] == "bpf" for entry in document["publishers"]), document["publishers"]


def purged(machine):
    machine.run("dpkg", "--purge", *PACKAGES)
    known = machine.run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n").splitlines()
    still = [line for line in known if line.split()[0] in PACKAGES and not line.endswith("not-installed")]
    assert not still, still
    for package in PACKAGES:
        assert not [name for name in os.listdir(machine.path("/var/lib/dpkg/info")) if name.startswith(package + ".")]
    left = list(machine.left())
    assert not left, left


def inside(folder, files):
    machine = Machine(folder)
    assert not list(machine.left())
    for step in (installed, no_builder, manual, completions, development, units, demo, purged):
        begin = time.monotonic()
        step(machine, files) if step is installed else step(machine)
        print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


def main():
    if sys.argv[1:2] == ["--inside"]:
        return inside(sys.argv[2], sys.argv[3:])
    require("bpf")
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "unshare"):
        if not shutil.which(tool):
            skip(f"no {tool}: Debian packages are made on Debian")
    begin = time.monotonic()
    files = made()
    looked_at(files)
    print(f"made and looked at: {time.monotonic() - begin:.1f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["unshare", "--mount", sys.executable, __file__, "--inside", folder, *files],
                              timeout=600, check=False)
        return done.returncode


sys.exit(main())
