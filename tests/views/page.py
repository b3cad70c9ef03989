# SPDX-License-Identifier: MIT
"""What `ezprof report` writes, taken apart without a browser."""
import json
import os
import subprocess
from html.parser import HTMLParser

EZPROF = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
VOID = {"meta", "link", "wbr", "input", "br"}


def report(*documents, options=(), status=(0, 5)):
    """The page of documents, each an object or text."""
    text = "\n".join(d if isinstance(d, str) else json.dumps(d) for d in documents)
    done = subprocess.run([EZPROF, "report", "-o", "-", "--from", "-", *options],
                          input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    assert done.returncode in status, (done.returncode, done.stderr)
    return done.stdout.decode("utf-8")


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.parts = tag, dict(attributes), parent, []

    def text(self):
        return "".join(p if isinstance(p, str) else p.text() for p in self.parts)

    def all(self, tag, **attributes):
        """Those below with that tag and attributes (class_ for class: one of several)."""
        for part in self.parts:
            if isinstance(part, str):
                continue
            wanted = {k.rstrip("_"): v for k, v in attributes.items()}
            if part.tag == tag and all(
                    v in (part.attributes.get(k) or "").split() for k, v in wanted.items()):
                yield part
            yield from part.all(tag, **attributes)

    def one(self, tag, **attributes):
        [found] = self.all(tag, **attributes)
        return found


class Page(HTMLParser):
    """Fails where tags aren't balanced."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.top = self.at = Node("", (), None)
        self.feed(html)
        self.close()
        assert self.at is self.top, f"{self.at.tag} isn't closed"

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs, self.at)
        assert len(node.attributes) == len(attrs), (tag, attrs)
        self.at.parts.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.parts.append(Node(tag, attrs, self.at))

    def handle_endtag(self, tag):
        assert tag == self.at.tag, f"</{tag}> ends {self.at.tag}"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.parts.append(data)

    def rows(self, section):
        """The rows of a section's table, each a list of cells."""
        table = next(self.top.one("section", id=section).all("table"))
        return [[c for c in row.parts if isinstance(c, Node)] for row in table.one("tbody").all("tr")]
