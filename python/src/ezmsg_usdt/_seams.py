# SPDX-License-Identifier: MIT
"""Puts the C types into ezmsg's classes, where each of them is exactly what is known.

A message passes through C only; what is Python here runs once per endpoint.
"""

from __future__ import annotations

import functools
import os
import weakref
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

from . import _digests, _ext, _profile

TRANSPORT_LOCAL, TRANSPORT_SHM, TRANSPORT_TCP = 1, 2, 3


class SeamError(RuntimeError):
    """This ezmsg isn't one that is known."""


# Subscriber id -> its state, while the subscriber lives.
_states: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()
# Topic -> the coroutines of this process's units that read from it, or publish to it.
_readers: dict[str, list[str]] = {}
_writers: dict[str, list[str]] = {}


def text(value: object) -> str:
    """As a C string can hold it: valid UTF-8 without a NUL."""
    return str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _ezmsg_version() -> str:
    try:
        return version("ezmsg")
    except PackageNotFoundError:
        return "unknown"


def _modules() -> dict[str, ModuleType]:
    from ezmsg.core import (
        backendprocess,
        backpressure,
        channelmanager,
        messagechannel,
        messagemarshal,
        pubclient,
        subclient,
    )

    modules = (backendprocess, backpressure, channelmanager, messagechannel, messagemarshal,
               pubclient, subclient)
    return {module.__name__.rpartition(".")[2]: module for module in modules}


def install() -> tuple[str, str]:
    """Returns ezmsg's version and the mode, "replace" or "wrap"."""
    modules = _modules()
    found = _ezmsg_version()
    odd = _digests.differences(modules)
    if odd:
        raise SeamError(
            f"ezmsg {found} is not one of {', '.join(_digests.VERSIONS)} "
            f"({odd[0]} differs); no probes, the program runs as before"
        )
    mode = "wrap" if os.environ.get("EZPROF_SEAMS") == "wrap" else "replace"
    _install_backpressure(modules, mode)
    _install_channel(modules["messagechannel"].Channel, mode, modules["messagechannel"])
    _ext.marshal_install(modules["messagemarshal"].MessageMarshal, mode == "replace")
    _install_publisher(modules["pubclient"].Publisher)
    _install_subscriber(modules["subclient"].Subscriber)
    _install_tasks(modules["backendprocess"].DefaultBackendProcess)
    from ezmsg.core.graphserver import GraphService

    _profile.add_to_graph_service(GraphService)
    return found, mode


def _install_backpressure(modules: dict[str, ModuleType], mode: str) -> None:
    original = modules["backpressure"].Backpressure
    if mode == "wrap":
        _ext.backpressure_install(original)
        return
    for module in modules.values():
        if getattr(module, "Backpressure", None) is original:
            setattr(module, "Backpressure", _ext.Backpressure)
        if hasattr(module, "BufferLease"):
            setattr(module, "BufferLease", _ext.BufferLease)


def _ledger(backpressure: Any) -> Any:
    """The C Backpressure: the object itself, or what stands beside an observed original."""
    if isinstance(backpressure, _ext.Backpressure):
        return backpressure
    return getattr(backpressure, "_ezprof", None)


def _note_graph(address: Any) -> None:
    from ezmsg.core.channelmanager import _ensure_address

    host, port = _ensure_address(address)[:2]
    _ext.set_graph_address(f"{host}:{port}")


def _install_channel(channel: Any, mode: str, module: ModuleType) -> None:
    kinds = getattr(module, "ProfileChannelType", None)
    _ext.channel_install(channel, mode == "replace", kinds.LOCAL if kinds else None)
    register, unregister, close = channel.register_client, channel.unregister_client, channel.close

    @functools.wraps(register)
    def register_client(self: Any, client_id: Any, queue: Any = None,
                        local_backpressure: Any = None) -> Any:
        result = register(self, client_id, queue, local_backpressure)
        ledger = _ledger(self.backpressure)
        if ledger is not None:
            ledger.open_channel(self.id, self.pub_id, text(getattr(self, "topic", "")))
            if ledger is not self.backpressure:
                local = self._local_backpressure
                ledger.observe(self.id, None if local is None else _ledger(local))
                self._ezprof = ledger
            state = _states.get(client_id)
            if queue is not None and state is not None:
                ledger.open_client(client_id, state)
        return result

    @functools.wraps(unregister)
    def unregister_client(self: Any, client_id: Any) -> Any:
        local = self._local_backpressure if client_id == self.pub_id else None
        result = unregister(self, client_id)
        ledger = _ledger(self.backpressure)
        if ledger is not None:
            if ledger is not self.backpressure:
                ledger.free(client_id)
                if local is not None:
                    _ledger(local).free(self.id)
                    ledger.observe(self.id, None)
            ledger.close_key(client_id)
        return result

    @functools.wraps(close)
    def close_channel(self: Any) -> Any:
        ledger = _ledger(self.backpressure)
        if ledger is not None:
            ledger.close_endpoints()
        return close(self)

    channel.register_client = register_client
    channel.unregister_client = unregister_client
    channel.close = close_channel


def _transport(publisher: Any, info: Any) -> int:
    if hasattr(publisher, "_can_deliver_locally"):
        local = publisher._can_deliver_locally(info)
    else:
        local = info.pid == publisher.pid and info.shm_ok
    if local:
        return TRANSPORT_LOCAL
    return TRANSPORT_SHM if info.shm_ok and not publisher._force_tcp else TRANSPORT_TCP


def _install_publisher(publisher: Any) -> None:
    init, close, handle_channel = publisher.__init__, publisher.close, publisher._handle_channel
    _ext.publisher_install(publisher)

    @functools.wraps(init)
    def init_publisher(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        ledger = _ledger(self._backpressure)
        if ledger is not None:
            self._ezprof = ledger
            _note_graph(self._graph_address)
            tasks = ", ".join(_writers.get(self.topic, ()))
            ledger.open_publisher(self.id, text(self.topic), "", text(tasks))

    @functools.wraps(close)
    def close_publisher(self: Any) -> Any:
        result = close(self)
        ledger = _ledger(self._backpressure)
        if ledger is not None:
            ledger.close_owner()
        return result

    # Returns the original's coroutine: what happens per acknowledgement costs nothing more.
    @functools.wraps(handle_channel)
    def handle_channel_timed(self: Any, info: Any, reader: Any) -> Any:
        ledger = _ledger(self._backpressure)
        if ledger is not None:
            transport = _transport(self, info)
            ledger.open_link(info.id, info.pid, transport)
            if transport != TRANSPORT_LOCAL:
                _ext.backpressure_observe(self._backpressure)
            info.writer = ledger.timed_writer(info.writer)
        return handle_channel(self, info, reader)

    publisher.__init__ = init_publisher
    publisher.close = close_publisher
    publisher._handle_channel = handle_channel_timed


def _install_subscriber(subscriber: Any) -> None:
    init = subscriber.__init__
    _ext.subscriber_install(subscriber)

    @functools.wraps(init)
    def init_subscriber(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        topic = text(self.topic)
        handle = kwargs.get("handle")
        tasks = ", ".join(_readers.get(self.topic, ()))
        self._ezprof = _ext.SubscriberState(
            topic, topic if handle is None else text(handle), text(tasks)
        )
        _states[self.id] = self._ezprof
        _note_graph(self._graph_address)

    subscriber.__init__ = init_subscriber


def _note_task(names: dict[str, list[str]], unit: Any, stream: Any, address: str) -> None:
    topic = unit.streams[stream.name].address
    tasks = names.setdefault(topic, [])
    if address not in tasks:
        tasks.append(address)


def _install_tasks(process: Any) -> None:
    from ezmsg.core.unit import PUBLISHES_ATTR, SUBSCRIBES_ATTR

    wrap = process.task_wrapper

    @functools.wraps(wrap)
    def task_wrapper(self: Any, unit: Any, task: Any) -> Any:
        wrapped = wrap(self, unit, task)
        address = f"{unit.address}:{task.__name__}"
        try:
            if hasattr(task, SUBSCRIBES_ATTR):
                _note_task(_readers, unit, getattr(task, SUBSCRIBES_ATTR), address)
            for stream in getattr(task, PUBLISHES_ATTR, ()):
                _note_task(_writers, unit, stream, address)
            state = _ext.TaskState(wrapped, text(address))
        except (AttributeError, KeyError, TypeError):
            return wrapped
        return functools.update_wrapper(state, wrapped)

    process.task_wrapper = task_wrapper
