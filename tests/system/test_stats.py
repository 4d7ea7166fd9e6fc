"""The statistics over HTTP: from any worker, of many servers, to slow clients, while the data changes."""

import base64
import contextlib
import csv
import html.parser
import http.client
import io
import json
import re
import socket
import threading

import pytest
from certs import Authority
from conftest import WAIT, connect, free_port, free_ports, recv_all, rss_kib
from subject import not_sanitized, only_tacit

pytestmark = only_tacit
SERVERS = 4000


def get(port, path, method="GET", body=None, headers=None):
    """(status, headers, body) of one request on a connection of its own."""
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    with contextlib.closing(conn):
        conn.request(method, path, body, headers or {})
        r = conn.getresponse()
        return r.status, dict(r.getheaders()), r.read().decode()


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def page(port, more="", lines=""):
    """A frontend with the statistics, and its configuration."""
    return (f"frontend page\n    mode http\n    bind 127.0.0.1:{port}\n    stats uri /stats\n{more}" + lines)


@pytest.fixture
def many(daemon):
    """Four workers, one address that all accept on, and 4,000 servers."""
    port = free_port()
    servers = "".join(f"    server s{i} 127.0.0.1:{1 + i % 60000}\n" for i in range(SERVERS))
    d = daemon(page(port, lines=f"backend big\n{servers}"), extra="nbthread 4\n    tune.listener.multi-queue fair")
    d.port = port
    return d


def test_all_rows_are_there_once(many):
    """As on the admin socket, from whichever worker."""
    names = ["FRONTEND", *(f"s{i}" for i in range(SERVERS)), "BACKEND"]
    for _ in range(8):
        status, headers, text = get(many.port, "/stats;csv")
        assert status == 200 and headers["Transfer-Encoding"] == "chunked"
        assert [r["svname"] for r in rows(text)] == names
    assert len({line.count(",") for line in text.splitlines()}) == 1
    socket_rows = many.admin("show stat big -1 -1").splitlines()
    assert socket_rows[0] == text.splitlines()[0]
    # a second may have passed in between
    theirs, ours = ([{k: v for k, v in r.items() if k not in ("lastchg", "downtime")} for r in rows(both)]
                    for both in ("\n".join(socket_rows) + "\n", text))
    assert len(theirs) == len(ours) - 1 == SERVERS + 1
    assert sum(a == b for a, b in zip(theirs, ours[1:])) > SERVERS * 0.99


def test_a_proxy_that_answers_itself_counts_bytes_twice(daemon):
    """As in HAProxy, a listen section is the backend of what it answers itself: for statistics, metrics, rules and errors."""
    port, other = free_port(), free_port()
    d = daemon(f"listen own\n    mode http\n    bind 127.0.0.1:{port}\n    stats uri /stats\n"
               "    http-request use-service prometheus-exporter if { path /metrics }\n"
               "    http-request return status 200 if { path /r }\n    http-request deny if { path /d }\n"
               "    use_backend else if { path /e }\n    server s 127.0.0.1:1\n"
               f"backend else\n    mode http\n    http-request return status 200\n"
               f"frontend front\n    mode http\n    bind 127.0.0.1:{other}\n    http-request return status 200\n")

    def counted():
        # a client has its answer before the worker has counted it
        d.until("sessions eq 0")
        return {(r["# pxname"], r["svname"]): (int(r["bin"]), int(r["bout"])) for r in rows(d.admin("show stat"))}

    for n, path in enumerate(("/stats;csv", "/metrics", "/r", "/d")):
        assert get(port, path)[0] in (200, 403)
        now = counted()
        assert now["own", "BACKEND"] == now["own", "FRONTEND"] and now["own", "FRONTEND"][1] > 80 * n
    assert get(port, "/e")[0] == get(other, "/")[0] == 200
    after = counted()
    assert after["own", "BACKEND"] == now["own", "BACKEND"] != after["own", "FRONTEND"]
    assert after["else", "BACKEND"] == tuple(a - b for a, b in zip(after["own", "FRONTEND"], now["own", "FRONTEND"]))


def test_rules_of_a_backend_are_not_those_of_the_frontend(daemon):
    """As HAProxy 2.6 counts them: a frontend intercepts what its own rules and statistics answer."""
    port = free_port()
    d = daemon(f"frontend f\n    mode http\n    bind 127.0.0.1:{port}\n    stats uri /f\n"
               "    http-request return status 200 if { path /r }\n    default_backend b\n"
               "backend b\n    mode http\n    stats uri /b\n    http-request deny if { path /d }\n"
               "    http-request return status 200 if { path /br }\n    server s 127.0.0.1:1\n")
    for n, path in enumerate(("/f", "/b", "/d", "/br", "/r"), 1):
        for _ in range(n):
            get(port, path)
    d.until("sessions eq 0")
    front, back = (r for r in rows(d.admin("show stat")) if r["svname"] in ("FRONTEND", "BACKEND"))
    assert [front[c] for c in ("stot", "req_tot", "intercepted", "dreq", "hrsp_2xx", "hrsp_4xx")] == ["15", "15", "6", "3", "12", "3"]
    assert [back[c] for c in ("stot", "req_tot", "dreq", "hrsp_2xx", "hrsp_4xx", "econ", "lbtot")] == \
        ["9", "9", "3", "6", "3", "0", "0"]


@not_sanitized
def test_slow_clients_cost_a_slice_each(many):
    """Clients that read nothing; others are served meanwhile, and the slow ones get it all in the end."""
    before = rss_kib(many.pid)
    with contextlib.ExitStack() as stack:
        slow = []
        for _ in range(40):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(WAIT)
            s.connect(("127.0.0.1", many.port))
            stack.enter_context(s)
            s.sendall(b"GET /stats;csv HTTP/1.0\r\n\r\n")
            slow.append(s)
        many.until("idle")
        assert rss_kib(many.pid) - before < 8 << 10
        assert len(rows(get(many.port, "/stats;csv")[2])) == SERVERS + 2
        got = []
        readers = [threading.Thread(target=lambda s=s: got.append(recv_all(s))) for s in slow[:8]]
        for r in readers:
            r.start()
        for r in readers:
            r.join()
        assert len(got) == 8
        assert all(len(rows(g.decode().split("\r\n\r\n", 1)[1])) == SERVERS + 2 for g in got)
    many.until("sessions eq 0")


def test_clients_that_leave_in_the_middle(many):
    for i in range(60):
        with connect(many.port) as s:
            s.sendall(b"GET /stats;csv HTTP/1.1\r\nHost: x\r\n\r\n")
            if i % 3:
                s.recv(100 * i)
    many.until("sessions eq 0")
    assert get(many.port, "/stats;csv")[0] == 200
    assert many.info()["Fsm_bugs"] == "0"


def test_servers_come_and_go_while_they_are_listed(many):
    """Servers that stay are there once."""
    stop = threading.Event()

    def change():
        i = 0
        while not stop.is_set():
            many.admin(f"add server big/new{i} 127.0.0.1:1; enable server big/new{i}")
            many.admin(f"disable server big/new{i}; del server big/new{i}; set server big/s{i % 9} state drain")
            i += 1

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(10):
            names = [r["svname"] for r in rows(get(many.port, "/stats;csv")[2])]
            assert len(names) == len(set(names))
            assert [n for n in names if n[0] == "s"] == [f"s{i}" for i in range(SERVERS)]
    finally:
        stop.set()
        changer.join()


def close_each(listening):
    """Accepts, and closes at once."""
    with contextlib.suppress(OSError):
        while True:
            listening.accept()[0].close()


def test_results_of_checks_are_read_from_any_worker(daemon):
    """Texts of checks, which the first worker writes all the time."""
    port = free_port()
    # Nobody has to accept them: a thread for each check, as other origins have it, would be too slow for so many.
    listening = socket.create_server(("127.0.0.1", 0), backlog=4000)
    threading.Thread(target=close_each, args=(listening,), daemon=True).start()
    good = listening.getsockname()[1]
    servers = "".join(f"    server s{i} 127.0.0.1:{good if i % 2 else 1} check inter 20ms\n" for i in range(60))
    d = daemon(page(port, lines=f"backend b\n{servers}"), extra="nbthread 4\n    tune.listener.multi-queue fair")

    def states():
        return {r["svname"]: r["status"] for r in rows(get(port, "/stats;csv")[2]) if r["type"] == "2"}

    d.until(*(f"server b/s{i} state eq {'UP' if i % 2 else 'DOWN'}" for i in range(60)))
    assert all(states()[f"s{i}"] == ("UP" if i % 2 else "DOWN") for i in range(60))
    for _ in range(50):
        for r in rows(get(port, "/stats;csv")[2]):
            if r["type"] == "2":
                assert r["check_status"].replace("* ", "") == ("L4OK" if int(r["svname"][1:]) % 2 else "L4CON")
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def test_a_stop_ends_clients_that_read_slowly(many):
    with connect(many.port) as s:
        s.sendall(b"GET /stats;csv HTTP/1.0\r\n\r\n")
        s.recv(10)
        assert many.stop() in (0, 143, -15)


def basic(text):
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def test_users(daemon):
    port = free_port()
    daemon(page(port, "    stats auth admin:secret\n    stats auth other:word:s\n"))
    assert get(port, "/stats;csv", headers=basic("admin:secret"))[0] == 200
    assert get(port, "/stats;csv", headers=basic("other:word:s"))[0] == 200
    for wrong in ("admin:secre", "admin:secrett", "admin:", "admin", ":", ":secret", "admin:word:s", "ADMIN:secret",
                  "admin:secret\0", "x" * 4000):
        status, headers, body = get(port, "/stats;csv", headers=basic(wrong))
        assert (status, headers["WWW-Authenticate"]) == (401, 'Basic realm="HAProxy Statistics"')
        assert "pxname" not in body
    for header in ("Basic", "Basic ", "Basic !!!!", "Bearer YWRtaW46c2VjcmV0", "YWRtaW46c2VjcmV0"):
        assert get(port, "/stats;csv", headers={"Authorization": header})[0] == 401
    assert get(port, "/stats;csv", "HEAD")[0] == 401
    assert get(port, "/stats", "POST", "s=x", {})[0] == 401


# --- the page ---

def test_the_page_has_all_servers(many):
    status, headers, text = get(many.port, "/stats")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n")
    assert [f"s{i}" for i in range(SERVERS)] == re.findall(r'<tr id=r[0-9.]* class="srv [^>]*><td><a href="[^"]*">(s\d+)</a></td>', text)
    # The line that Zabbix and Datadog look for.
    version = re.findall(r"HAProxy version ([^,]*), ", text)
    assert version == [many.info()["Version"]]
    assert re.search(r"uptime = </b> \d+d \d+h\d\dm\d\ds<", text)
    assert text.count("nonce=") == 2 and len(set(re.findall(r'nonce="?\'?-?([0-9a-f]{32})', text))) == 1
    policy = headers["Content-Security-Policy"]
    assert f"'nonce-{re.search('nonce=.([0-9a-f]+)', text).group(1)}'" in policy and "default-src 'none'" in policy
    assert get(many.port, "/stats")[1]["Content-Security-Policy"] != policy
    assert headers["X-Frame-Options"] == "DENY"


def test_json_is_json(many):
    status, headers, text = get(many.port, "/stats;json")
    assert status == 200 and headers["Content-Type"] == "application/json"
    rows_of = json.loads(text)
    assert len(rows_of) == SERVERS + 2
    names = [next(f["value"]["value"] for f in row if f["field"]["name"] == "svname") for row in rows_of]
    assert names == ["FRONTEND", *(f"s{i}" for i in range(SERVERS)), "BACKEND"]


class Balance(html.parser.HTMLParser):
    """Elements that are open, and what is wrong."""
    VOID = {"meta", "link", "input", "br", "img", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.seen = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_page_is_well_formed(daemon):
    port = free_port()
    evil = "\"<script>alert('x')</script>\""
    daemon(page(port, f"    description {evil}\n    stats show-desc {evil}\n    stats show-node {evil}\n"
                      "    stats show-legends\n    stats show-modules\n    stats admin if TRUE\n    stats refresh 5s\n",
                f"backend b\n    mode http\n    description {evil}\n    cookie C insert\n"
                "    server s:1 127.0.0.1:1 cookie 'a<b' check\n    server s_2 127.0.0.1:2 backup\n"
                "    server s3 127.0.0.1:3 disabled weight 7 maxconn 3 maxqueue 4\n"))
    for query in ("", ";up", ";norefresh", "?scope=b", ";st=DONE", ";st=<script>", "?scope=%22%3E%3Cscript%3E"):
        got = Balance(get(port, "/stats" + query)[2])
        assert not got.wrong and not got.open
        assert [tag for tag, _ in got.seen].count("script") == 1
        # Nothing from outside.
        links = [v for _, attrs in got.seen for k, v in attrs.items() if k in ("href", "src", "action")]
        assert links and all(v.startswith(("/stats", "#px-", "#r", "data:,")) for v in links)
        # Nothing that the policy would forbid.
        assert not [k for _, attrs in got.seen for k in attrs if k.startswith("on") or k == "style"]


def test_the_certificate_that_ends_first_is_shown(daemon, tmp_path):
    port, one, two = free_port(), free_port(), free_port()
    ca = Authority(tmp_path / "ca")
    late, soon = ca.make("late.pem", "a.test", days=200), ca.make("soon.pem", "b.test", days=10)
    daemon(page(port, lines=f"frontend f\n    bind 127.0.0.1:{one} ssl crt {late}\n    bind 127.0.0.1:{two} ssl crt {soon}\n"))
    card = re.search(r"<div id=cert class=.*", get(port, "/stats")[2])[0]
    assert 'class="card bad"' in card and re.search(r"<b>in (9|10)&nbsp;days</b>", card) and f">{soon}<" in card


def test_headings_show_http2_and_tables(daemon):
    port, front = free_port(), free_port()
    d = daemon(page(port, lines=f"frontend f\n    mode http\n    bind 127.0.0.1:{front} proto h2\n"
                                "    stick-table type ip size 2k store conn_cnt\n    http-request track-sc0 src\n"))
    assert "HTTP/2" not in get(port, "/stats")[2]
    with connect(front) as s:
        # The preface with empty settings; tacit answers with its own.
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
        assert s.recv(9)[3] == 4
        d.until("sessions ge 1")
        heading = re.search(r"<header id=h\d+><h2 id=.px-f.*", get(port, "/stats")[2])[0]
    assert "stick table of type ip: 0 of 2,048 entries" in heading
    assert "HTTP/2: 1 connections, 0 streams" in heading


def test_headings_show_the_cache(daemon, origins):
    """A proxy that looks requests up, with a share that is rounded down."""
    def handle(conn):
        conn.recv(1000)
        conn.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    port, front = free_ports(2)
    d = daemon(page(port, lines="cache c\n    total-max-size 1\n    max-age 60\n"
                                f"frontend f\n    mode http\n    bind 127.0.0.1:{front}\n    filter cache c\n"
                                "    http-request cache-use c\n    http-response cache-store c\n    default_backend b\n"
                                f"backend b\n    mode http\n    server s 127.0.0.1:{origins(handle).port}\n"))
    assert "<small>cache: " not in get(port, "/stats")[2]
    for _ in range(3):
        assert get(front, "/x")[2] == "ok"
        d.until("sessions le 1")
    headings = re.findall(r"<header id=h\d+><h2 id=.px-.*", get(port, "/stats")[2])
    assert [h for h in headings if "cache:" in h] == [h for h in headings if "px-f" in h]
    assert "<small>cache: 2 of 3 requests, 66&nbsp;%</small>" in next(h for h in headings if "px-f" in h)


def test_headings_show_compression(daemon):
    port, front = free_port(), free_port()
    daemon(page(port, lines=f"frontend f\n    mode http\n    bind 127.0.0.1:{front}\n    default_backend b\n"
                            f"backend b\n    mode http\n    compression algo gzip\n    server s 127.0.0.1:{port} pool-max-conn 0\n"))
    assert "compressed" not in get(port, "/stats")[2]
    with connect(front) as s:
        s.sendall(b"GET /stats HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
        assert b"Content-Encoding: gzip" in recv_all(s)
    heading = re.search(r"<header id=h\d+><h2 id=.px-f.*", get(port, "/stats")[2])[0]
    assert re.search(r"<small>compressed [\d.]+\skB to [\d.]+\skB</small>", heading), heading


# --- forms ---

@pytest.fixture
def forms(daemon, origins):
    """Two pages, one with permission, and a backend."""
    port, other = free_port(), free_port()
    o = origins()
    d = daemon(page(port, "    stats admin if TRUE\n") +
               f"frontend readonly\n    mode http\n    bind 127.0.0.1:{other}\n    stats uri /stats\n"
               "    stats admin if { src 192.0.2.1 }\n"
               f"backend b\n    server a 127.0.0.1:{o.port}\n    server z 127.0.0.1:{o.port} check\n",
               extra="nbthread 4\n    tune.listener.multi-queue fair")
    d.port, d.other = port, other
    return d


def status_of(d, name="a"):
    return next(r["status"] for r in rows(get(d.port, "/stats;csv")[2]) if r["svname"] == name)


def post(port, body, headers=None, path="/stats"):
    """The word of the result."""
    status, fields, _ = get(port, path, "POST", body, headers)
    assert status == 303 and fields["Location"].startswith("/stats;st=")
    return fields["Location"].split("=")[1].split(";")[0]


def test_forms_change_servers_from_any_worker(forms):
    for _ in range(8):
        assert post(forms.port, "s=a&action=drain&b=b") == "DONE"
        assert status_of(forms) == "DRAIN"
        assert post(forms.port, "s=a&s=z&action=maint&b=%23" + forms.admin("show stat b 4 -1").splitlines()[1]
                    .split(",")[27]) == "DONE"
        assert status_of(forms) == status_of(forms, "z") == "MAINT"
        assert post(forms.port, "s=a&s=z&action=ready&b=b") == "DONE"
        assert status_of(forms) == "no check"
    assert post(forms.other, "s=a&action=drain&b=b") == "DENY"
    assert post(forms.port, "s=q&action=drain&b=b") == "ERRP"
    assert post(forms.port, "s=a&action=drain&b=b&x=" + "x" * 20000) == "EXCD"
    assert get(forms.port, "/stats", "PUT", "s=a&action=maint&b=b")[0] == 503


SAME, OTHER = "http://127.0.0.1:{}", "http://127.0.0.1.evil.example:{}"


@pytest.mark.parametrize("headers,result", [
    ({}, "DONE"),
    ({"Origin": SAME}, "DONE"),
    ({"Origin": SAME, "Sec-Fetch-Site": "same-origin", "Referer": SAME + "/stats"}, "DONE"),
    ({"Sec-Fetch-Site": "none"}, "DONE"),
    ({"Referer": SAME + "/stats?x"}, "DONE"),
    ({"Origin": "null"}, "DENY"),
    ({"Origin": ""}, "DENY"),
    ({"Origin": OTHER}, "DENY"),
    ({"Origin": "http://127.0.0.1"}, "DENY"),
    ({"Origin": "http://127.0.0.1:1"}, "DENY"),
    ({"Origin": SAME, "Sec-Fetch-Site": "cross-site"}, "DENY"),
    ({"Origin": SAME, "Sec-Fetch-Site": "same-site"}, "DENY"),
    ({"Sec-Fetch-Site": "Same-Origin"}, "DENY"),
    ({"Referer": OTHER + "/stats"}, "DENY"),
    ({"Referer": "http://evil.example/http://127.0.0.1:{}"}, "DENY"),
    ({"Referer": "about:blank"}, "DENY"),
    ({"Origin": OTHER, "Referer": SAME + "/"}, "DENY"),
])
def test_forms_of_other_sites_are_refused(forms, headers, result):
    named = {name: value.format(forms.port) for name, value in headers.items()}
    assert post(forms.port, "s=a&action=maint&b=b", named) == result
    assert status_of(forms) == ("MAINT" if result == "DONE" else "no check")


def test_sessions_of_all_workers_are_ended(daemon, origins):
    port, front = free_port(), free_port()
    o = origins()
    d = daemon(page(port, "    stats admin if TRUE\n") + f"listen l\n    bind 127.0.0.1:{front}\n"
               f"    timeout client 1h\n    timeout server 1h\n    server s 127.0.0.1:{o.port}\n", extra="nbthread 4\n    tune.listener.multi-queue fair")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(front)) for _ in range(40)]
        for c in clients:
            c.sendall(b"x")
            assert c.recv(1) == b"x"
        assert post(port, "s=s&action=shutdown&b=l") == "DONE"
        for c in clients:
            with contextlib.suppress(ConnectionResetError):
                assert c.recv(1) == b""
    assert d.info()["Fsm_bugs"] == "0"


def test_forms_arrive_in_pieces(forms):
    """Answered when they are complete."""
    body = b"s=a&action=drain&b=b"
    with connect(forms.port) as s:
        s.sendall(b"POST /stats HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert s.recv(100).startswith(b"HTTP/1.1 100 ")
        for i in range(len(body)):
            s.sendall(body[i:i + 1])
            forms.until("idle")
        assert b"Location: /stats;st=DONE\r\n" in s.recv(1000)
    assert status_of(forms) == "DRAIN"


def test_users_and_conditions_together(daemon):
    """As in the manual's example."""
    port = free_port()
    d = daemon("userlist u\n    group admin users boss\n    user boss insecure-password b\n"
               "    user clerk insecure-password c\n" +
               page(port, "    acl known http_auth(u)\n    acl boss http_auth_group(u) admin\n"
                          "    stats http-request auth unless known\n    stats admin if boss\n",
                    "backend b\n    server a 127.0.0.1:1\n"))
    d.port = port
    form = "s=a&action=maint&b=b"
    status, headers, _ = get(port, "/stats")
    assert (status, headers["WWW-Authenticate"]) == (401, 'Basic realm="HAProxy Statistics"')
    assert get(port, "/stats", "POST", form)[0] == 401
    assert "<form method=post" not in get(port, "/stats", headers=basic("clerk:c"))[2]
    assert "<form method=post" in get(port, "/stats", headers=basic("boss:b"))[2]
    assert post(port, form, basic("clerk:c")) == "DENY"
    assert post(port, form, basic("boss:b")) == "DONE"
    assert "MAINT" in d.admin("show stat b 4 -1")
