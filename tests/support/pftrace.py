# SPDX-License-Identifier: MIT
"""Decodes a .pftrace with Perfetto's official message definitions; prints what it says as JSON.

usage: pftrace.py FILE, by an interpreter that has the package perfetto
"""

import json
import sys
from collections import defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

MONOTONIC = 3


def no_unknown_fields(message):
    """Every field is one of the definitions, with its wire type."""
    assert not len(UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else [value]:
                no_unknown_fields(one)


class Reader:
    def __init__(self):
        self.names, self.annotations, self.defaults = {}, {}, None
        self.tracks, self.open = {}, defaultdict(list)
        self.slices, self.counters, self.instants = [], defaultdict(list), []
        self.clocks = None

    def packet(self, packet):
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("clock_snapshot"):
            snapshot = packet.clock_snapshot
            assert snapshot.primary_trace_clock == MONOTONIC
            self.clocks = {c.clock_id: c.timestamp for c in snapshot.clocks}
        if packet.sequence_flags & 1:
            self.defaults = packet.trace_packet_defaults.timestamp_clock_id
            self.names = {n.iid: n.name for n in packet.interned_data.event_names}
            self.annotations = {n.iid: n.name
                                for n in packet.interned_data.debug_annotation_names}
        if packet.HasField("track_descriptor"):
            self.descriptor(packet.track_descriptor)
        if packet.HasField("track_event"):
            assert self.defaults == MONOTONIC and packet.sequence_flags & 2
            self.event(packet.timestamp, packet.track_event)

    def descriptor(self, track):
        assert track.uuid not in self.tracks, track
        assert not track.parent_uuid or track.parent_uuid in self.tracks, track
        self.tracks[track.uuid] = {"name": track.name, "parent": track.parent_uuid,
                                   "pid": track.process.pid, "process": track.process.process_name,
                                   "counter": track.HasField("counter"),
                                   "unit": track.counter.unit_name}

    def event(self, at, event):
        assert event.track_uuid in self.tracks, event
        name = self.names[event.name_iid] if event.name_iid else event.name
        notes = {self.annotations[a.name_iid]: a.string_value or a.uint_value
                 for a in event.debug_annotations}
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack = self.open[event.track_uuid]
            assert not stack or stack[-1]["begin"] <= at, event
            stack.append({"track": event.track_uuid, "name": name, "begin": at, "notes": notes,
                          "flows": list(event.flow_ids), "ends": list(event.terminating_flow_ids)})
        elif event.type == TrackEvent.TYPE_SLICE_END:
            done = self.open[event.track_uuid].pop()
            assert done["begin"] <= at, (done, at)
            self.slices.append({**done, "end": at})
        elif event.type == TrackEvent.TYPE_COUNTER:
            assert self.tracks[event.track_uuid]["counter"], event
            value = event.counter_value if event.HasField("counter_value") \
                else event.double_counter_value
            self.counters[event.track_uuid].append((at, value))
        else:
            assert event.type == TrackEvent.TYPE_INSTANT, event
            self.instants.append({"track": event.track_uuid, "name": name, "at": at,
                                  "notes": notes})


def main():
    trace, reader = Trace(), Reader()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    no_unknown_fields(trace)
    for packet in trace.packet:
        reader.packet(packet)
    assert not any(reader.open.values()), "a slice has no end"
    json.dump({"tracks": reader.tracks, "slices": reader.slices, "counters": reader.counters,
               "instants": reader.instants, "clocks": reader.clocks}, sys.stdout)


main()
