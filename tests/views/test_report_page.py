# SPDX-License-Identifier: MIT
"""`ezprof report` without a browser: what is in the page, and how it gets to its place.

EZPROF_UPDATE_GOLDEN=1 writes the golden page anew.
"""
import copy
import json
import os
import pty
import random
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from hostile_names import NAMES, faults, undone
from made_profile import Made
from page import EZPROF, Page, report

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "why_chain.json")


def recorded():
    with open(RECORDED, encoding="utf-8") as file:
        return json.load(file)


def ezprof(*arguments, text=None):
    done = subprocess.run([EZPROF, *arguments], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def later(document, seconds, rate):
    """The same graph some time later."""
    changed = json.loads(json.dumps(document))
    changed["time_unix_s"] += seconds
    changed["time_ns"] += int(seconds * 1e9)
    for publisher in changed["publishers"]:
        publisher["message_rate_hz"] = rate
    return changed


def large(chains, length):
    """Chains of relays, all of which feed one sink too."""
    made, rng = Made(), random.Random(7)
    collect = []
    for chain in range(chains):
        publisher = made.publisher(f"CHAIN{chain}/SOURCE/OUT", 1000 + chain, 100.0)
        for hop in range(length):
            pid = 2000 + chain * length + hop
            made.subscriber(publisher, f"chain{chain}-hop{hop}", pid, rng.uniform(0.1, 9),
                            rng.uniform(0, 3))
            publisher = made.publisher(f"CHAIN{chain}/HOP{hop}/OUT", pid, 100.0,
                                       blocked=rng.random())
        collect.append(publisher)
    for number, publisher in enumerate(collect):
        made.subscriber(publisher, f"sink-{number}", 9000, 1.0)
    return made.document


def named():
    """All that has a name has a hostile one."""
    made = Made()
    for number, name in enumerate(NAMES):
        publisher = made.publisher(name, 1000 + number, 10.0 + number)
        made.subscriber(publisher, name, 2000 + number, 1.5, topic=name, host=name)
        made.task(name, 2000 + number)
    made.document["host"] = NAMES[0]
    made.document["agents"][0].update(tool_version=NAMES[-1], probes="</td>", link='"\u202e',
                                      losses={"</script>": 3},
                                      attached=[{"pid": 1, "comm": n, "state": n} for n in NAMES])
    made.document["errors"] = [{"who": n, "pid": 9, "reason": n, "detail": n, "topic": n}
                               for n in NAMES]
    return made.document


class Content(unittest.TestCase):
    def test_golden(self):
        """Of two documents; without style and script, which have their own files."""
        document = recorded()
        page = re.sub(r"(<style>).*?(</style>)|(<script>).*?(</script>)", r"\1\2\3\4",
                      report(document, later(document, 2.0, 40.0)), flags=re.DOTALL)
        path = os.path.join(HERE, "golden", "report.html")
        if os.environ.get("EZPROF_UPDATE_GOLDEN"):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(page)
        with open(path, encoding="utf-8", newline="") as file:
            self.assertEqual(page, file.read())

    def test_same_as_why(self):
        document = recorded()
        text = json.dumps(document)
        findings = json.loads(ezprof("why", "--json", "-", text=text)[1])["findings"]
        items = list(Page(report(document)).top.one("section", id="why").all("li"))
        self.assertEqual(len(items), len(findings))
        for item, finding in zip(items, findings):
            paragraph = next(item.all("p")).text()
            self.assertIn(finding["sentence"], paragraph)
            self.assertIn(finding["weight"], paragraph)
            rows = [r for r in item.all("tr")][1:]
            self.assertEqual([next(r.all("th")).text() for r in rows],
                             [e["metric"] for e in finding["evidence"]])

    def test_same_as_table(self):
        document = recorded()
        _, table, _ = ezprof("profile", "--from", "-", "--format", "table", text=json.dumps(document))
        page = Page(report(document))
        for section, names in (("publishers", 1), ("subscribers", 2)):
            shown = [[cell.text() for cell in row] for row in page.rows(section)]
            for row in shown:
                self.assertIn(row, [line.split() for line in table.splitlines()])
            self.assertEqual(len(shown), 2)
            self.assertTrue(all(len(row) > names + 5 for row in shown))

    def test_meanings(self):
        """Each heading leads to a definition; every link has a target."""
        page = Page(report(recorded(), recorded()))
        targets = {n.attributes["id"] for tag in ("tr", "dt", "section") for n in page.top.all(tag)
                   if "id" in n.attributes}
        links = [a.attributes["href"] for a in page.top.all("a")]
        self.assertGreater(len(links), 30)
        for link in links:
            self.assertIn(link.removeprefix("#"), targets)

    def test_needs_nothing(self):
        page = report(recorded())
        self.assertEqual(re.findall(r"https?://|//[a-z]|@import|url\((?!#head)|<(?:img|iframe|object)",
                                    page), [])
        self.assertIn("default-src 'none'", page)
        for node in Page(page).top.all("script"):
            self.assertEqual(node.attributes, {})

    def test_bins(self):
        """Bars where there are bins, the percentiles where they are missing or no bins."""
        document = recorded()
        sink, flt = (s for c in document["channels"] for s in c["subscribers"])
        sink["processing"]["bins"] = "18874368:90 20971520:11"
        flt["processing"]["bins"] = "12:x"
        with_bins, broken = (list(Page(report(document)).top.one("section", id="latencies").all("tr"))
                             [-2:])
        self.assertEqual(len(re.findall("z", list(with_bins.all("path", class_="bars"))[1]
                                        .attributes["d"])), 2)
        self.assertEqual(len(list(broken.all("path", class_="reach"))), 2)

    def test_names(self):
        html = report(named())
        page = Page(html)
        self.assertEqual(faults(html.replace("\t", " ")), [])
        self.assertEqual(len(list(page.top.all("script"))), 1)
        self.assertFalse({n.tag for n in page.top.all("b")})
        for section in ("publishers", "subscribers", "tasks"):
            shown = [next(row[0].all("bdi")) for row in page.rows(section)]
            names = [undone(b.attributes.get("title") or b.text()) for b in shown]
            self.assertEqual(names, list(NAMES))
            self.assertEqual(len({b.text() for b in shown}), len(NAMES))
        drawn = {undone(t.text().split(": ")[0]) for box in page.top.all("svg", class_="box")
                 for t in box.all("title")}
        for name in ("</script><b>", "line\nbreak", '"quoted", comma'):
            self.assertIn(name, drawn)

    def test_broken_utf8(self):
        document = json.dumps(recorded()).replace('"topic": "A"', '"topic": "A\udcff\udcfe"')
        self.assertNotIn("\udcff", report(document))

    def test_nothing(self):
        page = report(Made().document, status=(4,))
        self.assertIn("It has no publisher and no subscriber", Page(page).top.text())


# Values where others belong.
ODD = (None, -1, 0, 1e308, 1e-308, 2**63, 2**70, "", "x" * 5000, "</script>", [], {}, True, [[]],
       {"a": [1]}, 0.5, "0:1", "0:18446744073709551615", "5:1 4:1", float("nan"))


def places(value, at=()):
    """The way to each value within a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*at, key)
        yield from places(one, (*at, key))


def at(value, keys):
    for key in keys:
        value = value[key]
    return value


def mutated(document, rng):
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice((1, 2, 5, 20))):
        known = list(places(document))
        if not known:
            break
        *way, key = rng.choice(known)
        holder, kind = at(document, way), rng.random()
        if kind < 0.6:
            # A copy: a later change within it must not change ODD, or put it into itself.
            holder[key] = copy.deepcopy(rng.choice(ODD))
        elif kind < 0.8:
            holder[key] = json.loads(json.dumps(at(document, rng.choice(known))))
        elif isinstance(holder, dict):
            del holder[key]
        else:
            holder.extend(json.loads(json.dumps(holder[:1])) * rng.randint(1, 30))
    return document


class Hostile(unittest.TestCase):
    def test_mutated(self):
        """A page that is whole, or no document; EZPROF_FULL=1: 2,000 instead of 40."""
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        for number in range(2000 if os.environ.get("EZPROF_FULL") else 40):
            documents = [mutated(rng.choice((recorded(), large(2, 2), named())), rng)]
            if rng.random() < 0.3:
                documents.insert(rng.randrange(2), recorded())
            with self.subTest(seed=seed, number=number):
                html = report(*documents, status=(0, 1, 4, 5))
                if not html:
                    continue
                Page(html)
                own = re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>", "", html)
                self.assertNotRegex(own, r"(?<![\w.])-?(nan|inf)(?!\w)")


class Large(unittest.TestCase):
    def test_300_nodes(self):
        document = large(30, 4)
        begin = time.monotonic()
        html = report(document)
        self.assertLess(time.monotonic() - begin, 20)
        page = Page(html)
        boxes = [tuple(float(b.attributes[k]) for k in ("x", "y", "width", "height"))
                 for b in page.top.all("svg", class_="box")]
        self.assertEqual(len(boxes), 300)
        self.assertEqual(len(page.rows("publishers")), 150)
        self.assertEqual(len(page.rows("subscribers")), 150)
        self.assertLess(len(html), 3_000_000)
        for a in range(len(boxes)):
            for b in range(a):
                (ax, ay, aw, ah), (bx, by, bw, bh) = boxes[a], boxes[b]
                self.assertFalse(ax < bx + bw and bx < ax + aw and ay < by + bh and by < ay + ah)

    def test_cut(self):
        """What is too long is cut, and the count said."""
        made = Made()
        for number in range(2500):
            made.subscriber(made.publisher(f"T{number}", number + 1, 1.0), f"s{number}", 5000 + number)
        html = report(made.document)
        text = Page(html).top.text()
        self.assertIn("The first 2000 of 2500 rows are shown", text)
        self.assertIn("The first 400 of 2500 latencies are shown", text)
        self.assertIn("too large to be drawn", text)
        self.assertLess(len(html), 5_000_000)


class Output(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "page.html")

    def test_file(self):
        self.assertEqual(ezprof("report", "-o", self.path, "--from", RECORDED)[0], 0)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), report(recorded()))
        self.assertEqual(os.listdir(self.folder.name), ["page.html"])

    def test_full(self):
        """The earlier page stays, and nothing else."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("before")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        done = subprocess.run([EZPROF, "report", "-o", self.path, "--from", RECORDED],
                              stderr=subprocess.PIPE, text=True, timeout=60, preexec_fn=limit)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"ezprof report: {self.path}: File too large\n"))
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "before")
        self.assertEqual(os.listdir(self.folder.name), ["page.html"])
        status, _, said = ezprof("report", "-o", "/dev/full", "--from", RECORDED)
        self.assertEqual((status, said), (1, "ezprof report: /dev/full: No space left on device\n"))

    def test_refused(self):
        nowhere = os.path.join(self.folder.name, "no", "page.html")
        for arguments, status, said in (
                (("--from", RECORDED), 2, "-o FILE says where to write to"),
                (("-o", nowhere), 1, "No such file or directory"),
                (("-o", "/dev/null", "--duration", "x"), 2, "--duration 'x'"),
                (("-o", "/dev/null", "--duration", "3600", "--interval", "0.2"), 2, "at least 1.8 is wanted"),
                (("-o", "/dev/null", "extra"), 2, "no argument is wanted"),
                (("-o", "/dev/null", "--from", "/dev/null"), 1, "no PROFILE document"),
                (("-o", "/dev/null", "--from", __file__), 1, "no PROFILE document")):
            got = ezprof("report", *arguments)
            self.assertEqual(got[0], status, got)
            self.assertIn(said, got[2])

    def test_terminal(self):
        ours, theirs = pty.openpty()
        done = subprocess.run([EZPROF, "report", "-o", "-", "--from", RECORDED], stdout=theirs,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(ours)
        os.close(theirs)
        self.assertEqual(done.returncode, 2)
        self.assertIn("not for a terminal", done.stderr)

    def test_closed_pipe(self):
        done = subprocess.run(f"{EZPROF} report -o - --from {RECORDED} | true", shell=True,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
