# SPDX-License-Identifier: MIT
"""`ezprof report` as people see it, in a headless Chromium.

EZPROF_PICTURES=FOLDER keeps what was seen.
"""
import json
import os
import tempfile
import unittest

from browser import Browser, program
from hostile_names import NAMES
from made_profile import Made
from page import report
from test_report_page import large, later, recorded

CONTRAST = 4.5  # what WCAG 2 asks of text, level AA

# The contrast of each text with what is right behind it: [[contrast, text]] of those below.
FAINT = """
const light = c => {
	const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
	return .2126 * r + .7152 * g + .0722 * b;
};
const colour = text => (text.match(/[\\d.]+/g) || []).map(Number);
const behind = node => {
	const box = node.closest("svg.box");
	if (node.ownerSVGElement && box)
		return colour(getComputedStyle(box.querySelector(".body")).fill);
	for (; node; node = node.parentElement) {
		const c = colour(getComputedStyle(node).backgroundColor);
		if (c.length === 3 || c[3] > 0)
			return c;
	}
	return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
for (let text; (text = walker.nextNode());) {
	const node = text.parentElement;
	if (!text.data.trim() || ["STYLE", "SCRIPT", "title", "desc"].includes(node.tagName))
		continue;
	const style = getComputedStyle(node);
	const front = colour(node.ownerSVGElement ? style.fill : style.color);
	const a = light(front.slice(0, 3)), b = light(behind(node).slice(0, 3));
	found.push([(Math.max(a, b) + .05) / (Math.min(a, b) + .05), text.data.trim().slice(0, 40)]);
}
return found;
"""

# Of the drawing: texts that leave their box, labels on boxes or on each other.
MISPLACED = """
const box = node => node.getBoundingClientRect();
const inside = (a, b) => a.left >= b.left - .5 && a.right <= b.right + .5 && a.top >= b.top - .5 &&
	a.bottom <= b.bottom + .5;
const apart = (a, b) => a.right <= b.left + .5 || b.right <= a.left + .5 || a.bottom <= b.top + .5 ||
	b.bottom <= a.top + .5;
const bodies = [...document.querySelectorAll("#drawing .body")], found = [];
const labels = [...document.querySelectorAll("#drawing .label")];
for (const body of bodies)
	for (const text of body.parentNode.querySelectorAll("text"))
		if (!inside(box(text), box(body)))
			found.push("leaves its box: " + text.textContent);
labels.forEach((label, i) => {
	for (const body of bodies)
		if (!apart(box(label), box(body)))
			found.push("on a box: " + label.textContent);
	for (const other of labels.slice(0, i))
		if (other.parentNode !== label.parentNode && !apart(box(label), box(other)))
			found.push("on another: " + label.textContent);
});
bodies.forEach((body, i) => {
	for (const other of bodies.slice(0, i))
		if (!apart(box(body), box(other)))
			found.push("boxes on each other");
});
return found;
"""


def names_document():
    made = Made()
    for number, name in enumerate(NAMES):
        publisher = made.publisher(name, 1000 + number, 10.0 + number)
        made.subscriber(publisher, name, 2000 + number, 1.5, topic=name)
    return made.document


def circle():
    """A relay that feeds itself by another one, and a topic that nobody uses."""
    made = Made()
    a, b = made.publisher("A/OUT", 1, 50.0), made.publisher("B/OUT", 2, 50.0, blocked=0.9)
    made.subscriber(a, "b-in", 2, 9.0, topic="B/IN")
    made.subscriber(b, "a-in", 1, 3.0, topic="A/IN")
    made.document["graph"] = {"A/OUT": ["B/IN"], "UNUSED/OUT": ["UNUSED/IN"], "B/OUT": ["A/IN"]}
    return made.document


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        browser = Browser()
        browser.__enter__()
        self.addCleanup(browser.__exit__)
        self.browser = browser

    def write(self, *documents):
        path = os.path.join(self.folder.name, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(report(*documents))
        return path

    def shown(self, page, name):
        folder = os.environ.get("EZPROF_PICTURES")
        return page.picture(os.path.join(folder, name + ".png") if folder else None)

    def check(self, page, name):
        """What holds for every page."""
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [])
        faint = [entry for entry in page.run(FAINT) if entry[0] < CONTRAST]
        self.assertEqual(faint, [], name)
        self.assertEqual(page.run("document.querySelectorAll('svg:not(:has(> title))').length"), 0)
        self.assertEqual(page.run("document.querySelectorAll('th:not([scope])').length"), 0)
        # It is wide tables that scroll, not the page.
        self.assertLessEqual(page.run("document.scrollingElement.scrollWidth - innerWidth"), 0, name)

    def drawn(self, page):
        """Names in the drawing, by their tool tips."""
        return page.run("[...document.querySelectorAll('#drawing .box > title')]"
                        ".map(t => t.textContent.split(': ')[0])")

    def test_chain(self):
        path = self.write(recorded(), later(recorded(), 2.0, 40.0))
        pictures = {}
        for colours in ("light", "dark"):
            page = self.browser.open(path, colours=colours)
            self.check(page, colours)
            pictures[colours] = self.shown(page, colours)
            self.assertEqual(page.run(MISPLACED), [])
            for name in ("A", "B", "sink", "flt"):
                self.assertIn(name, self.drawn(page))
            self.assertGreater(page.run("document.querySelectorAll('#lines .line').length"), 8)
            page.close()
        self.assertNotEqual(pictures["light"], pictures["dark"])

    def test_everybody(self):
        """Each publisher and subscriber is in its table and in the drawing, with its figures."""
        document = large(4, 3)
        page = self.browser.open(self.write(document))
        self.check(page, "everybody")
        self.assertEqual(page.run(MISPLACED), [])
        text = page.run("document.querySelector('#publishers').innerText")
        drawn = self.drawn(page)
        for publisher in document["publishers"]:
            self.assertIn(publisher["topic"], text)
            self.assertIn(publisher["topic"], drawn)
        text = page.run("document.querySelector('#subscribers').innerText")
        for subscriber in (s for c in document["channels"] for s in c["subscribers"]):
            self.assertIn(subscriber["handle"], text)
            self.assertTrue(any(subscriber["handle"] in name for name in drawn))
        size = page.run("const r = document.querySelector('#drawing').getBoundingClientRect();"
                        "return [r.width, r.height]")
        self.assertGreater(min(size), 100)
        self.shown(page, "everybody")

    def test_without_script(self):
        path = self.write(large(4, 3))
        texts = []
        for script in (False, True):
            page = self.browser.open(path, script=script)
            texts.append(page.run("document.querySelectorAll('button, .filter').forEach(n => n.remove());"
                                  "return document.querySelector('main').innerText"))
            page.close()
        self.assertGreater(len(texts[0]), 5000)
        self.assertEqual(*texts)

    def test_sort_and_filter(self):
        page = self.browser.open(self.write(large(4, 3)))
        column = "[...document.querySelectorAll('#subscribers tbody tr')].filter(r => !r.hidden)"
        figures = column + ".map(r => Number(r.cells[7].textContent))"
        button = "document.querySelectorAll('#subscribers thead button')[7].click()"
        before = page.run(figures)
        page.run(button)
        self.assertEqual(page.run(figures), sorted(before))
        self.assertNotEqual(before, sorted(before))
        page.run(button)
        self.assertEqual(page.run(figures), sorted(before, reverse=True))
        self.assertEqual(page.run("document.querySelectorAll('[aria-sort]').length"), 1)
        page.run("const i = document.querySelector('#subscribers .filter input'); i.value = 'HOP1';"
                 "i.dispatchEvent(new Event('input')); return 0")
        names = page.run(column + ".map(r => r.cells[0].textContent + r.cells[1].textContent)")
        self.assertEqual(len(names), 8)  # the second hops, and those behind them
        self.assertEqual(page.complaints(), [])

    def test_names(self):
        page = self.browser.open(self.write(names_document()))
        self.check(page, "names")
        self.assertEqual(page.run("document.title"), "ezprof report: here")
        self.assertEqual(page.run("document.querySelectorAll('b, script').length"), 1)
        # Letters of fonts that the drawing didn't reckon with are cut at the box.
        self.assertEqual([m for m in page.run(MISPLACED) if not m.startswith("leaves")], [])
        self.shown(page, "names")

    def test_circle(self):
        page = self.browser.open(self.write(circle()))
        self.check(page, "circle")
        self.assertEqual(page.run(MISPLACED), [])
        drawn = page.run("document.querySelectorAll('#drawing .arrow').length")
        self.assertEqual(drawn, 5)
        self.assertEqual(page.run("document.querySelectorAll('#drawing .unused').length"), 1)
        self.shown(page, "circle")

    def test_300_nodes(self):
        page = self.browser.open(self.write(large(30, 4)))
        self.check(page, "300 nodes")
        self.assertEqual(page.run(MISPLACED), [])
        self.shown(page, "300-nodes")

    def test_narrow(self):
        page = self.browser.open(self.write(recorded()), width=400)
        self.check(page, "narrow")
        self.shown(page, "narrow")

    def test_printed(self):
        """Readable on paper, whatever the screen's colours are."""
        page = self.browser.open(self.write(recorded(), later(recorded(), 2.0, 40.0)),
                                 colours="dark", media="print")
        self.check(page, "print")
        self.assertEqual(page.run("getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")
        self.shown(page, "print")
        page.close()

    def test_it_would_be_seen(self):
        """A page that fetches, complains and is faint."""
        path = os.path.join(self.folder.name, "bad.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("<p style='color:#888;background:#999'>faint</p><script>"
                       "fetch('http://127.0.0.1:9/').catch(() => {}); console.log('!')</script>")
        page = self.browser.open(path)
        self.assertTrue(page.complaints())
        self.assertEqual(page.requests(), ["http://127.0.0.1:9/"])
        self.assertLess(min(page.run(FAINT))[0], CONTRAST)


if __name__ == "__main__":
    program()
    unittest.main()
