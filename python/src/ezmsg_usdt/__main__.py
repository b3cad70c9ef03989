# SPDX-License-Identifier: MIT
"""`python -m ezmsg_usdt profile [--window S] [--address H:P]`: profile() as a command."""

import argparse
import json
import sys

from . import profile_sync
from ._profile import ProfileError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ezmsg_usdt")
    parser.add_argument("command", choices=["profile"])
    parser.add_argument("--window", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--address", metavar="HOST:PORT")
    options = parser.parse_args()
    try:
        print(json.dumps(profile_sync(options.window, options.address), indent=2))
    except ValueError as error:
        parser.error(str(error))
    except ProfileError as error:
        print(f"ezmsg_usdt: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
