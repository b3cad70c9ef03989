# SPDX-License-Identifier: MIT
"""One PROFILE of a graph with 1,000 publishers that answer at once, and CONNECT beside it.

The thousand answers come from this one process, whose work is in the figure too; what CPU time each side took is
printed beside it.
"""
import json
import select
import statistics
import time

from graph_client import PROFILE, PROFILE_DATA, Server, read_profile, string, u64

PUBLISHERS = 1000
ROUNDS = 21
PROFILE_BAR_MS = 50
CONNECT_BAR_MS = 5


def answer_of(link):
    times = {"avg_ms": 0.0, "max_ms": 0.0, "samples": 0}
    return bytes([PROFILE_DATA]) + string(json.dumps({
        "type": "publisher", "id": link.id, "topic": "T", "pid": 1, "num_buffers": 32, "window_s": 2.0,
        "message_rate_hz": 0.0, "byte_rate_per_s": 0.0, "messages": {"total": 1, "window": 0},
        "bytes": {"total": 1, "window": 0}, "backpressure": {**times, "in_flight": 0}, "source": "process",
        "links": [{"channel_id": link.id, "transport": "shm", **times}] * 4}))


def profile_ms(client, poll, answers):
    start = time.monotonic()
    client.send(PROFILE, u64(2000))
    left = len(answers)
    while left:
        for fd, _ in poll.poll():
            link, answer = answers[fd]
            link.read(9)
            link.socket.sendall(answer)
            left -= 1
    document = read_profile(client)
    took = 1000 * (time.monotonic() - start)
    assert len(document["publishers"]) == PUBLISHERS and not document["errors"]
    return took


def connect_ms(server, i):
    start = time.monotonic()
    server.connect("A", f"B{i % 100}", 3 + i // 100 % 2)
    return 1000 * (time.monotonic() - start)


def row(name, value, bar):
    print(json.dumps({"name": name, "value": round(value, 3), "unit": "ms", "bar": f"<= {bar}",
                      "holds": value <= bar}))


def server_cpu_ms(server):
    with open(f"/proc/{server.process.pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e6


def main():
    # On a busy machine the thousand may need more than the usual second.
    with Server("--profile-deadline-ms", "20000") as server:
        links = [server.publisher(f"T{i}", mark=True) for i in range(PUBLISHERS)]
        poll = select.poll()
        for link in links:
            poll.register(link.socket, select.POLLIN)
        answers = {link.socket.fileno(): (link, answer_of(link)) for link in links}
        time.sleep(0.5)
        client = server.hello("client")
        profile_ms(client, poll, answers)
        ours, others = server_cpu_ms(server), 1000 * time.process_time()
        took = [profile_ms(client, poll, answers) for _ in range(ROUNDS)]
        print(f"profile: {min(took):.1f} to {max(took):.1f} ms; CPU time of the server "
              f"{(server_cpu_ms(server) - ours) / ROUNDS:.1f} ms, of those that ask and answer "
              f"{(1000 * time.process_time() - others) / ROUNDS:.1f} ms (with reading the document)")
        row("server.profile_1000_ms", statistics.median(took), PROFILE_BAR_MS)
        row("server.connect_ms", statistics.median(connect_ms(server, i) for i in range(1000)), CONNECT_BAR_MS)


main()
