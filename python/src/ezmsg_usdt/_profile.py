# SPDX-License-Identifier: MIT
"""The document, from within Python."""

from __future__ import annotations

from typing import Any


async def profile(window_s: float = 2.0, address: str | None = None) -> dict[str, Any]:
    raise NotImplementedError


def profile_sync(window_s: float = 2.0, address: str | None = None) -> dict[str, Any]:
    raise NotImplementedError
