# SPDX-License-Identifier: MIT
"""The document, from within Python: what `ezprof profile` says."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

# Complete; the graph has no endpoint; something was lost or somebody is silent.
STATUS_WITH_DOCUMENT = (0, 4, 5)
WINDOW_MIN_S, WINDOW_MAX_S = 0.15, 16.0


class ProfileError(RuntimeError):
    """There is no document; the text says why."""


def program(name: str) -> str | None:
    """Full path of a program that came with this package, or that is on PATH."""
    beside = (Path(sys.executable).parent, Path(sys.prefix) / "bin")
    for folder in beside:
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    return shutil.which(name)


def _command(window_s: float, address: str | None) -> list[str]:
    if not WINDOW_MIN_S <= window_s <= WINDOW_MAX_S:
        raise ValueError(f"window_s must be {WINDOW_MIN_S} to {WINDOW_MAX_S}, not {window_s}")
    ezprof = program("ezprof")
    if ezprof is None:
        raise ProfileError("the program ezprof is neither beside this interpreter nor on PATH")
    return [ezprof, "profile", "--window", str(window_s), *(["--address", address] if address else [])]


def _document(status: int, out: bytes, err: bytes) -> dict[str, Any]:
    told = err.decode(errors="replace").strip()
    if status not in STATUS_WITH_DOCUMENT or not out.strip():
        raise ProfileError(told or f"ezprof ended with {status}")
    if told:
        print(told, file=sys.stderr)
    return json.loads(out)


def _address_text(address: Any) -> str | None:
    return None if address is None else ":".join(str(part) for part in tuple(address)[:2]) \
        if not isinstance(address, str) else address


async def profile(window_s: float = 2.0, address: Any = None) -> dict[str, Any]:
    """The PROFILE document of the last `window_s` seconds (0.15 to 16).

    `address` is the graph server's, "host:port" or a pair; by default the one that ezprof finds.
    Where no agent is attached, the document is made from what ezmsg 3.9.0 and later tell by
    themselves (`"source": "ezmsg"`). Raises ProfileError where there is neither.
    """
    process = await asyncio.create_subprocess_exec(
        *_command(window_s, _address_text(address)),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return _document(process.returncode or 0, out, err)


def profile_sync(window_s: float = 2.0, address: Any = None) -> dict[str, Any]:
    """profile(), for programs without an event loop."""
    return asyncio.run(profile(window_s, address))


def add_to_graph_service(graph_service: Any) -> None:
    """GraphService().profile(2.0), where ezmsg has none itself."""
    if hasattr(graph_service, "profile"):
        return

    async def profile_graph(self: Any, window: float = 2.0) -> dict[str, Any]:
        """The PROFILE document of this graph; see ezmsg_usdt.profile()."""
        return await profile(window, getattr(self, "_address", None))

    profile_graph.__name__ = profile_graph.__qualname__ = "profile"
    graph_service.profile = profile_graph
