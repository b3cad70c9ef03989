# SPDX-License-Identifier: MIT
"""Where the build has a sanitizer, a program that loads the library later must begin with the sanitizer's runtime.

cmake/EzprofTest.cmake sets EZPROF_TEST_PRELOAD then. What such a program leaks itself is not our affair.
"""
import os

SANITIZER = os.environ.get("EZPROF_TEST_PRELOAD", "")


def preloaded(env=None):
    """The environment, the present one by default, for a program that isn't of this build."""
    env = dict(os.environ if env is None else env)
    if SANITIZER:
        env["LD_PRELOAD"] = SANITIZER
        env["ASAN_OPTIONS"] = ":".join(filter(None, (env.get("ASAN_OPTIONS"), "detect_leaks=0")))
        env["TSAN_OPTIONS"] = ":".join(filter(None, (env.get("TSAN_OPTIONS"), "ignore_noninstrumented_modules=1")))
    return env
