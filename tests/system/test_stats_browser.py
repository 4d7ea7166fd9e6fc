"""The statistics page in a browser: readable on a phone and on a desk, and its forms with and without its script."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import time

import pytest
from conftest import WAIT, connect, free_port, wait_for
from subject import only_tacit

CHROMIUM = shutil.which("chromium")
pytestmark = [only_tacit, pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed (make deps-ci)")]
LIMIT = 3 * WAIT


class Browser:
    """A page of a headless Chromium, driven through its debugging pipe."""

    def __init__(self, directory):
        down, up = os.pipe(), os.pipe()

        def setup():
            # The pipe is descriptors 3 and 4, whatever they were.
            a, b = os.dup(down[0]), os.dup(up[1])
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.proc = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={directory}", "--remote-debugging-pipe"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=setup)
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
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.read())

    def open(self, url, width, has_script=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setScriptExecutionDisabled", value=not has_script)
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_load()

    def js(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def click(self, selector):
        """A real one, which needs no script of the page."""
        node = self.call("DOM.querySelector", nodeId=self.call("DOM.getDocument")["root"]["nodeId"], selector=selector)
        self.call("DOM.scrollIntoViewIfNeeded", nodeId=node["nodeId"])
        x, y, _, _, x2, y2 = self.call("DOM.getBoxModel", nodeId=node["nodeId"])["model"]["content"][:6]
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=(x + x2) / 2, y=(y + y2) / 2, button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def complaints(self):
        """What the console says, the policy's violations among it."""
        return [e["params"] for e in self.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def close(self):
        self.proc.kill()
        self.proc.wait(WAIT)
        os.close(self.to)
        os.close(self.back)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    b = Browser(tmp_path_factory.mktemp("chromium"))
    yield b
    b.close()


@pytest.fixture
def shown(daemon, origins):
    """A page about servers in many states."""
    port, front = free_port(), free_port()
    o = origins()
    name = "server-with-a-long-name.of-a-cluster.example.org"
    d = daemon(f"frontend statistics\n    mode http\n    bind 127.0.0.1:{port}\n    stats uri /haproxy?stats\n"
               # The browser outlives the daemon, and keeps no connection to it.
               "    option httpclose\n    timeout http-request 1s\n    stats admin if TRUE\n    stats show-legends\n"
               f"listen web\n    bind 127.0.0.1:{front}\n    description what people see\n"
               f"    server up 127.0.0.1:{o.port} check inter 100ms\n    server down 127.0.0.1:1 check inter 100ms\n"
               f"    server {name} 127.0.0.1:{o.port} backup\n    server b2 127.0.0.1:1 disabled\n", extra="nbthread 4")
    d.url, d.port = f"http://127.0.0.1:{port}/haproxy?stats", port
    assert wait_for(lambda: "DOWN" in d.admin("show stat web 4 -1"))
    for _ in range(7):
        with connect(front) as c:
            c.sendall(b"x" * 1234)
            c.recv(10)
    return d


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("has_script", [True, False])
def test_it_is_readable(browser, shown, width, has_script):
    browser.open(shown.url, width, has_script)
    assert not browser.complaints()
    assert browser.js("document.documentElement.scrollWidth") <= width
    # Each value is in sight, and none covers another.
    wrong = browser.js("""(() => {
        const wrong = [];
        for (const cell of document.querySelectorAll("td")) {
            const box = cell.getBoundingClientRect();
            if (cell.textContent && (box.width < 5 || box.height < 5 || box.left < 0 || box.right > innerWidth + 1 ||
                cell.scrollWidth > cell.clientWidth + 1)) {
                wrong.push(cell.textContent);
            }
        }
        return wrong;
    })()""")
    assert wrong == []
    colours = browser.js("""[..."up down maint".split(" ")].map((state) =>
        getComputedStyle(document.querySelector("tr.srv." + state + " td")).borderLeftColor)""")
    assert len(set(colours)) == 3
    assert browser.js('document.getElementById("filter").checkVisibility()') == has_script
    # On a phone each value has its name beside it.
    label = browser.js('getComputedStyle(document.querySelector("tr.srv td:nth-child(5)"), "::before").content')
    assert label == ('"Sessions"' if width == 400 else "none")


def test_it_sorts_and_filters(browser, shown):
    browser.open(shown.url, 1200)
    names = '[...document.querySelectorAll("tr.srv input")].filter((i) => !i.closest("tr").hidden).map((i) => i.value)'
    before = browser.js(names)
    assert len(before) == 4
    browser.click("section:nth-of-type(2) thead th:nth-child(1)")
    assert browser.js(names) == sorted(before)
    browser.click("section:nth-of-type(2) thead th:nth-child(1)")
    assert browser.js(names) == sorted(before, reverse=True)
    browser.click("section:nth-of-type(2) thead th:nth-child(6)")
    assert browser.js(names)[-1] == "up"
    # The backend's row stays below its servers.
    assert browser.js('document.querySelector("section:nth-of-type(2) tbody tr:last-child").className').startswith("back")
    browser.click("#filter")
    browser.call("Input.insertText", text="web maint")
    assert browser.js(names) == ["b2"]
    assert browser.js('[...document.querySelectorAll("section")].filter((s) => !s.hidden).length') == 1


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("has_script", [True, False])
def test_a_click_drains_a_server(browser, shown, width, has_script):
    browser.open(shown.url, width, has_script)
    browser.click("input[name=s][value=up]")
    assert browser.js('document.querySelectorAll("input[name=s]:checked").length') == 1
    browser.call("DOM.focus", nodeId=browser.call(
        "DOM.querySelector", nodeId=browser.call("DOM.getDocument")["root"]["nodeId"], selector="select")["nodeId"])
    for _ in range(2):
        browser.press("ArrowDown")
    assert browser.js('document.querySelector("select").value') == "drain"
    browser.events.clear()
    browser.click(".act button")
    browser.wait_load()
    assert browser.js("location.href").endswith("/haproxy?stats;st=DONE")
    assert "The servers were changed." in browser.js('document.querySelector(".msg").innerText')
    assert "DRAIN" in browser.js('document.querySelector("tr.drain").innerText')
    assert "DRAIN" in shown.admin("show stat web 4 -1")
    assert not browser.complaints()


def test_the_form_for_proxies_keeps_the_uri(browser, shown):
    """What is behind the question mark of `stats uri` is not lost when a browser sends the form."""
    browser.open(shown.url, 1200, False)
    browser.click("input[name=scope]")
    browser.call("Input.insertText", text="web")
    browser.events.clear()
    browser.click("nav button")
    browser.wait_load()
    assert "/haproxy?stats=&scope=web" in browser.js("location.href")
    assert browser.js('[...document.querySelectorAll("h2")].map((h) => h.textContent)') == ["web"]


def test_another_site_cannot_send_the_form(browser, shown, origins):
    def evil(conn):
        conn.recv(4000)
        text = (f'<form method=post action="{shown.url}"><input name=s value=up><input name=action value=maint>'
                '<input name=b value=web><button>Win</button></form>')
        conn.sendall(f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n{text}".encode())

    o = origins(evil)
    browser.open(f"http://127.0.0.1:{o.port}/", 1200)
    browser.events.clear()
    browser.click("button")
    with contextlib.suppress(AssertionError):
        browser.wait_load()
    assert browser.js("location.href").endswith(";st=DENY")
    assert "Access denied" in browser.js('document.querySelector(".msg").innerText')
    assert ",MAINT," not in [line for line in shown.admin("show stat web 4 -1").splitlines() if ",up," in line][0]
