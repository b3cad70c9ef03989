# SPDX-License-Identifier: MIT
"""The rules of docs/prometheus/*.yml, without a library for YAML: as they are written there."""
import re


def rules(text):
    """[(name, expression, everything else of it)]"""
    found = []
    for block in re.split(r"^ +- alert: ", text, flags=re.MULTILINE)[1:]:
        name, rest = block.split("\n", 1)
        expression = re.match(r"\s+expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)", rest)
        assert expression, block
        found.append((name, " ".join((expression.group(1) or expression.group(2)).split()),
                      rest[expression.end():]))
    return found
