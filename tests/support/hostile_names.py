# SPDX-License-Identifier: MIT
"""Names that break formats, terminals and people; and what people are shown, undone."""
import re
import unicodedata

LONG = "SYS/" + "x" * 4000

# Each a topic that a graph server takes: valid UTF-8 without zero bytes.
NAMES = (
    "plain", "Plain", "plain ", " plain", "pla in", "pla  in",
    '"quoted", comma', "'single'", "back\\slash", "back\\x0aslash", "a\\u0000b", "%s%n",
    "line\nbreak", "carriage\r\nreturn", "tab\tbell\a", "\x1b[2J\x1b]0;title\x07", "\u009b31mred",
    "delete\x7f", "paragraph\u2028separator", "next\u0085line",
    "Gr\u00fc\u00dfe", "Gru\u0308\u00dfe", "\u65e5\u672c\u8a9e/OUT", "\u30ac", "\u30ab\u3099",
    "\u05e9\u05dc\u05d5\u05dd/\u0645\u0631\u062d\u0628\u0627", "\u202etxt.exe", "zero\u200bwidth",
    "zerowidth", "\U0001f600/OUT", "\U0001f469\u200d\U0001f467", "\ufeffmark",
    "{braces}=1", "[box]", "#35;", "%%{init: {}}%%", "end", "=1+1", "</script><b>", "a&lt;b", "a<b",
    "; drop", "`tick`", "$HOME", "a,b", "a;b", "\\N\\G\\l",
    LONG + "a", LONG + "b", "SYS/" + "y" * 2000 + "a" + "y" * 2000,
    "SYS/" + "y" * 2000 + "b" + "y" * 2000, "z" * 4090,
)


def undone(text):
    """The name that visible_name.h shows as this text."""
    return re.sub(r"\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))",
                  lambda m: chr(int(m[1] or m[2] or m[3], 16)) if m.lastindex else "\\", text)


def faults(text):
    """What no text for people may hold: [(place, character)]."""
    return [(at, c) for at, c in enumerate(text)
            if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Mn")]
