"""The statistics page in pictures: five widths, two themes, and each state of STATES. page.html is the body of a page that
tacit has sent and details.html the panel of one row, with the style and script of the tree; UPDATE_SHOTS=1 renews the pictures."""

import base64
import json
import os
import re
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from conftest import ROOT

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed (make deps-ci)")
HERE = Path(__file__).parent
PAGE = ROOT / "src" / "app" / "stats"
WIDTHS = [360, 400, 768, 1000, 1400]
HEIGHT = 640
MANY = 2000
# Edges of letters are drawn differently by versions of the browser and its fonts.
MOST_DIFFERENT = 0.01
# Sixty-one samples: milliseconds, requests, failed, sessions, bytes, calls, requests of all kinds.
SAMPLES = [[1000 * i, 40 * i + 7 * (i % 5), i * i // 30, 3 + i % 4, 700000 * i + 90000 * (i % 7), 160 * i + 20 * (i % 3), 40 * i]
           for i in range(61)]
# Scripts that run before the picture is taken.
STATES = {
    "overview": "",
    # Servers that are drained, down, in maintenance and failing.
    "servers": 'document.getElementById("px-api").scrollIntoView()',
    "filter": """(() => {
        const find = document.getElementById("find");
        find.value = "web eu";
        find.dispatchEvent(new Event("input"));
        find.focus();
    })()""",
    "details": 'document.querySelector("tr.failing td:first-child a").click()',
    # A proxy with a table, HTTP/2, compression and a cache.
    "uses": 'document.getElementById("px-www").scrollIntoView()',
    # The ledger by call and by frontend.
    "ledger": 'document.getElementById("ledger").open = true; document.getElementById("about").scrollIntoView()',
    "many": 'document.getElementById("px-farm").scrollIntoView()',
}
COMPARE = """(async () => {
    const pixels = async (data) => {
        const image = new Image();
        image.src = "data:image/webp;base64," + data;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await pixels("%s"), await pixels("%s")];
    if (a.width !== b.width || a.height !== b.height) {
        return 1;
    }
    let different = 0;
    for (let i = 0; i < a.data.length; i += 4) {
        different += [0, 1, 2].some((c) => Math.abs(a.data[i + c] - b.data[i + c]) > 40) ? 1 : 0;
    }
    return different / (a.data.length / 4);
})()"""


@pytest.fixture(name="browser", scope="module")
def _browser(tmp_path_factory):
    b = Browser(tmp_path_factory.mktemp("chromium"))
    kept = json.dumps({"samples": SAMPLES})
    # The counters of the page follow the last sample by a second.
    b.call("Page.addScriptToEvaluateOnNewDocument",
           source='if (location.protocol === "file:") {'
                  f'sessionStorage.setItem("tacit " + location.pathname, JSON.stringify({kept}));'
                  # The panel of details is fetched.
                  f"fetch = async () => ({{ ok: true, text: async () => {json.dumps((HERE / 'details.html').read_text())} }}); }}")
    yield b
    b.close()


def farm():
    """A proxy with many servers, whose rows are those of the proxy web with other names."""
    section = re.search(r'(?s)<section>\n<header id=h4>.*?</section>\n', (HERE / "page.html").read_text())[0]
    rows = re.findall(r"<tr id=r4\.2\..*\n", section)
    many = "".join(re.sub(r'web-\d|spare', f"host-{i}", rows[i % len(rows)]).replace(f"id=r4.2.{i % len(rows) + 1} ", f"id=r9.2.{i} ")
                   for i in range(MANY))
    return section.replace("".join(rows), many).replace("h4", "h9").replace("px-web", "px-farm").replace(">web<", ">farm<").replace(
        "b4", "b9").replace("r4.1.0", "r9.1.0")


@pytest.fixture(name="pages", scope="module")
def _pages(tmp_path_factory):
    """The addresses of the page without and with many servers."""
    directory, body = tmp_path_factory.mktemp("page"), (HERE / "page.html").read_text()
    for name, text in (("few", body), ("many", body.replace("<section>\n<header id=h4>", farm() + "<section>\n<header id=h4>"))):
        (directory / f"{name}.html").write_text(
            "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
            "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>edge-1</title>\n"
            f"<style>{(PAGE / 'page.css').read_text()}</style>\n</head>\n{text}"
            f"<script>{(PAGE / 'page.js').read_text()}</script>\n</body>\n</html>\n")
    return {name: f"file://{directory}/{name}.html" for name in ("few", "many")}


def shot(browser, pages, width, theme, state="overview"):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.open(pages["many" if state == "many" else "few"], width)
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1, mobile=width < 600)
    if STATES[state]:
        browser.js(STATES[state])
    if state == "details":
        browser.until('document.getElementById("more")')
    assert browser.js("document.documentElement.scrollWidth") <= width
    assert not browser.complaints()
    return picture(browser)


def picture(browser):
    return browser.call("Page.captureScreenshot", format="webp", quality=80)["data"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("state", STATES)
def test_it_looks_as_before(browser, pages, tmp_path, width, theme, state):
    now = shot(browser, pages, width, theme, state)
    path = HERE / f"{state}-{width}-{theme}.webp"
    if os.environ.get("UPDATE_SHOTS"):
        path.write_bytes(base64.b64decode(now))
    browser.open("about:blank", width)
    before = base64.b64encode(path.read_bytes()).decode()
    result = browser.call("Runtime.evaluate", expression=COMPARE % (before, now), awaitPromise=True, returnByValue=True)
    different = result["result"].get("value")
    if different is None or different > MOST_DIFFERENT:
        (tmp_path / path.name).write_bytes(base64.b64decode(now))
    assert different is not None and different <= MOST_DIFFERENT, f"{different}: see {tmp_path / path.name} beside {path}"


@pytest.mark.parametrize("width", [*WIDTHS, 600, 710])
def test_a_name_breaks_where_it_may(browser, pages, width):
    """Behind the hyphen of eu-central.example.org, and nowhere else: its column has room for what follows."""
    shot(browser, pages, width, "light")
    assert browser.js("""(() => {
        const a = [...document.querySelectorAll("section td:first-child a")].find((x) => x.textContent.endsWith("central.example.org"));
        return new Set([...a.getClientRects()].map((r) => r.top)).size;
    })()""") <= 2


def test_another_look_is_noticed(browser, pages):
    """The comparison itself: a page whose font is a pixel larger, and one in the other theme."""
    first = shot(browser, pages, 1000, "light")
    browser.js('document.body.style.fontSize = "15px"')
    second = picture(browser)
    third = shot(browser, pages, 1000, "dark")
    browser.open("about:blank", 1000)

    def different(a, b):
        return browser.call("Runtime.evaluate", expression=COMPARE % (a, b), awaitPromise=True,
                            returnByValue=True)["result"]["value"]

    assert different(first, first) == 0
    assert MOST_DIFFERENT < different(first, second) < different(first, third)


CONTRAST = """(() => {
    const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => channels(colour).slice(0, 3).map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (e) => {
        const colour = getComputedStyle(e).backgroundColor;
        return (channels(colour)[3] ?? 1) > 0 || !e.parentElement ? colour : behind(e.parentElement);
    };
    const pale = [];
    for (const e of document.querySelectorAll("section :is(td, th, small, h2 a), #states a, .card :is(b, small), nav *")) {
        if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) {
            continue;
        }
        const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) {
            pale.push(`${e.tagName}.${e.className} ${e.textContent} ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
        }
    }
    return [...new Set(pale)];
})()"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_have_contrast(browser, pages, theme):
    """WCAG 2.1, 1.4.3: 4.5 to 1, also for zeros and for servers that are not checked."""
    shot(browser, pages, 1400, theme)
    assert browser.js(CONTRAST) == []
