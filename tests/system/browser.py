"""A headless Chromium, driven through its debugging pipe."""

import json
import os
import select
import shutil
import subprocess
import time

from conftest import WAIT

CHROMIUM = shutil.which("chromium")
LIMIT = 3 * WAIT


class Browser:
    """One page. Its directory is the home of its user, too."""

    def __init__(self, directory, *options):
        down, up = os.pipe(), os.pipe()

        def setup():
            # The pipe is descriptors 3 and 4, whatever they were.
            a, b = os.dup(down[0]), os.dup(up[1])
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.proc = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={directory}/profile", "--remote-debugging-pipe", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=setup,
            env=os.environ | {"HOME": str(directory)})
        os.close(down[0])
        os.close(up[1])
        self.to, self.back = down[1], up[0]
        self.rest, self.id, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")

    def read(self):
        end = time.monotonic() + LIMIT
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("the browser says nothing")
            got = os.read(self.back, 1 << 16)
            if not got:
                raise AssertionError("the browser has ended")
            self.rest += got
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.id += 1
        message = {"id": self.id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.id:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def wait_load(self):
        """Waits for a page, and a frame of it."""
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.read())
        self.draw()

    def open(self, url, width, has_script=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setScriptExecutionDisabled", value=not has_script)
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_load()

    def draw(self):
        """Waits for a frame: until then, rows with `content-visibility: auto` have an estimated height, and no text."""
        self.call("Page.captureScreenshot")

    def promise(self, text):
        """Returns when this promise of the page has become 1."""
        result = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        assert result["result"].get("value") == 1, result

    def js(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, condition):
        """Returns when this expression of the page is true."""
        self.promise(f"new Promise((done) => {{ const i = setInterval(() => {{ if ({condition}) {{ clearInterval(i); done(1); }} }}, 20); }})")

    def click(self, selector):
        """A real one, which needs no script of the page."""
        node = self.call("DOM.querySelector", nodeId=self.call("DOM.getDocument")["root"]["nodeId"], selector=selector)
        self.call("DOM.scrollIntoViewIfNeeded", nodeId=node["nodeId"])
        self.draw()
        x, y, _, _, x2, y2 = self.call("DOM.getBoxModel", nodeId=node["nodeId"])["model"]["content"][:6]
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=(x + x2) / 2, y=(y + y2) / 2, button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def complaints(self):
        """The console's messages, the policy's violations among it."""
        return [e["params"] for e in self.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def close(self):
        self.proc.kill()
        self.proc.wait(WAIT)
        os.close(self.to)
        os.close(self.back)
