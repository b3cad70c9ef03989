# SPDX-License-Identifier: MIT
"""`ezprof why` on made-up documents: the pure stage, whatever the document holds."""
import copy
import json
import os
import subprocess
import tempfile
import unittest

from made_profile import Made

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
RECORDED = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "why_chain.json")


def run(text, *options):
    return subprocess.run([EZPROF, "why", *options, "-"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=20)


def why(made, status=0, before=None):
    document = made.document if isinstance(made, Made) else made
    if before is None:
        done = run(json.dumps(document), "--json")
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(before, file)
            file.flush()
            done = run(json.dumps(document), "--json", file.name)
    assert done.returncode == status, (done.returncode, done.stderr)
    return json.loads(done.stdout)["findings"]


def kinds(findings):
    return [f["kind"] for f in findings]


class Blame(unittest.TestCase):
    def test_recorded_chain(self):
        with open(RECORDED, encoding="utf-8") as file:
            findings = why(json.load(file))
        self.assertEqual(findings[0]["kind"], "slow_subscriber")
        self.assertEqual(findings[0]["subject"]["handle"], "sink")
        self.assertEqual([w["topic"] for w in findings[0]["waiting"]], ["A", "B"])
        self.assertAlmostEqual(findings[0]["bound_hz"], 49.76, delta=0.1)
        for part in ("blocked 100 % and 97 %", "998 and 974 ms per second", "20.1 ms per message",
                     "flt on A only waits too: it needs 0.48 ms itself", "same process",
                     "Without it at most 2093 messages/s"):
            self.assertIn(part, findings[0]["sentence"])

    def units(self):
        """SRC -> FLT -> SINK as a Python graph in one process."""
        made = Made()
        source = made.publisher("SRC/OUT", 7, 50.0, 0.97, task="SRC:go")
        made.subscriber(source, "FLT/IN", 7, 0.4, 600.0, topic="FLT/IN", task="FLT:relay",
                        in_flight=32, mode="local")
        relay = made.publisher("FLT/OUT", 7, 50.0, 0.95, task="FLT:relay")
        sink = made.subscriber(relay, "SINK/IN", 7, 20.0, 600.0, topic="SINK/IN",
                               task="SINK:work, SINK:slow", in_flight=32, mode="local")
        made.task("SINK:work", 7, 100, busy=5.0)
        made.task("SINK:slow", 7, 100, busy=2000.0)
        return made, source, relay, sink

    def test_units_of_one_process(self):
        made, *_ = self.units()
        [top, *rest] = why(made)
        self.assertEqual(top["kind"], "slow_subscriber")
        self.assertIn("SRC/OUT and FLT/OUT wait for SINK:slow (pid 7)", top["sentence"])
        self.assertIn("FLT:relay only waits too: it needs 0.40 ms", top["sentence"])
        self.assertNotIn("same process", top["sentence"], "the task says so")
        self.assertNotIn("slow_subscriber", kinds(rest))

    def test_other_unit_isn_t_downstream(self):
        made, _source, relay, _sink = self.units()
        relay["task"] = "OTHER:relay"
        findings = [f for f in why(made) if f["kind"] != "fine"]
        self.assertEqual(len([f for f in findings if f["waiting"]]), 2)

    def test_long_chain(self):
        """Forty hops have one root, named once; not all that wait are, but all are counted."""
        made = Made()
        for i in range(40):
            a = made.publisher(f"U{i}/OUT", i + 1, 50.0, 0.9, task=f"U{i}:go")
            made.subscriber(a, "", i + 2, 0.4 if i < 39 else 19.0, 600.0, in_flight=30,
                            task=f"U{i + 1}:go", topic=f"U{i + 1}/IN")
        [top, *rest] = why(made)
        self.assertEqual((top["kind"], top["subject"]["task"]), ("slow_subscriber", "U40:go"))
        self.assertEqual([w["topic"] for w in top["waiting"]], [f"U{i}/OUT" for i in range(40)])
        self.assertTrue(top["sentence"].startswith(
            "U0/OUT, U1/OUT, U2/OUT, U3/OUT and 36 more wait for U40:go (pid 41)"))
        self.assertEqual([f for f in rest if f["weight"] == "problem"], [])

    def test_circle(self):
        """A feeds B feeds A, both blocked: it ends, and somebody is named."""
        made = Made()
        a = made.publisher("A", 1, 10.0, 0.9)
        b = made.publisher("B", 2, 10.0, 0.9)
        made.subscriber(a, "a", 2, 1.0, 50.0, in_flight=32)
        made.subscriber(b, "b", 1, 1.0, 50.0, in_flight=32)
        self.assertTrue([f for f in why(made) if f["waiting"]])

    def test_own_monitor_isn_t_downstream(self):
        made = Made()
        a = made.publisher("A", 1, 50.0, 0.9)
        made.subscriber(a, "monitor", 1, 0.1, mode="local")
        made.subscriber(a, "slow", 2, 19.0, 600.0, in_flight=32)
        self.assertEqual(why(made)[0]["subject"]["handle"], "slow")

    def test_own_monitor_makes_no_relay(self):
        made = Made()
        a = made.publisher("A", 1, 50.0)
        made.subscriber(a, "monitor", 1, 0.1, mode="local")
        self.assertEqual(kinds(why(made)), ["fine", "own_pace"])

    def test_held_loop_blocks(self):
        made = Made()
        a = made.publisher("A", 1, 10.0, 0.8)
        made.subscriber(a, "S/IN", 2, 0.2, 600.0, topic="S/IN", task="S:work", in_flight=32)
        made.task("HOG:spin", 2, 30, hold=1800.0, hold_max=61.0)
        made.task("S:work", 2, 30, hold=9000.0, hold_max=3.0)
        [top, *_] = why(made)
        self.assertEqual(top["kind"], "loop_held")
        self.assertIn("HOG:spin keeps its event loop, up to 61 ms", top["sentence"])

    def test_held_loop_delays(self):
        made = Made()
        a = made.publisher("A", 2, 10.0)
        made.subscriber(a, "S/IN", 2, 0.2, 55.0, topic="S/IN", task="S:work", mode="local")
        made.subscriber(a, "T/IN", 2, 0.3, 50.0, topic="T/IN", task="T:work", mode="local")
        made.task("HOG:spin", 2, 30, hold=1800.0, hold_max=61.0)
        [top, *rest] = why(made)
        self.assertEqual((top["kind"], len(top["waiting"])), ("loop_held", 2))
        self.assertIn("HOG:spin (pid 2) holds its event loop, up to 61 ms", top["sentence"])
        self.assertNotIn("loop_held", kinds(rest))

    def test_growth_decides_who_holds(self):
        """Who held it yesterday isn't who holds it now."""
        made = Made()
        a = made.publisher("A", 2, 10.0)
        made.subscriber(a, "S/IN", 2, 0.2, 55.0, topic="S/IN", task="S:work", mode="local")
        old, new = (made.task(name, 2, hold=hold, hold_max=60.0)
                    for name, hold in (("OLD:go", 90000.0), ("NEW:go", 10.0)))
        before = copy.deepcopy(made.document)
        new["hold_ms"] += 900.0
        self.assertIn("OLD:go", why(made)[0]["sentence"])
        self.assertIn("NEW:go", why(made, before=before)[0]["sentence"])
        self.assertEqual(old["hold_ms"], 90000.0)

    def test_held_loop_slows_a_publisher(self):
        made = Made()
        a = made.publisher("A", 2, 15.0, task="SRC:go")
        made.subscriber(a, "S/IN", 2, 0.2, 0.1, topic="S/IN", task="S:work", mode="local")
        hog = made.task("HOG:spin", 2, 30, hold=1800.0, hold_max=61.0)
        made.task("SRC:go", 2, 30, hold=1.0)
        before = copy.deepcopy(made.document)
        made.document["time_ns"] += 10**9
        self.assertNotIn("loop_held", kinds(why(made, before=before)), "it did yesterday")
        hog["hold_ms"] += 900.0
        [top, *rest] = why(made, before=before)
        self.assertEqual((top["kind"], top["waiting"][0]["topic"]), ("loop_held", "A"))
        self.assertIn("holds its event loop 90 % of the time, up to 61 ms", top["sentence"])
        self.assertNotIn("own_pace", kinds(rest))

    def test_connection(self):
        made = Made()
        a = made.publisher("A", 1, 20.0, 0.5, in_flight=3, byte_rate_per_s=80e6)
        made.subscriber(a, "far", 2, 0.1, 0.1, mode="tcp", host="there", in_flight=1)
        a["links"][0]["avg_ms"] = 40.0
        [top, *rest] = why(made)
        self.assertEqual(top["kind"], "connection")
        self.assertIn("host there", top["sentence"])
        self.assertNotIn("tcp_within_host", kinds(rest))

    def test_slow_over_tcp_is_slow(self):
        made = Made()
        a = made.publisher("A", 1, 20.0, 0.5, in_flight=3)
        made.subscriber(a, "far", 2, 48.0, 10.0, mode="tcp", in_flight=3)
        self.assertEqual(why(made)[0]["kind"], "slow_subscriber")

    def starved(self, runnable):
        made = Made()
        a = made.publisher("A", 1, 50.0, 0.9)
        s = made.subscriber(a, "s", 2, 19.0, 600.0, in_flight=32)
        s["processing"]["sched"] = {"time_ms": 2000.0, "on_cpu_ms": 1900.0 - runnable,
                                    "runnable_ms": runnable, "blocked_ms": 100.0, "other_ms": 0.0}
        return why(made)[0]

    def test_starved(self):
        top = self.starved(1500.0)
        self.assertEqual(top["kind"], "cpu_starved")
        for part in ("19 ms per message, of which it runs only 3.80 ms", "20 % on a CPU",
                     "75 % ready to run while others had the CPU", "5.0 % asleep"):
            self.assertIn(part, top["sentence"])
        top = self.starved(100.0)
        self.assertEqual(top["kind"], "slow_subscriber")
        self.assertIn("90 % on a CPU", top["sentence"])

    def test_stuck(self):
        made = Made()
        a = made.publisher("A", 1, 0.0, 1.0, buffers=8, in_flight=8)
        made.subscriber(a, "stuck", 2, 0.0, in_flight=8, oldest_lease_ms=12300.0)
        made.subscriber(a, "fine", 3, 0.0)
        [top, *_] = why(made)
        self.assertEqual((top["kind"], top["subject"]["handle"]), ("stuck_subscriber", "stuck"))
        self.assertIn("holds 8 messages and has given none back for 12.3 s", top["sentence"])

    def test_one_lease_stays(self):
        made = Made()
        a = made.publisher("A", 1, 100.0)
        made.subscriber(a, "leak", 2, 1.0, in_flight=1, oldest_lease_ms=60000.0)
        [top, *_] = why(made)
        self.assertEqual(top["kind"], "stuck_subscriber")
        self.assertIn("has held a message for 60 s, while the others took 1.00 ms", top["sentence"])

    def test_nobody_known_holds(self):
        made = Made()
        a = made.publisher("A", 1, 10.0, 0.9, in_flight=32)
        made.channel(a, 77)
        a["links"][0]["in_flight"] = 32
        [top, *_] = why(made)
        self.assertEqual(top["kind"], "blocked_publisher")
        self.assertIn("pid 77 holds 32 of its 32 buffers", top["sentence"])

    def test_who_isn_t_measured_holds_most(self):
        """A graph of three processes, attached to one: the slow one is in another."""
        made = Made()
        a = made.publisher("A", 1, 40.0, 0.6, in_flight=32)
        made.subscriber(a, "fast", 1, 4.0, 2.0, in_flight=1, mode="local")
        made.channel(a, 76)
        made.channel(a, 77)
        a["links"][0]["in_flight"] = 1
        a["links"][2]["in_flight"] = 31
        [top, *rest] = why(made)
        self.assertEqual(top["kind"], "blocked_publisher")
        self.assertIn("pid 77 holds 31 of its 32 buffers, whose subscribers nobody measures",
                      top["sentence"])
        self.assertNotIn("pid 1 ", top["sentence"])
        self.assertEqual([f for f in rest if f["weight"] == "problem"], [])
        # Measured as well, it would be the slow one itself.
        made.subscriber(a, "fast", 1, 4.0, 2.0, in_flight=1, channel=made.document["channels"][1])
        made.subscriber(a, "slow", 77, 20.0, 700.0, in_flight=31,
                        channel=made.document["channels"][2])
        self.assertEqual(why(made)[0]["subject"]["handle"], "slow")

    def test_ezmsg_told_only_of_the_idle(self):
        """Without buffers nobody is accused of keeping them who hardly works."""
        for busy_ms, kind in ((4.0, "blocked_publisher"), (24.0, "slow_subscriber")):
            made = Made()
            a = made.publisher("A", 1, 40.0, 0.7, source="ezmsg", num_buffers=None)
            made.subscriber(a, "B/IN", 1, busy_ms, topic="B/IN", source="ezmsg")
            a["links"] = []
            [top, *_] = why(made)
            self.assertEqual(top["kind"], kind)
            self.assertNotIn("buffer ", top["sentence"])


class Others(unittest.TestCase):
    def test_fine_and_idle_and_empty(self):
        made = Made()
        made.subscriber(made.publisher("A", 1, 100.0), "s", 2, 1.0)
        self.assertEqual(kinds(why(made)), ["fine", "own_pace"])
        made = Made()
        made.subscriber(made.publisher("A", 1, 0.0), "s", 2, 0.0)
        self.assertEqual(kinds(why(made)), ["idle"])
        self.assertIn("no publisher", why(Made(), status=4)[0]["sentence"])

    def test_nobody_measures(self):
        """The zeros of a process that isn't measured say nothing about what moves."""
        made = Made()
        a = made.publisher("A", 1, 0.0, source="process")
        made.subscriber(a, "s", 2, 0.0)
        made.document["channels"][0]["source"] = "process"
        for endpoint in (a, made.document["channels"][0]["subscribers"][0]):
            endpoint["window"] = {"requested_s": 2.0, "covered_s": None}
            endpoint["source"] = "process"
        a["messages"] = {"total": 97, "window": 0}
        found = why(made)
        self.assertIn("sent 97 until now", found[0]["sentence"])
        self.assertNotIn("Idle", found[0]["sentence"])

    def test_drops_since(self):
        made = Made()
        s = made.subscriber(made.publisher("A", 1, 300.0), "drips", 2, 10.0)
        s["drops"]["total"], s["messages"]["total"] = 400, 600
        self.assertIn("dropped 400 of 600 messages unread since it was opened",
                      why(made)[0]["sentence"])
        before = copy.deepcopy(made.document)
        self.assertNotIn("drops", kinds(why(made, before=before)), "none while it looked")
        s["drops"]["total"], s["messages"]["total"] = 500, 750
        [found] = [f for f in why(made, before=before) if f["kind"] == "drops"]
        self.assertIn("dropped 100 of 150 messages unread while ezprof looked", found["sentence"])

    def test_gap_is_told_where_it_begins(self):
        made = Made()
        a, b = made.publisher("A", 1, 100.0), made.publisher("B", 2, 100.0)
        made.subscriber(a, "a", 2, 1.0)
        made.subscriber(b, "b", 3, 1.0)
        for publisher in (a, b):
            publisher["gap"]["longest_ms"] = 400.0
        found = [f for f in why(made) if f["kind"] == "gap"]
        self.assertEqual([f["subject"]["topic"] for f in found], ["A"])
        self.assertIn("400 ms, ended 1.00 s ago; usually it is 10 ms", found[0]["sentence"])

    def test_serialising(self):
        made = Made()
        a = made.publisher("A", 1, 20.0, serialise={"total_ms": 1200.0})  # 30 ms each
        made.subscriber(a, "s", 2, 1.0)
        [found] = [f for f in why(made) if f["kind"] == "serialising"]
        self.assertIn("spends 60 % of the time on serialising and copying: 30 ms for each message",
                      found["sentence"])
        self.assertAlmostEqual(found["bound_hz"], 1000 / 30)
        a["serialise"] = {"total_ms": 12.0}
        self.assertNotIn("serialising", kinds(why(made)))

    def test_ezmsg_alone(self):
        """It knows no buffers, and its processing includes the waiting: the chain is told anyway."""
        made = Made()
        more = {"source": "ezmsg", "num_buffers": None}
        src = made.publisher("SRC/OUT", 7, 40.0, 0.8, **more)
        flt = made.publisher("FLT/OUT", 7, 40.0, 0.9, **more)
        for publisher, unit, task in ((src, "FLT", "relay"), (flt, "SINK", "work")):
            s = made.subscriber(publisher, None, 7, 24.0, topic=f"{unit}/IN", task=task,
                                mode="local", source="ezmsg", in_flight=None, avg_ms=None,
                                max_ms=None, samples=None)
            s["queue"] = {}
            made.document["channels"][-1].update(pub_id=None, topic=None, channel_id=None)
        made.document["graph"] = {"SRC/OUT": ["COLL/X"], "COLL/X": ["FLT/IN", "COLL/X"],
                                  "FLT/OUT": ["SINK/IN"], "SINK/IN": []}
        [top, *rest] = why(made)
        self.assertEqual(top["kind"], "slow_subscriber")
        self.assertIn("SRC/OUT and FLT/OUT wait for work on SINK/IN (pid 7)", top["sentence"])
        self.assertIn("relay on FLT/IN only waits too.", top["sentence"])
        self.assertIsNone(top["bound_without_hz"])
        self.assertIn("unprepared", kinds(rest))

    def test_silent_on_another_host(self):
        """Also where a process that ended here has the same pid."""
        made = Made()
        made.subscriber(made.publisher("A", 1, 100.0), "s", 2, 1.0)
        made.document["errors"] = [{"who": "process", "pid": 55, "reason": "died", "host": "far"}]
        made.document["agents"][0]["attached"] = [
            {"pid": 55, "comm": "worker", "state": "exited", "exited_ns": 10**12 - 3 * 10**9}]
        self.assertIn("process of pid 55, host far: died",
                      " ".join(f["sentence"] for f in why(made, status=5)))

    def test_trust(self):
        made = Made()
        made.subscriber(made.publisher("A", 1, 100.0), "s", 2, 1.0)
        made.document["errors"] = [{"who": "agent", "pid": 9, "reason": "timeout", "detail": "1 s",
                                    "topic": None, "id": None, "host": "here"},
                                   {"who": "publisher", "pid": 8, "reason": "died", "topic": "Z"}]
        made.document["agents"][0]["attached"] = [
            {"pid": 55, "comm": "worker", "state": "exited", "exited_ns": 10**12 - 3 * 10**9},
            {"pid": 56, "comm": "older", "state": "exited", "exited_ns": 10**12 - 600 * 10**9}]
        made.document["errors"].append({"who": "process", "pid": 55, "reason": "died"})
        made.document["lost"] = 12
        findings = why(made, status=5)
        self.assertEqual(kinds(findings)[:4], ["dead_process", "dead_process", "silent", "lost"])
        text = " ".join(f["sentence"] for f in findings)
        self.assertEqual(len([f for f in findings if "55" in f["sentence"]]), 1, "once")
        [ended] = [f for f in findings if f["kind"] == "ended_process"]
        self.assertIn("Process 56 (older), which was measured, ended 10 min 0 s ago",
                      ended["sentence"])
        for part in ("Process 55 (worker), which was measured, ended 3.00 s ago", "agent of pid 9: timeout (1 s)", "pid 8 on Z: died",
                     "12 messages"):
            self.assertIn(part, text)

    def test_sources(self):
        made = Made()
        made.subscriber(made.publisher("A", 31, 100.0, source="process"), "s", 2, 1.0)
        self.assertIn("sudo ezprof-bpf attach 31", why(made)[-1]["sentence"] + why(made)[1]["sentence"])
        made.document["publishers"][0]["source"] = "ezmsg"
        [told] = [f for f in why(made) if f["kind"] == "unprepared"]
        self.assertIn("No agent measures this graph", told["sentence"])
        self.assertIn("sudo ezprof-bpf attach 31; it finds probes in what was started by `ezprof run`", told["sentence"])
        made.document["silent_agents"] = 1
        [told] = [f for f in why(made) if f["kind"] == "unprepared"]
        self.assertNotIn("No agent measures", told["sentence"])
        self.assertIn("An agent measures on this machine, but tells this user nothing", told["sentence"])

    def test_warming_up(self):
        made = Made(window=10.0)
        a = made.publisher("A", 1, 100.0, warming_up=True)
        a["window"]["covered_s"] = 0.4
        [found] = [f for f in why(made) if f["kind"] == "warming_up"]
        self.assertIn("400 ms are measured of the 10 s asked for", found["sentence"])


class Hostile(unittest.TestCase):
    def test_no_document(self):
        for text in ("", "{", "[]", "{}", '{"publishers": []}', "\0", "nonsense"):
            done = run(text)
            self.assertEqual((done.returncode, done.stdout), (1, ""), text)
            self.assertIn("no PROFILE document", done.stderr)
        done = subprocess.run([EZPROF, "why", "/nonexistent"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)

    def test_wrong_types(self):
        """Whatever stands in the place of a value, the rest is read."""
        made = Made()
        made.subscriber(made.publisher("A", 1, 50.0, 0.9, in_flight=3), "s", 2, 19.0, in_flight=3)

        def places(value, path=()):
            if isinstance(value, (dict, list)):
                for key in (value if isinstance(value, dict) else range(len(value))):
                    yield (*path, key)
                    yield from places(value[key], (*path, key))

        for number, place in enumerate(places(made.document)):
            changed = copy.deepcopy(made.document)
            at = changed
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = (None, -1, "x", [], {}, 1e308, 2**64, True)[number % 8]
            done = run(json.dumps(changed), "--json")
            self.assertIn(done.returncode, (0, 1, 5), (place, done.stderr))

    def test_names(self):
        for name in ('"quoted"', "line\nbreak", "tab\t\x1b[31m", "Grüße/日本", "x" * 4096, "{}|,;%s%n"):
            made = Made()
            made.subscriber(made.publisher(name, 1, 50.0, 0.9), name + "2", 2, 19.0, in_flight=9)
            [top, *_] = why(made)
            self.assertEqual(top["waiting"][0]["topic"], name)
            text = run(json.dumps(made.document)).stdout
            self.assertTrue(text.startswith(" 1. "), text)
            for bad in ("\x1b", "\t"):
                self.assertNotIn(bad, text)
            self.assertTrue(all(line[:4] in (" 1. ", "  - ", "  > ") or line[:3] in (" 2.", " 3.")
                                for line in text.splitlines()), text)

    def test_wrapped(self):
        with open(RECORDED, encoding="utf-8") as file:
            text = file.read()
        done = subprocess.run([EZPROF, "why", "-"], input=text, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "COLUMNS": "40"}, check=True)
        self.assertTrue(all(len(line) <= 40 for line in done.stdout.splitlines()), done.stdout)
        whole = run(text).stdout
        self.assertEqual(done.stdout.split(), whole.split())


if __name__ == "__main__":
    unittest.main()
