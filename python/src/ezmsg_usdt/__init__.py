# SPDX-License-Identifier: MIT
"""USDT probes for ezmsg graphs: unmodified programs, measured from outside.

    EZPROF_USDT=1 python my_graph.py        # or ezmsg_usdt.enable(), before the graph is made
    sudo ezprof-bpf attach <pid> --children
    ezprof profile
"""

from ._enable import EnableError, enable, status
from ._profile import ProfileError, profile, profile_sync

__version__ = "0.1.0"
__all__ = ["EnableError", "ProfileError", "enable", "status", "profile", "profile_sync", "__version__"]
