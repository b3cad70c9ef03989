# SPDX-License-Identifier: MIT
"""Turns the probes on, once per process, and says so when it can't."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

_state: dict[str, Any] = {"installed": False, "reason": None, "version": None, "mode": None}


class EnableError(RuntimeError):
    """The probes can't be turned on in this process; the text says why."""


def status() -> dict[str, Any]:
    """`installed`, and if not the `reason`; the `version` of ezmsg and the `mode` of the seams."""
    return dict(_state)


def _say_once(text: str) -> None:
    # Children of this process have been told, so to speak.
    if os.environ.get("EZPROF_USDT_TOLD") != text:
        os.environ["EZPROF_USDT_TOLD"] = text
        print(f"ezmsg_usdt: {text}", file=sys.stderr)


def _install() -> None:
    if _state["installed"]:
        return
    try:
        from . import _ext  # noqa: F401
    except ImportError as error:
        raise EnableError(f"no probes on this system ({error}); the program runs as before")
    from . import _seams

    _state["version"], _state["mode"] = _seams.install()
    _state["installed"] = True
    _state["reason"] = None


def install_quietly() -> None:
    """Behind the import of ezmsg: a failure is told once, and the program goes on."""
    try:
        _install()
    except Exception as error:
        _state["reason"] = str(error)
        _say_once(str(error))


def _existing_endpoints() -> int:
    """Publishers, subscribers and channels of this process that were made without probes."""
    names = {
        ("ezmsg.core.pubclient", "Publisher"),
        ("ezmsg.core.subclient", "Subscriber"),
        ("ezmsg.core.messagechannel", "Channel"),
    }
    classes = tuple(
        getattr(sys.modules[module], name) for module, name in names if module in sys.modules
    )
    return sum(isinstance(o, classes) for o in gc.get_objects()) if classes else 0


def enable() -> None:
    """Turn the probes on in this process and in those that it starts.

    Before the first publisher or subscriber of the process exists; ezmsg may have been imported
    already. A second call does nothing. Raises EnableError, and changes nothing, where it can't.
    """
    if _state["installed"]:
        return
    if sys.modules.get("ezmsg.core") is None:
        from . import _hook

        os.environ["EZPROF_USDT"] = "1"
        _hook.watch()
        return
    existing = _existing_endpoints()
    if existing:
        raise EnableError(
            f"enable() comes too late: {existing} publishers, subscribers or channels exist "
            "already in this process, and would not be measured. Call it before the graph is "
            "made, or start the program with EZPROF_USDT=1."
        )
    _install()
    os.environ["EZPROF_USDT"] = "1"
