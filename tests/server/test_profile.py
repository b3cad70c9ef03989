# SPDX-License-Identifier: MIT
"""PROFILE: fan-out to whoever said it can answer, one deadline, and nobody left out in silence."""
import json
import time

from graph_client import (COMPLETE, PROFILE, PROFILE_DATA, Server, eventually, read_profile,
                          run_tests, string, u64)


def asked(link):
    link.expect(PROFILE)
    return link.read_u64()


def answer(link, document):
    link.send(PROFILE_DATA, string(document if isinstance(document, (str, bytes)) else json.dumps(document)))


def publisher_object(link, **more):
    return {"type": "publisher", "id": link.id, "topic": "T", **more}


def channel_object(link, publisher, **more):
    return {"type": "channel", "channel_id": link.id, "pub_id": publisher.id, **more}


def ask(server, window_ms=2000):
    client = server.hello("client")
    client.send(PROFILE, u64(window_ms))
    return client


def test_empty():
    with Server() as server:
        document = server.profile(2500)
        assert list(document)[:3] == ["window_s", "publishers", "channels"]
        assert document["window_s"] == 2.5 and isinstance(document["window_s"], float)
        assert document["schema"] == "ezprof.profile/1" and document["tool"] == "ezprof-graphserver"
        assert document["errors"] == [] and document["agents"] == [] and document["lost"] is None
        assert server.profile(0)["window_s"] == 0.0
        with server.link() as link:
            link.send(PROFILE, u64(300))
            link.expect(PROFILE_DATA)
            assert link.read_str().startswith(b'{"window_s":0.3,"publishers":[],"channels":[],')
        assert server.profile((1 << 64) - 1)["publishers"] == []


def test_hello():
    with Server() as server, server.hello("probe") as probe:
        assert probe.server["program"] == "ezprof-graphserver"
        assert probe.server["capabilities"] == ["profile"]


def test_only_marked_links_are_asked():
    with Server() as server:
        plain, marked = server.publisher("T"), server.publisher("T", mark=True)
        plain_channel, marked_channel = server.channel(plain.id), server.channel(marked.id, mark=True)
        time.sleep(0.05)
        client = ask(server, 1234)
        assert asked(marked) == 1234 and asked(marked_channel) == 1234
        assert plain.is_silent() and plain_channel.is_silent(0)
        answer(marked_channel, channel_object(marked_channel, marked))
        assert client.is_silent()
        answer(marked, publisher_object(marked))
        document = read_profile(client)
        assert [p["id"] for p in document["publishers"]] == [marked.id]
        assert [(c["channel_id"], c["topic"]) for c in document["channels"]] == [(marked_channel.id, "T")]
        assert document["errors"] == []


def test_silent_client_is_named():
    with Server("--profile-deadline-ms", "300") as server:
        loud, silent = server.publisher("T", mark=True), server.publisher("S", mark=True)
        time.sleep(0.05)
        start = time.monotonic()
        client = ask(server)
        asked(loud)
        asked(silent)
        answer(loud, publisher_object(loud))
        document = read_profile(client)
        assert 0.25 < time.monotonic() - start < 5
        assert [p["id"] for p in document["publishers"]] == [loud.id]
        (error,) = document["errors"]
        assert error["who"] == "publisher" and error["id"] == silent.id and error["topic"] == "S"
        assert error["pid"] == 4242 and error["reason"] == "timeout" and error["detail"]
        # Its late answer belongs to the old question, the next one to the new.
        client.send(PROFILE, u64(1000))
        asked(loud)
        asked(silent)
        answer(silent, publisher_object(silent, late=True))
        answer(loud, publisher_object(loud))
        answer(silent, publisher_object(silent, late=False))
        document = read_profile(client)
        assert [p.get("late") for p in document["publishers"]] == [None, False]
        assert document["errors"] == []


def test_client_that_dies_while_asked():
    with Server() as server:
        dying, other = server.publisher("T", mark=True), server.publisher("T", mark=True)
        time.sleep(0.05)
        client = ask(server)
        asked(dying)
        asked(other)
        dying.close()
        answer(other, publisher_object(other))
        document = read_profile(client)
        assert [(e["id"], e["reason"]) for e in document["errors"]] == [(dying.id, "died")]
        assert len(document["publishers"]) == 1


def test_two_callers():
    """Independent of each other, whatever the windows, and matched in order."""
    with Server() as server:
        publisher = server.publisher("T", mark=True)
        time.sleep(0.05)
        first, second = ask(server, 1000), ask(server, 3000)
        windows = [asked(publisher), asked(publisher)]
        assert sorted(windows) == [1000, 3000]
        for window in windows:
            answer(publisher, publisher_object(publisher, mine=window))
        for client, window in ((first, 1000), (second, 3000)):
            document = read_profile(client)
            assert document["window_s"] == window / 1000
            assert [p["mine"] for p in document["publishers"]] == [window]


def test_caller_that_leaves():
    with Server() as server:
        publisher = server.publisher("T", mark=True)
        time.sleep(0.05)
        ask(server, 1).close()
        assert asked(publisher) == 1
        client = ask(server, 2)
        assert asked(publisher) == 2
        answer(publisher, publisher_object(publisher, mine=1))
        answer(publisher, publisher_object(publisher, mine=2))
        assert read_profile(client)["publishers"][0]["mine"] == 2


def test_several_requests_on_one_link():
    with Server() as server, server.hello("client") as client:
        client.send(PROFILE, u64(1000), PROFILE, u64(2000), PROFILE, u64(3000))
        assert [read_profile(client)["window_s"] for _ in range(3)] == [1.0, 2.0, 3.0]


def test_agents():
    with Server() as server:
        publisher = server.publisher("T", mark=True)
        agents = [server.hello("agent", pid=77, host="here") for _ in range(2)]
        time.sleep(0.05)
        client = ask(server)
        asked(publisher)
        for agent in agents:
            asked(agent)
        answer(publisher, publisher_object(publisher, source="process"))
        for agent, covered in zip(agents, (1.0, 1.9)):
            window = {"covered_s": covered}
            answer(agent, {"type": "agent", "agent": {"pid": 77, "lost": 3}, "errors": [],
                           "endpoints": [publisher_object(publisher, source="bpf", window=window)]})
        document = read_profile(client)
        assert [(p["source"], p["window"]["covered_s"]) for p in document["publishers"]] == [("bpf", 1.9)]
        assert document["lost"] == 6 and len(document["agents"]) == 2
        for agent in agents:
            agent.close()
        eventually(lambda: no_agent_is_asked(server, publisher))


def no_agent_is_asked(server, publisher):
    client = ask(server)
    asked(publisher)
    answer(publisher, publisher_object(publisher))
    return read_profile(client)["errors"] == []


def test_silent_agent():
    with Server("--profile-deadline-ms", "200") as server, server.hello("agent", pid=77, host="box") as agent:
        client = ask(server)
        asked(agent)
        (error,) = read_profile(client)["errors"]
        assert (error["who"], error["pid"], error["host"], error["reason"]) == ("agent", 77, "box", "timeout")


def test_bad_answers():
    with Server() as server:
        publisher = server.publisher("T", mark=True)
        time.sleep(0.05)
        for text, reason in ((b"{", "bad_json"), (b"{}", "bad_answer"), (b"\xff", "bad_json"),
                             (json.dumps({"type": "publisher", "id": "x"}), "bad_answer")):
            client = ask(server)
            asked(publisher)
            answer(publisher, text)
            document = read_profile(client)
            assert [e["reason"] for e in document["errors"]] == [reason]
            assert document["publishers"] == []


def test_unasked_answers():
    """They count for nothing, before the mark and after it."""
    with Server() as server:
        publisher = server.publisher("T")
        answer(publisher, publisher_object(publisher, unasked=True))
        time.sleep(0.05)
        assert server.profile()["publishers"] == []
        answer(publisher, {"type": "hello", "program": "test"})
        answer(publisher, publisher_object(publisher, unasked=True))
        time.sleep(0.05)
        client = ask(server)
        asked(publisher)
        answer(publisher, publisher_object(publisher, unasked=False))
        assert read_profile(client)["publishers"][0]["unasked"] is False


def test_profile_while_a_sync_waits():
    """COMPLETE and PROFILE_DATA on one link don't answer each other's questions."""
    with Server("--profile-deadline-ms", "5000") as server:
        publisher = server.publisher("T", mark=True)
        time.sleep(0.05)
        sync = server.link()
        sync.send(7)
        publisher.expect(7)
        client = ask(server)
        asked(publisher)
        answer(publisher, publisher_object(publisher))
        assert len(read_profile(client)["publishers"]) == 1
        assert sync.is_silent()
        publisher.send(COMPLETE)
        sync.expect(COMPLETE)


def test_without_hello():
    """Byte 15 and its 8 bytes, together or a moment apart; half-closed or not."""
    with Server() as server:
        for pause in (0, 0.03):
            with server.link() as link:
                link.send(PROFILE)
                time.sleep(pause)
                link.send(u64(2000)[:3])
                time.sleep(pause)
                link.send(u64(2000)[3:])
                assert read_profile(link)["window_s"] == 2.0
                link.expect_closed()
        publisher = server.publisher("T", mark=True)
        time.sleep(0.05)
        with server.link() as link:
            link.send(PROFILE, u64(500))
            link.socket.shutdown(1)
            asked(publisher)
            time.sleep(0.05)
            answer(publisher, publisher_object(publisher))
            assert len(read_profile(link)["publishers"]) == 1


def test_many_targets():
    """A thousand links that can answer: all asked at once, the document within a second or so."""
    count = 1000
    with Server() as server:
        links = [server.publisher(f"T{i}", mark=True) for i in range(count)]
        time.sleep(0.2)
        client = ask(server)
        start = time.monotonic()
        for link in links:
            asked(link)
            answer(link, publisher_object(link, filler="x" * 500))
        document = read_profile(client)
        print(f"document of {count}: {1000 * (time.monotonic() - start):.0f} ms, test's own work included")
        assert len(document["publishers"]) + len(document["errors"]) == count
        assert all(e["reason"] == "timeout" for e in document["errors"])


run_tests(globals())
