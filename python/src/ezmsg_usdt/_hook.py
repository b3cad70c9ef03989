# SPDX-License-Identifier: MIT
"""Waits for the import of ezmsg.core, and installs the probes right behind it."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Sequence

PACKAGE = "ezmsg.core"


class _ThenInstall(Loader):
    """The package's own loader, but for one thing to do once the package is there."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        from . import _enable

        _enable.install_quietly()


class _Finder(MetaPathFinder):
    def __init__(self) -> None:
        self._busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != PACKAGE or self._busy:
            return None
        self._busy = True
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                spec = find(fullname, path, target) if find and finder is not self else None
                if spec is not None:
                    break
            else:
                return None
        finally:
            self._busy = False
        if spec.loader is not None:
            spec.loader = _ThenInstall(spec.loader)
        return spec


def watch() -> None:
    """Idempotent."""
    if not any(type(finder).__name__ == "_Finder" and type(finder).__module__ == __name__
               for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
