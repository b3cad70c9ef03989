# SPDX-License-Identifier: MIT
"""ezmsg-dashboard's page as a user sees it: opens it, the publisher, its trace. `compared_page.py PORT PICTURE.png`; what
it says goes to stdout. Needs a headless Chromium (tests/support/browser.py).
"""

import sys
import time
from pathlib import Path

import browser

# Ours look nothing up; this page is on a server, if on one of this machine.
browser.OPTIONS = tuple(option for option in browser.OPTIONS if "resolver" not in option)
CLICK = "Array.from(document.querySelectorAll('button')).filter(b => /%s/.test(b.innerText)).forEach(b => b.click())"


def main():
    port, picture = sys.argv[1], Path(sys.argv[2])
    blank = picture.with_suffix(".html")
    blank.write_text("<html></html>")
    with browser.Browser() as chromium:
        page = chromium.open(str(blank), width=1600, height=1000)
        page.ask("Page.navigate", url=f"http://127.0.0.1:{port}/")
        for button in ("SRC.OUTPUT", "Start Profiling Trace"):
            for _ in range(60):
                time.sleep(0.5)
                if page.run(f"/{button}/.test(Array.from(document.querySelectorAll('button')).map(b => b.innerText).join())"):
                    break
            page.run(CLICK % button)
        time.sleep(4)
        page.picture(str(picture))
        print(" ".join(page.run("document.body.innerText").split()))


main()
