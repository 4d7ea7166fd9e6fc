"""The statistics page in a browser: readable on a phone and on a desk, and its forms with and without its script."""

import contextlib

import pytest
from browser import CHROMIUM, Browser
from conftest import connect, free_ports, recv_all
from moved_clock import BRIEF
from subject import only_tacit

pytestmark = [only_tacit, pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed (make deps-ci)")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    b = Browser(tmp_path_factory.mktemp("chromium"))
    yield b
    b.close()


def answer(conn):
    conn.recv(4096)
    conn.sendall(b"HTTP/1.0 500 No\r\nContent-Length: 2\r\n\r\nno")


@pytest.fixture
def shown(daemon, origins, browser):
    """A page about servers in many states, of which the last has answered most, and each time with 500."""
    port, live, front = free_ports(3)
    o, sick = origins(), origins(answer)
    name = "server-with-a-long-name.of-a-cluster.example.org"
    page = ("    mode http\n    stats uri /haproxy?stats\n    stats admin if TRUE\n    stats show-legends\n    stats show-node edge-1\n"
            # The browser outlives the daemon, and keeps no connection to it.
            f"    option httpclose\n    timeout http-request {BRIEF}\n")
    d = daemon(f"frontend statistics\n    bind 127.0.0.1:{port}\n{page}"
               f"listen web\n    mode http\n    bind 127.0.0.1:{front}\n    description what people see\n"
               f"    server up 127.0.0.1:{o.port} check inter 100ms\n    server down 127.0.0.1:1 check inter 100ms\n"
               f"    server {name} 127.0.0.1:{o.port} backup\n    server b2 127.0.0.1:1 disabled\n"
               f"    use-server b10 if {{ path /sick }}\n    server b10 127.0.0.1:{sick.port}\n"
               f"frontend live\n    bind 127.0.0.1:{live}\n    stats refresh 1s\n{page}", extra="nbthread 4", clock=True)
    d.url, d.live, d.front = (*(f"http://127.0.0.1:{p}/haproxy?stats" for p in (port, live)), front)
    d.until("server web/down state eq DOWN")
    ask(front, 11)
    yield d
    # Otherwise the browser may ask while the daemon stops.
    browser.open("about:blank", 1400)
    d.expire()


def ask(front, times):
    for _ in range(times):
        with connect(front) as c:
            c.sendall(b"GET /sick HTTP/1.0\r\n\r\n")
            assert b"500 No" in recv_all(c)


@pytest.mark.parametrize("width", [360, 400, 768, 1000, 1400])
@pytest.mark.parametrize("has_script", [True, False])
def test_it_is_readable(browser, shown, width, has_script):
    browser.open(shown.url, width, has_script)
    assert not browser.complaints()
    assert browser.js("document.documentElement.scrollWidth") <= width
    # Each value that this width has room for is in sight, and none covers another.
    wrong = browser.js("""(() => {
        const wrong = [];
        for (const cell of document.querySelectorAll("section td, section th")) {
            const box = cell.getBoundingClientRect();
            if (cell.textContent && cell.checkVisibility() && (box.width < 5 || box.height < 5 || box.left < 0 ||
                box.right > innerWidth + 1 || cell.scrollWidth > cell.clientWidth + 1)) {
                wrong.push(cell.textContent);
            }
        }
        return wrong;
    })()""")
    assert wrong == []
    # Columns stand below each other in all proxies.
    edges = browser.js("""[...document.querySelectorAll("section tbody tr")].map((tr) => [...tr.cells].filter((c) => c.checkVisibility())
        .map((c) => Math.round(c.getBoundingClientRect().right)).join())""")
    assert len(set(edges)) == 1
    colours = browser.js("""[..."up down maint failing".split(" ")].map((state) =>
        getComputedStyle(document.querySelector("tr.srv." + state)).borderLeftColor)""")
    assert len(set(colours)) == 4
    assert browser.js('document.getElementById("live").checkVisibility()') == has_script
    # On a phone each number has its name above it.
    label = browser.js('getComputedStyle(document.querySelector("tr.srv td:nth-child(6)"), "::before").content')
    assert label == ('"Sessions"' if width <= 400 else "none")
    states = browser.js('document.getElementById("states").innerText.replace(/\\s+/g, " ")')
    assert states.replace("\xa0", " ") == "3 of 5 servers up 1 down 1 failing 1 in maintenance 1 not checked 1 up"
    assert browser.js("document.title") == ("(1 down) " if has_script else "") + "edge-1: Statistics Report"


NAMES = '[...document.querySelectorAll("tr.srv input")].filter((i) => !i.closest("tr").hidden).map((i) => i.value)'


def test_it_sorts_by_values(browser, shown):
    """By what numbers mean, not by how they are written."""
    browser.open(shown.url, 1400)
    before = browser.js(NAMES)
    assert len(before) == 5

    def click(column):
        browser.click(f"section:nth-of-type(2) thead th:nth-child({column})")
        return browser.js(NAMES)

    assert click(1) == ["b2", "b10", "down", "server-with-a-long-name.of-a-cluster.example.org", "up"]
    assert click(1)[:2] == ["up", "server-with-a-long-name.of-a-cluster.example.org"]
    # States: what needs somebody first. A third click: no order.
    assert click(2)[:3] == ["down", "b10", "b2"]
    assert click(2)[-1] == "down"
    assert click(2) == before
    # 5xx
    assert click(12)[0] == "b10"
    assert click(12)[-1] == "b10"
    # The other headings can be sorted by, too.
    orders = browser.js('[...document.querySelectorAll("section:nth-of-type(2) thead th")].map((th) => th.ariaSort)')
    assert orders == ["none"] * 11 + ["ascending"] + ["none"] * 5
    # The backend's row stays below its servers.
    assert browser.js('document.querySelector("section:nth-of-type(2) tbody tr:last-child").className').startswith("back")


def test_it_filters(browser, shown):
    browser.open(shown.url, 1400)
    browser.click("#find")
    browser.call("Input.insertText", text="web maint")
    assert browser.js(NAMES) == ["b2"]
    assert browser.js('[...document.querySelectorAll("section")].filter((s) => !s.hidden).length') == 1
    browser.js('(() => { const f = document.getElementById("find"); f.value = ""; f.dispatchEvent(new Event("input")); })()')
    assert len(browser.js(NAMES)) == 5
    browser.click("#states a.failing")
    assert browser.js(NAMES) == ["b10"]
    browser.click("#states a.failing")
    assert len(browser.js(NAMES)) == 5
    # An address, which show-legends shows.
    browser.click("#find")
    browser.call("Input.insertText", text="127.0.0.1:1 down")
    assert browser.js(NAMES) == ["down"]
    browser.js("sessionStorage.clear()")


LIVE = 'document.querySelector("#live input").click()'


def test_an_update_loses_nothing(browser, shown):
    """Filter, order, ticks, scroll and what is focused stay; numbers change; rows come and go."""
    browser.open(shown.live, 400)
    # No update comes between looking for an element and the click on its place.
    browser.js(LIVE)
    browser.open(shown.live, 400)
    browser.js("window.isSame = 1")
    browser.click("#states a.down")
    browser.click("#states a.down")
    browser.js('document.querySelectorAll("section")[1].querySelector("th:nth-child(12)").click()')
    browser.click("input[name=s][value=up]")
    browser.js("scrollTo(0, 150)")
    browser.js(LIVE)
    total = 'document.querySelector("input[value=b10]").closest("tr").cells[11].textContent'
    assert browser.js(total) == "11"
    ask(shown.front, 3)
    assert "registered" in shown.admin("add server web/new 127.0.0.1:1")
    browser.until(f'{total} === "14" && document.querySelector("input[value=new]")')
    assert browser.js(NAMES)[0] == "b10"
    assert browser.js("scrollY") == 150
    assert browser.js('document.activeElement.value + document.querySelectorAll("input[name=s]:checked").length') == "up1"
    browser.until('document.querySelector("#rate svg polyline")')
    assert "deleted" in shown.admin("set server web/new state maint; del server web/new")
    browser.until('!document.querySelector("input[value=new]")')
    # The order outlives a reload.
    browser.open(shown.live, 400)
    assert browser.js("window.isSame") is None
    assert browser.js(NAMES)[0] == "b10"
    assert not browser.complaints()
    browser.js("sessionStorage.clear()")


@pytest.mark.parametrize("width", [360, 1400])
def test_an_update_moves_nothing(browser, shown, width):
    """A finger about to tap something meets it; the lines of the samples have their place before there are two."""
    browser.open(shown.live, width)
    places = """[...document.querySelectorAll("#states, .card, nav, section, tr")]
        .map((e) => `${e.id} ${Math.round(e.getBoundingClientRect().top)}`).join()"""
    before = browser.js(places)
    for updates in (1, 2):
        browser.until(f"performance.getEntriesByName('update').length > {updates}")
    assert browser.js('document.querySelector("#rate polyline").hasAttribute("points")')
    assert browser.js(places) == before
    browser.js("sessionStorage.clear()")


def test_a_filter_ends_with_the_last_server_of_its_state(browser, shown):
    browser.open(shown.live, 1400)
    browser.click("#states a.down")
    assert browser.js(NAMES) == ["down"]
    shown.admin("disable server web/down")
    browser.until(f"{NAMES}.length === 5")
    browser.js("sessionStorage.clear()")


@pytest.mark.parametrize("has_script", [True, False])
def test_a_tap_shows_details(browser, shown, has_script):
    browser.open(shown.live if has_script else shown.url, 400, has_script)
    browser.events.clear()
    browser.click("tr.failing td:first-child a")
    if has_script:
        browser.until('document.querySelector("#more dd")')
        assert browser.js('getComputedStyle(document.getElementById("more")).position') == "fixed"
    else:
        browser.wait_load()
    text = browser.js('document.getElementById("more").innerText')
    assert "web / b10" in text and "Responses with a status from 500 to 599\n11" in text
    assert browser.js("document.documentElement.scrollWidth") <= 400
    if has_script:
        ask(shown.front, 1)
        browser.until('document.getElementById("more").innerText.includes("from 500 to 599\\n12")')
        browser.click("#more .close")
        browser.until('!document.getElementById("more")')
    assert not browser.complaints()


def test_what_it_weighs(browser, shown):
    browser.open(shown.live, 1400)
    browser.until("performance.getEntriesByName('update').length > 0")
    assert browser.js("performance.getEntriesByType('navigation')[0].decodedBodySize") < 60000
    urls = browser.js("performance.getEntriesByType('resource').map((e) => e.name)")
    assert set(urls) == {shown.live}


def test_an_update_of_a_long_page_changes_what_is_in_sight(browser, daemon):
    """With 2,000 servers only the rows in sight are laid out and change."""
    (port,) = free_ports(1)
    daemon(f"listen farm\n    mode http\n    bind 127.0.0.1:{port}\n    stats uri /\n    stats refresh 1s\n    option httpclose\n"
           "    server-template host- 2000 127.0.0.1:1\n")
    browser.open(f"http://127.0.0.1:{port}/", 1400)
    assert browser.js('document.querySelectorAll("tr.srv").length') == 2000
    browser.js("""(() => {
        window.changed = new Set();
        new MutationObserver((all) => all.forEach((m) => {
            const row = (m.target.closest ? m.target : m.target.parentElement).closest("section tbody tr");
            if (row) changed.add(row.id);
        })).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    })()""")
    browser.until("performance.getEntriesByName('update').length > 2")
    # All have another time since their last change.
    assert 2 <= browser.js("changed.size") <= 60
    assert browser.js('[...document.querySelectorAll("tr.srv")].filter((tr) => tr.firstElementChild.checkVisibility('
                      '{ contentVisibilityAuto: true })).length') < 100
    browser.open("about:blank", 1400)


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
    browser.click("#find")
    browser.call("Input.insertText", text="web")
    browser.events.clear()
    browser.click("#search button")
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


def focused(browser):
    """The element with the focus: the class of a chip, the text of a link, or the tag of another one."""
    return browser.js('(() => { const e = document.activeElement; return e.matches("#states a") ? e.classList[0] : '
                      'e.matches("td a") ? e.textContent : e.tagName; })()')


def space(browser):
    """The space bar, as a keyboard sends it."""
    for kind, text in (("keyDown", {"text": " "}), ("keyUp", {})):
        browser.call("Input.dispatchKeyEvent", type=kind, key=" ", code="Space", windowsVirtualKeyCode=32, **text)


CHECKED = 'document.querySelectorAll("input[name=s]:checked").length'


def test_the_space_bar_ticks_all_rows(browser, shown):
    """The box stands in a heading, which the space bar sorts by."""
    browser.open(shown.url, 1400)
    before = browser.js(NAMES)
    browser.js('document.querySelector("input.all").focus()')
    space(browser)
    assert browser.js(CHECKED) == 5
    assert browser.js('[...document.querySelectorAll("section th")].every((th) => th.ariaSort === "none")')
    assert browser.js(NAMES) == before
    assert browser.js('document.querySelector(".act label").firstChild.data') == "5 selected servers: "
    space(browser)
    assert browser.js(CHECKED) == 0
    assert not browser.complaints()


def test_rows_out_of_sight_that_are_ticked_are_counted(browser, shown):
    browser.open(shown.url, 1400)
    browser.click("input[name=s][value=up]")
    assert browser.js('document.querySelector(".act label").firstChild.data') == "1 selected server: "
    browser.click("#states a.down")
    assert browser.js(NAMES) == ["down"]
    browser.click("input[name=s][value=down]")
    assert browser.js('document.querySelector(".act label").firstChild.data') == "2 selected servers: "
    browser.js("sessionStorage.clear()")


def test_the_keyboard_chooses_a_state(browser, shown):
    """A chip is a button, stays one over updates, and keeps the focus."""
    browser.open(shown.live, 1400)
    browser.js('document.querySelector("#states a.down").focus()')
    space(browser)
    assert browser.js(NAMES) == ["down"]
    browser.until("performance.getEntriesByName('update').length > 1")
    chips = """[...document.querySelectorAll("#states a")].map((a) => `${a.classList[0]} ${a.getAttribute("role")} ${a.ariaPressed}`).join()"""
    assert browser.js(chips) == "down button true,failing button false,maint button false,idle button false,up button false"
    assert focused(browser) == "down"
    # One more server: the line of the states is another one.
    assert "registered" in shown.admin("add server web/new 127.0.0.1:1")
    browser.until('document.querySelector("#states a.maint").textContent.startsWith("2")')
    assert focused(browser) == "down"
    space(browser)
    assert browser.js(chips) == "down button false,failing button false,maint button false,idle button false,up button false"
    browser.js("sessionStorage.clear()")


def test_details_give_the_focus_back(browser, shown):
    browser.open(shown.live, 1400)
    for close in ('document.querySelector("#more .close").click()',
                  'document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))'):
        browser.js('(() => { const a = document.querySelector("tr.failing td:first-child a"); a.focus(); a.click(); })()')
        browser.until('document.activeElement.id === "more"')
        assert browser.js('document.getElementById("more").ariaLabel') == "Details"
        browser.js(close)
        assert browser.js('document.getElementById("more")') is None
        assert focused(browser) == "b10"


def test_details_of_a_row_that_has_gone_are_closed(browser, shown):
    assert "registered" in shown.admin("add server web/new 127.0.0.1:1")
    browser.open(shown.live, 1400)
    browser.click('tr:has(input[value=new]) td:first-child a')
    browser.until('document.getElementById("more")')
    assert "deleted" in shown.admin("set server web/new state maint; del server web/new")
    browser.until('!document.getElementById("more")')
    assert browser.js('document.body.classList.contains("panel")') is False
    assert not browser.complaints()


def test_an_update_renews_what_the_mouse_shows(browser, shown):
    """The result of a check, and the address of a name."""
    browser.open(shown.live, 1400)
    cell = 'document.querySelector("tr:has(input[value=up]) td:nth-child(3)").title'
    link = 'document.querySelector("tr:has(input[value=b2]) td:first-child a").title'
    assert browser.js(cell) == "" and browser.js(link) == "127.0.0.1:1"
    shown.admin("set server web/up addr 127.0.0.1 port 1; set server web/b2 addr 127.0.0.9 port 9")
    browser.until(f'{link} === "127.0.0.9:9" && {cell} === "Connection refused"')


def test_each_box_and_table_has_a_name(browser, shown):
    browser.open(shown.url, 1400)
    browser.call("Accessibility.enable")
    nodes = [n for n in browser.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
    browser.call("Accessibility.disable")

    def names(role):
        return [n["name"]["value"] for n in nodes if n["role"]["value"] == role]

    assert {"Select up", "Select b10", "All rows in sight"} <= set(names("checkbox"))
    assert len(set(names("checkbox"))) == len(names("checkbox"))
    assert {n for n in names("table") if n} == {"statistics", "web", "live"}
    assert names("status")


def test_the_search_reads_text_and_not_its_escapes(browser, shown):
    """A check that expects a text with a quote reports it; "quot" and "39" are in no text."""
    browser.open(shown.url, 1400)
    browser.js("""(() => {
        const cell = document.querySelector("tr:has(input[value=down]) td:nth-child(3)");
        cell.title = 'Layer7 "a" & <b>';
    })()""")
    for text, found in (("quot", []), ("amp;", []), ('"a" & <b>', ["down"])):
        browser.js(f"""(() => {{ const f = document.getElementById("find"); f.value = {text!r}; f.dispatchEvent(new Event("input")); }})()""")
        assert browser.js(NAMES) == found, text
    browser.js("sessionStorage.clear()")


def test_a_late_answer_replaces_no_newer_one(browser, shown):
    """Two answers are under way at once; the first one comes last."""
    browser.open(shown.url, 1400)
    browser.js("""(() => {
        const real = window.fetch;
        window.held = [];
        window.fetch = async (...args) => {
            const response = await real(...args);
            if (held.length === 0) {
                await new Promise((go) => held.push(go));
            }
            return response;
        };
        document.querySelector("#live input").click();
    })()""")
    browser.until("held.length === 1")
    ask(shown.front, 3)
    browser.js('document.dispatchEvent(new Event("visibilitychange"))')
    total = 'document.querySelector("input[value=b10]").closest("tr").cells[11].textContent'
    browser.until(f'{total} === "14"')
    browser.js("""(() => {
        window.after = 0;
        held[0]();
        setTimeout(() => after++, 0);
    })()""")
    browser.until("after > 0")
    assert browser.js(total) == "14"
    browser.js("sessionStorage.clear()")


def test_a_proxy_without_rows_is_hidden(browser, shown):
    """As after a reload that has removed it."""
    browser.open(shown.live, 1400)
    shown_sections = '[...document.querySelectorAll("section")].filter((s) => !s.hidden).map((s) => s.querySelector("h2").textContent).join()'
    assert browser.js(shown_sections) == "statistics,web,live"
    browser.js("""(() => {
        const real = window.fetch, body = document.querySelector("section:has(#px-web) tbody").id.slice(1);
        window.fetch = async (...args) => {
            const text = await (await real(...args)).text();
            return { ok: true, text: async () => text.split("\\n").filter((line) => !line.startsWith(`<tr id=r${body}.`)).join("\\n") };
        };
    })()""")
    browser.until(f'{shown_sections} === "statistics,live"')
    assert not browser.complaints()
