# SPDX-License-Identifier: MIT
"""What the seams must look like: digests of the functions that are replaced or relied on.

The table is _digests.json, made by tools/digests.py from the releases themselves.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from types import ModuleType
from typing import Any

SEAMS = {
    "backpressure": (
        "BufferLease.__init__", "BufferLease.add", "BufferLease.remove", "BufferLease.wait",
        "BufferLease.is_empty", "Backpressure.__init__", "Backpressure.is_empty",
        "Backpressure.available", "Backpressure.wait", "Backpressure.lease", "Backpressure._free",
        "Backpressure.free", "Backpressure.sync",
    ),
    "messagechannel": (
        "Channel.__init__", "Channel._notify_clients", "Channel.put_local", "Channel.get",
        "Channel.release_without_get", "Channel._release_backpressure", "Channel.register_client",
        "Channel.unregister_client", "Channel.close",
    ),
    "messagemarshal": ("Marshal.serialize", "Marshal.load", "Marshal.dump"),
    "pubclient": (
        "Publisher.__init__", "Publisher.close", "Publisher.broadcast", "Publisher._handle_channel",
    ),
    "subclient": ("Subscriber.__init__", "Subscriber.recv", "Subscriber.recv_zero_copy"),
    "backendprocess": ("DefaultBackendProcess.task_wrapper", "handle_subscriber"),
}

_table: dict[str, Any] = json.loads(Path(__file__).with_name("_digests.json").read_text())
VERSIONS: list[str] = _table["versions"]
_known: dict[str, dict[str, list[str]]] = _table["digests"]  # seam -> digest -> releases


def _function(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, property):
        found = found.fget
    return inspect.unwrap(getattr(found, "__func__", found))


def digest(module: ModuleType, name: str) -> str:
    """Of a function's source, its signature included. Raises where it isn't there."""
    source = inspect.getsource(_function(module, name))
    return hashlib.sha256(source.encode()).hexdigest()[:32]


def differences(modules: dict[str, ModuleType]) -> list[str]:
    """Names of the seams that are not as in the known release that comes nearest."""
    releases: dict[str, list[str]] = {}
    for module, names in SEAMS.items():
        for name in names:
            try:
                found = digest(modules[module], name)
            except (AttributeError, OSError, TypeError, ValueError):
                found = ""
            releases[f"{module}.{name}"] = _known[f"{module}.{name}"].get(found, [])
    odd = ([seam for seam, fits in releases.items() if version not in fits] for version in VERSIONS)
    return min(odd, key=len)
