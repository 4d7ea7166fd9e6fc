"""The statistics page in a browser: readable on a phone and on a desk, and its forms with and without its script."""

import contextlib

import pytest
from browser import CHROMIUM, Browser
from conftest import connect, free_port
from subject import only_tacit

pytestmark = [only_tacit, pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed (make deps-ci)")]


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
    d.until("server web/down state eq DOWN")
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
    """The part behind the question mark of `stats uri` is not lost when a browser sends the form."""
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
