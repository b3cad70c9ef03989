# SPDX-License-Identifier: MIT
"""`ezprof check` and `ezprof diff` on made-up documents: verdicts, exit statuses, spreads."""
import json
import os
import subprocess
import tempfile
import unittest

from made_profile import Made

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")


def made(process=2.0, rate=100.0, extra=False, pid=20, name="sink"):
    m = Made()
    a = m.publisher("A", 10, rate, 0.1)
    m.subscriber(a, name, pid, process, 1.0)
    m.subscriber(a, "other", pid + 1, 1.0, 1.0)
    if extra:
        m.subscriber(a, "extra", pid + 2, 1.0, 1.0)
    return m.document


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, *documents, indent=None):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            for document in documents:
                file.write(json.dumps(document, indent=indent) + "\n")
        return path

    def run_ezprof(self, *words, status):
        done = subprocess.run([EZPROF, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=20)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done

    def check(self, rules, *files, status, options=()):
        words = [w for rule in rules for w in ("--fail-if", rule)]
        return self.run_ezprof("check", *options, *words, *files, status=status)


class Check(Case):
    def test_verdicts(self):
        file = self.file("a", made(process=7.5))
        text = self.check(["sub.process_p99_ms > 5"], file, status=3).stdout
        self.assertEqual(text, "broken: sub.process_p99_ms > 5: 7.5, sink on A (pid 20); "
                               "1 of 2 break it\n")
        text = self.check(["sub.process_p99_ms > 8", "pub.rate_hz < 99", "graph.errors > 0"], file,
                          status=0).stdout
        self.assertEqual(text.count("kept: "), 3, text)
        text = self.check(["sub.process_p99_ms > 8", "pub.rate_hz < 101"], file, status=3).stdout
        self.assertIn("broken: pub.rate_hz < 101: 100, A (pid 10)", text)

    def test_many_of_the_same_names(self):
        """As many as there are; the same ones in the next document."""
        documents = [made(), made()]
        for document in documents:
            channel = document["channels"][0]
            document["channels"] = [dict(channel, channel_id=f"{n:08x}-0000-0000-0000-000000000000") for n in range(3000)]
        text = self.check(["sub.process_p99_ms > 1.5"], self.file("many", *documents), status=3).stdout
        self.assertIn("; 3000 of 3000 break it", text)

    def test_each_comparison(self):
        file = self.file("a", made(rate=100.0))
        for sign, limits in ((">", (99, 100)), (">=", (100, 101)), ("<", (101, 100)),
                             ("<=", (100, 99)), ("==", (100, 99)), ("!=", (99, 100))):
            self.check([f"pub.rate_hz {sign} {limits[0]}"], file, status=3)
            self.check([f"pub.rate_hz{sign}{limits[1]}"], file, status=0)

    def test_labels(self):
        file = self.file("a", made(process=7.5))
        self.check(["sub.process_p99_ms{handle=other} > 5"], file, status=0)
        self.check(["sub.process_p99_ms{handle=si*,publisher=A} > 5"], file, status=3)
        self.check(["sub.process_p99_ms{pid=20} > 5"], file, status=3)
        self.check(["sub.process_p99_ms{handle=nobody} > 5"], file, status=4)

    def test_not_judged(self):
        """What isn't known is no success."""
        document = made()
        document["publishers"][0]["blocked"]["share"] = None
        text = self.check(["pub.blocked_share > 0.5"], self.file("a", document), status=4).stdout
        self.assertEqual(text, "not judged: pub.blocked_share > 0.5: no object has the figure\n")

    def test_median_and_spread(self):
        documents = [made(process=p) for p in (4.0, 6.0, 30.0)]
        for file in (self.file("lines", *documents), self.file("pretty", *documents, indent=1)):
            text = self.check(["sub.process_p50_ms > 5"], file, status=3).stdout
            self.assertIn("6 (4 to 30 in 3 documents), sink on A", text)
            self.check(["sub.process_p50_ms > 7"], file, status=0)
        files = [self.file(str(n), d) for n, d in enumerate(documents)]
        self.assertIn("4 to 30 in 3", self.check(["sub.process_p50_ms > 5"], *files,
                                                status=3).stdout)

    def test_baseline(self):
        """Whatever the pids are now."""
        base = self.file("base", made(process=2.0, pid=500), made(process=2.2, pid=500))
        now = self.file("now", made(process=2.6))
        text = self.check(["sub.process_p50_ms > +20%"], now, status=3,
                          options=("--baseline", base)).stdout
        self.assertIn("2.6, +23.8 % from 2.1 (2 to 2.2 in 2 documents), sink on A", text)
        self.check(["sub.process_p50_ms > +25%"], now, status=0, options=("--baseline", base))
        self.check(["pub.rate_hz < -10%"], self.file("slow", made(rate=85.0)), status=3,
                   options=("--baseline", base))
        self.check(["sub.process_p50_ms{handle=new} > +1%"], self.file("n", made(name="new")),
                   status=4, options=("--baseline", base))

    def test_partial(self):
        document = made()
        document["lost"] = 3
        file = self.file("a", document)
        self.check(["pub.rate_hz > 1000"], file, status=5)
        self.check(["graph.lost_total > 0"], file, status=3)

    def test_json(self):
        done = self.check(["sub.process_p99_ms > 5", "task.hold_max_ms > 1"],
                          self.file("a", made(process=7.5)), status=3, options=("--json",))
        found = json.loads(done.stdout)
        self.assertEqual(found["schema"], "ezprof.check/1")
        self.assertEqual([r["result"] for r in found["rules"]], ["broken", "not_judged"])
        self.assertEqual(found["rules"][0]["spread"],
                         {"median": 7.5, "min": 7.5, "max": 7.5, "documents": 1})

    def test_usage(self):
        file = self.file("a", made())
        for rule, says in (("sub.proces_p99_ms > 5", "did you mean 'sub.process_p99_ms'?"),
                           ("sub.process_p99_ms", "one of >"), ("sub.process_p99_ms > x", "no number"),
                           ("sub.process_p99_ms > 5ms", "no number"), ("", "no metric"),
                           ("sub.process_p99_ms{handle} > 5", "label=pattern"),
                           ("sub.process_p99_ms{hndle=x} > 5", "no label 'hndle'"),
                           ("sub.process_p99_ms{handle=x > 5", "closing brace"),
                           ("sub.process_p99_ms > 20%", "+20%"),
                           ("sub.process_p99_ms > +20%", "--baseline")):
            errors = self.check([rule], file, status=2).stderr
            self.assertIn(says, errors)
            self.assertEqual(errors.count("\n"), 1, errors)
        self.run_ezprof("check", file, status=2)
        self.check(["pub.rate_hz > 1"], "/nonexistent", status=1)
        self.check(["pub.rate_hz > 1"], self.file("broken", {}), status=1)


class Diff(Case):
    def test_text(self):
        before = self.file("a", made(process=2.0), made(process=2.1))
        after = self.file("b", made(process=3.0, extra=True), made(process=3.3, extra=True))
        text = self.run_ezprof("diff", before, after, status=0).stdout
        self.assertIn("+53.7 %  sub.process_p99_ms 2.05 [2..2.1] -> 3.15 [3..3.3]  sink on A", text)
        self.assertIn("only after: the subscriber extra on A (pid 22)", text)
        self.assertNotIn("pub.rate_hz", text, "it is the same")
        self.assertNotIn("overlap", text)
        text = self.run_ezprof("diff", "--all", "--min-change", "0", before, after, status=0).stdout
        self.assertIn("pub.rate_hz 100", text)

    def test_within_the_spread(self):
        text = self.run_ezprof("diff", self.file("a", made(process=2.0), made(process=4.0)),
                               self.file("b", made(process=3.0), made(process=5.0)), status=0).stdout
        self.assertIn("(the spreads overlap)", text)

    def test_rules(self):
        before, after = self.file("a", made(process=2.0)), self.file("b", made(process=3.0))
        rule = ("--fail-if", "sub.process_p50_ms > +20%")
        text = self.run_ezprof("diff", *rule, before, after, status=3).stdout
        self.assertIn("broken: sub.process_p50_ms > +20%: 3, +50.0 % from 2, sink on A", text)
        self.assertIn("kept: ", self.run_ezprof("diff", *rule, before, before, status=0).stdout)
        done = self.run_ezprof("diff", "--json", *rule, before, after, status=3)
        self.assertIn("broken: ", done.stderr)

    def test_json(self):
        done = self.run_ezprof("diff", "--json", self.file("a", made(process=2.0)),
                               self.file("b", made(process=3.0, extra=True)), status=0)
        found = json.loads(done.stdout)
        [change] = [c for c in found["changes"] if c["metric"] == "sub.process_p99_ms"
                    and c["of"]["handle"] == "sink"]
        self.assertEqual((change["before"]["median"], change["after"]["median"]), (2.0, 3.0))
        self.assertAlmostEqual(change["change_share"], 0.5)
        self.assertEqual([s["handle"] for s in found["only_after"]], ["extra"])
        self.assertEqual(found["only_before"], [])

    def test_usage(self):
        file = self.file("a", made())
        for words in ((), (file,), (file, file, file), ("--min-change", "x", file, file)):
            self.run_ezprof("diff", *words, status=2)
        self.run_ezprof("diff", file, "/nonexistent", status=1)

    def test_twins(self):
        """Subscribers of one name are compared one by one."""
        m = Made()
        a = m.publisher("A", 10)
        m.subscriber(a, "s", 1, 1.0)
        m.subscriber(a, "s", 2, 5.0)
        same = self.file("a", m.document)
        self.assertIn("no figure has changed", self.run_ezprof("diff", same, same, status=0).stdout)

    def test_two_inputs(self):
        """One name at two inputs: the lines say which."""
        files = []
        for name, factor in (("a", 1.0), ("b", 2.0)):
            m = Made()
            for topic, process in (("A", 1.0), ("B", 3.0)):
                m.subscriber(m.publisher(topic, 10), "sink", 20, factor * process, topic="IN",
                             task="S:take")
            files.append(self.file(name, m.document))
        lines = self.run_ezprof("diff", *files, status=0).stdout.splitlines()
        for topic in "AB":
            self.assertTrue(any(line.endswith(f"S:take (pid 20) of {topic}") for line in lines),
                            lines)


unittest.main()
