# SPDX-License-Identifier: MIT
"""`ezprof why` on documents of graphs of which only some processes are measured: unknown is never taken for 0."""
import unittest

from made_profile import Made
from test_why import kinds, why


class Unmeasured(unittest.TestCase):
    def unmeasured(self, publisher, handle, pid, **more):
        """A subscriber of which its process tells totals, and nobody measures times."""
        s = self.made.subscriber(publisher, handle, pid, 1.0, source="process", **more)
        s["processing"] = dict.fromkeys(s["processing"])
        s["queue"] = dict.fromkeys(s["queue"])
        s["window"]["covered_s"] = None
        return s

    def test_only_the_publisher_is_measured(self):
        """What nobody measures is said to be so, and is no limit of 0 ms."""
        self.made = Made()
        a = self.made.publisher("A", 1, 180.0, 0.98, in_flight=32)
        self.unmeasured(a, "slow", 2, in_flight=32)
        self.unmeasured(a, "fast", 3)
        [top, *rest] = why(self.made)
        self.assertEqual((top["kind"], top["bound_hz"], top["bound_without_hz"]), ("late_subscriber", None, None))
        self.assertIn("A waits for slow on A (pid 2)", top["sentence"])
        self.assertIn("What it does with them is not measured: sudo ezprof-bpf attach 2.", top["sentence"])
        self.assertNotIn("0.00 ms", top["sentence"])
        self.assertNotIn("Without it", top["sentence"])
        [note] = [f for f in rest if f["kind"] == "unprepared"]
        self.assertIn("processes 2 3: their totals are known", note["sentence"])
        self.assertIn("sudo ezprof-bpf attach 2 3", note["sentence"])

    def test_no_limit_where_one_of_several_is_not_measured(self):
        self.made = Made()
        a = self.made.publisher("A", 1, 50.0, 0.98, in_flight=32)
        self.made.subscriber(a, "slow", 2, 19.0, 600.0, in_flight=32)
        self.made.subscriber(a, "fast", 3, 1.0)
        self.assertIn("Without it at most", why(self.made)[0]["sentence"])
        self.unmeasured(a, "other", 4)
        [top, *_] = why(self.made)
        self.assertEqual((top["kind"], top["bound_without_hz"]), ("slow_subscriber", None))
        self.assertNotIn("Without it", top["sentence"])

    def test_fine_counts_who_is_measured(self):
        self.made = Made()
        a = self.made.publisher("A", 1, 50.0)
        self.unmeasured(a, "x", 2)
        [fine] = [f for f in why(self.made) if f["kind"] == "fine"]
        self.assertIn("; what subscribers do is not measured.", fine["sentence"])
        self.made.subscriber(a, "y", 3, 1.0)
        [fine] = [f for f in why(self.made) if f["kind"] == "fine"]
        self.assertIn("the busiest subscriber of the 1 of 2 that are measured was busy", fine["sentence"])

    def test_many_processes_without_an_agent(self):
        self.made = Made()
        a = self.made.publisher("A", 1, 50.0, source="process")
        for pid in range(2, 30):
            self.unmeasured(a, "x", pid)
        [note] = [f for f in why(self.made) if f["kind"] == "unprepared"]
        self.assertIn("processes 1 2 3 4 5 6 7 8 and others", note["sentence"])
        self.assertTrue(note["sentence"].endswith("Type: sudo ezprof-bpf attach --all"))

    def test_not_stuck_because_nobody_measures(self):
        """That it holds buffers long says nothing of one whose releases aren't counted, while the publisher goes on."""
        self.made = Made()
        a = self.made.publisher("A", 1, 30.0, 0.98, in_flight=32)
        slow = self.unmeasured(a, "slow", 2, in_flight=32, oldest_lease_ms=1100.0)
        self.assertEqual(why(self.made)[0]["kind"], "late_subscriber")
        a["blocked"]["now_ms"] = 1500.0
        slow["oldest_lease_ms"] = 2500.0
        self.assertEqual(why(self.made)[0]["kind"], "stuck_subscriber")

    def test_on_another_host(self):
        self.made = Made()
        a = self.made.publisher("A", 1, 180.0, 0.98, in_flight=32)
        self.unmeasured(a, "slow", 2, in_flight=32, host="far")
        [top, *rest] = why(self.made)
        self.assertIn("is not measured, on host far: sudo ezprof-bpf attach 2.", top["sentence"])
        [note] = [f for f in rest if f["kind"] == "unprepared"]
        self.assertTrue(note["sentence"].endswith("Type, on host far: sudo ezprof-bpf attach 2"), note)

    def test_idle_as_far_as_known(self):
        self.made = Made()
        self.made.publisher("A", 1, 0.0)
        [idle] = [f for f in why(self.made) if f["kind"] == "idle"]
        self.assertIn("and nobody is blocked", idle["sentence"])
        self.made.publisher("B", 2, 50.0, source="process")
        [idle] = [f for f in why(self.made) if f["kind"] == "idle"]
        self.assertIn("by the 1 of 2 publishers that are measured", idle["sentence"])
        self.assertNotIn("nobody is blocked", idle["sentence"])

    def alone(self):
        """One process is attached: its subscriber is busy all the time, whoever feeds it isn't there."""
        made = Made()
        made.subscriber(made.publisher("A", 1, 180.0), "s", 2, 5.4, 180.0, in_flight=32)
        made.document["publishers"].clear()
        return made

    def test_full_without_its_publisher(self):
        made = self.alone()
        [top, *rest] = why(made)
        self.assertEqual((top["kind"], top["subject"]["handle"]), ("slow_subscriber", "s"))
        self.assertIn("is at its limit: 5.40 ms per message", top["sentence"])
        self.assertIn("Whether its publisher waits for it is not measured", top["sentence"])
        self.assertNotIn("fine", kinds(rest))

    def test_full_beside_an_unmeasured_publisher(self):
        made = Made()
        a = made.publisher("A", 1, 180.0, source="process")
        a["blocked"] = dict.fromkeys(a["blocked"])
        made.subscriber(a, "s", 2, 5.4, in_flight=32)
        [top, *_] = why(made)
        self.assertIn("Whether its publisher waits for it is not measured", top["sentence"])

    def test_full_as_it_waits_downstream(self):
        """A callback that stands in a blocked publish is not at its limit."""
        made = self.alone()
        made.subscriber(made.publisher("B", 2, 180.0, 0.9, in_flight=32), "t", 3, 5.5, 180.0, in_flight=32)
        self.assertEqual([f["subject"]["handle"] for f in why(made) if f["kind"] == "slow_subscriber"], ["t"])


unittest.main()
