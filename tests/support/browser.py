# SPDX-License-Identifier: MIT
"""A headless Chromium that shows one page at a time, by its DevTools protocol over two pipes.

    with Browser() as browser:
        page = browser.open(path)          # scripts, network and console are watched from the start
        page.run("document.title")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from require import skip

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Nothing may be looked up, and nothing is: what a page asks for is seen all the same.
OPTIONS = ("--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
           "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
           "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND", "--no-proxy-server",
           "--lang=en")
ANSWER_S = 60


def program():
    """Its path; skips the test where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        skip("no Chromium: apt-get install chromium-headless-shell fonts-dejavu-core",
             "EZPROF_REQUIRE_INTEROP")
    return found


class Browser:
    def __init__(self):
        self.path = program()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()
        options = [*OPTIONS, f"--user-data-dir={self.folder.name}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        # The protocol's pipes are descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "sh", self.path,
             *options, "about:blank"],
            pass_fds=(read_commands, write_answers), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(read_commands)
        os.close(write_answers)
        self.number, self.bytes, self.events = 0, b"", []
        return self

    def __exit__(self, *_):
        try:
            self.ask("Browser.close")
        except (AssertionError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        # Its helpers may still be writing there.
        shutil.rmtree(self.folder.name, ignore_errors=True)
        self.folder._finalizer.detach()

    def message(self, until):
        """The next message; None when there was none in time."""
        while b"\0" not in self.bytes:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            more = os.read(self.answers, 1 << 20)
            assert more, "the browser has ended"
            self.bytes += more
        text, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        number = self.number
        command = {"id": number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        text = json.dumps(command).encode() + b"\0"
        while text:
            text = text[os.write(self.commands, text):]
        until = time.monotonic() + ANSWER_S
        while True:
            message = self.message(until)
            assert message, f"no answer to {method}"
            if message.get("id") == number:
                assert "error" not in message, (method, message)
                return message["result"]
            self.events.append(message)

    def wait_for(self, event, session):
        until = time.monotonic() + ANSWER_S
        while True:
            for at, message in enumerate(self.events):
                if message.get("method") == event and message.get("sessionId") == session:
                    return self.events.pop(at)
            message = self.message(until)
            assert message, f"no {event}"
            self.events.append(message)

    def open(self, path, **options):
        return Page(self, path, **options)


class Page:
    """colours: "light" or "dark"; media: "" or "print"; script: whether the page's own runs."""

    def __init__(self, browser, path, colours="light", media="", script=True, width=1400,
                 height=1000):
        self.browser = browser
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.ask("Target.attachToTarget", targetId=target,
                                   flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": colours}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.ask("Page.navigate", url="file://" + os.path.abspath(path))
        browser.wait_for("Page.loadEventFired", self.session)

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def run(self, expression):
        """What the expression comes to; it may be a function's body that returns something."""
        if "return" in expression:
            expression = f"(() => {{ {expression} }})()"
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def of(self, *methods):
        return [m["params"] for m in self.browser.events
                if m.get("sessionId") == self.session and m["method"] in methods]

    def complaints(self):
        """What would be in the console."""
        self.run("0")  # what it has to say so far has come by then
        return self.of("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

    def requests(self):
        """All that was asked for but the page itself."""
        self.run("0")
        urls = [p["request"]["url"] for p in self.of("Network.requestWillBeSent")]
        return [url for url in urls[1:] if not url.startswith("data:")]

    def picture(self, path=None):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        data = base64.b64decode(self.ask("Page.captureScreenshot", clip=clip,
                                         captureBeyondViewport=True)["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def close(self):
        self.browser.ask("Target.closeTarget", targetId=self.target)
