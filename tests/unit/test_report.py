# SPDX-License-Identifier: MIT
"""The report of a made-up profile (report_fixture.c): schema, keys, figures, grouping."""
import os
import subprocess
import unittest

import profile_schema

FIXTURE = os.path.join(os.environ["EZPROF_TEST_BIN_DIR"], "report_fixture")
DATA = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "p01_profiles.json")


def made(kind):
    text = subprocess.run([FIXTURE, kind], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert text.count("\n") == 1, "one line"
    return profile_schema.load(text)


def uuid(number):
    return f"00000000-0000-0000-0000-{number:012x}"


class Report(unittest.TestCase):
    def test_one_schema_for_both(self):
        self.assertEqual(list(profile_schema.check(made("document"), ours=True)), [])
        self.assertEqual(list(profile_schema.check(made("document"), ours=False)), [])
        with open(DATA, encoding="utf-8") as file:
            recorded = list(profile_schema.documents_of(profile_schema.load(file.read()), "p01"))
        self.assertGreater(len(recorded), 5)
        for name, document in recorded:
            self.assertEqual(list(profile_schema.check(document, ours=False)), [], name)

    def test_publisher(self):
        [pub] = made("document")["publishers"]
        self.assertEqual(pub["topic"], "A/\"OUT\"\n\ufffd")
        self.assertEqual(pub["messages"], {"total": 10007, "window": 2001})
        self.assertEqual(pub["message_rate_hz"], 1000.5)
        self.assertEqual(pub["byte_rate_per_s"], 3001.5)
        self.assertEqual(pub["backpressure"],
                         {"avg_ms": 2.0, "max_ms": 5.0, "samples": 8, "in_flight": 4})
        self.assertEqual(pub["measured"], {"messages": 5000, "bytes": 15000})
        self.assertEqual((pub["lost"], pub["lost_exact"]), (7, True))
        self.assertEqual(pub["blocked"]["share"], 0.25)
        self.assertEqual(pub["blocked"]["now_ms"], 3.0)
        self.assertEqual(pub["blocked"]["total_ms"], 8.0)
        self.assertEqual(pub["oldest_lease_ms"], 2.0)
        self.assertEqual(pub["disconnects"], 2)
        self.assertEqual([link["channel_id"] for link in pub["links"]], [uuid(5), uuid(6)])
        self.assertEqual(pub["links"][0]["oldest_lease_ms"], 1.0)
        self.assertEqual(pub["links"][0]["pid"], 99)
        self.assertIsNone(pub["handle"])

    def test_channel(self):
        [channel] = made("document")["channels"]
        self.assertEqual(channel["in_flight"], 4)
        self.assertEqual([s["subscriber_id"] for s in channel["subscribers"]],
                         [uuid(20), uuid(21)])
        self.assertEqual(channel["subscribers"][1]["lost"], None)
        self.assertEqual(channel["subscribers"][0]["avg_ms"], 0.0)
        self.assertEqual(channel["subscribers"][0]["handle"], "handle")
        self.assertTrue(channel["subscribers"][0]["warming_up"])

    def test_document(self):
        document = made("document")
        self.assertIsNone(document["lost"], "one subscriber's is not known")
        self.assertEqual(document["errors"][0]["reason"], "hostile")
        agent = document["agents"][0]
        self.assertEqual(agent["losses"]["no_slot"], 7)
        self.assertIsNone(agent["cost"]["hits_per_s"])
        self.assertEqual(agent["attached"][0]["state"], "exited")
        self.assertEqual(agent["attached"][0]["comm"], "d\ufffdxc3")

    def test_window_too_long(self):
        document = made("long")
        [pub], [channel] = document["publishers"], document["channels"]
        self.assertEqual((document["window_s"], channel["window_s"]), (30.0, 30.0))
        self.assertEqual((pub["window_s"], pub["window"]["requested_s"]), (16.0, 30.0))

    def test_one_id_twice(self):
        """Of a hostile process: the links aren't repeated with each that claims them."""
        answer = made("twins")
        self.assertEqual([len(p["links"]) for p in answer["publishers"]], [2, 0])
        self.assertEqual([p["backpressure"]["in_flight"] for p in answer["publishers"]], [4, 0])

    def test_agent_answer(self):
        answer = made("agent")
        self.assertEqual(answer["type"], "agent")
        self.assertEqual([e["type"] for e in answer["endpoints"]], ["publisher", "channel"])
        document = made("document")
        self.assertEqual(answer["endpoints"], document["publishers"] + document["channels"])
        self.assertEqual(answer["agent"], document["agents"][0])


unittest.main()
