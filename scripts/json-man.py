#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json-man.py [--check]: makes docs/man/ezprof-json.5 from docs/profile-json.md.

Knows as much Markdown as that text uses: headings, paragraphs, tables, `code` and fences. With --check
it writes nothing and exits with 1 when the page is not what it would write.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "docs/profile-json.md")
PAGE = os.path.join(ROOT, "docs/man/ezprof-json.5")

HEAD = r'''.\" SPDX-License-Identifier: MIT
.\" Made from docs/profile-json.md by scripts/json-man.py: change it there.
.TH EZPROF-JSON 5 "" "ezprof" "ezprof manual"
.SH NAME
ezprof\-json \- the document that ezprof profile prints
.SH DESCRIPTION
'''
TAIL = r'''.SH SEE ALSO
.BR ezprof (1),
.BR ezprof\-probes (7),
.BR ezprof\-bpf (8),
.BR jq (1)
'''


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def inline(text):
    """`code` in bold, the rest as it is."""
    parts = text.split("`")
    return "".join(rf"\fB{escape(part)}\fR" if number % 2 else escape(part) for number, part in enumerate(parts))


def cells(line):
    """The cells of a table row: split at bars that aren't escaped or within code."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table_row(line):
    row = cells(line)
    kind = row[1] if len(row) > 2 else ""
    yield ".TP"
    yield inline(row[0]) + (f" ({inline(kind)})" if kind else "")
    yield inline(row[-1]) or r"\&"


def render(lines):
    """Yields the page's lines."""
    in_fence = in_table = in_text = False
    for line in lines:
        if line.startswith("```"):
            in_fence = not in_fence
            yield ".EX" if in_fence else ".EE"
        elif in_fence:
            yield escape(line)
        elif line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            title = line.lstrip("#").strip()
            in_table = in_text = False
            if level > 1:
                yield f".SH {escape(title).upper()}" if level == 2 else f".SS {escape(title)}"
        elif line.startswith("|"):
            if in_table and not re.fullmatch(r"[|\s:-]+", line):
                yield from table_row(line)
            in_table = True  # the first row is the heading
        elif not line.strip():
            in_table = in_text = False
        else:
            if not in_text:
                yield ".PP"
            in_text = True
            yield inline(line.strip())


def main():
    with open(SOURCE, encoding="utf-8") as file:
        body = "\n".join(render(join_code(file.read()).splitlines()))
    page = HEAD + body + "\n" + TAIL
    if sys.argv[1:] == ["--check"]:
        with open(PAGE, encoding="utf-8") as file:
            same = file.read() == page
        print("docs/man/ezprof-json.5 is", "up to date" if same else "old: run scripts/json-man.py")
        return 0 if same else 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)
    return 0


def join_code(text):
    """A code span that a line break splits becomes one line, since spans are set line by line."""
    return re.sub(r"`[^`\n|]+\n[^`\n|]+`", lambda match: match.group(0).replace("\n", " "), text)


sys.exit(main())
