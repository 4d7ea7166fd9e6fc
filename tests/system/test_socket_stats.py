"""`option socket-stats`: a row for each listening socket in show stat, on the statistics page and among the metrics.
The rows expected here are what HAProxy 2.6 shows for the same configuration and requests, but for bytes."""

import contextlib
import csv
import io
import re

import pytest
from conftest import connect, free_ports, recv_all
from facts import becomes
from subject import only_tacit

pytestmark = only_tacit
LISTENER = 8
COLUMNS = "svname scur smax slim stot dreq dresp ereq status sid dcon dses wrew eint".split()


def rows(p, px="-1", sid="-1"):
    text = p.admin(f"show stat {px} {LISTENER} {sid}").lstrip("# ")
    out = list(csv.DictReader(io.StringIO(text.strip())))
    assert all(r["type"] == "3" for r in out)
    return out


def shown(p, px="-1", columns=COLUMNS):
    return [" ".join(r[c] or "-" for c in columns) for r in rows(p, px)]


def becomes_shown(p, columns, rows):
    """Nobody reports how many connections a socket has."""
    becomes(lambda: shown(p, columns=columns), rows)


def ask(port, path="/", head="Host: a\r\n"):
    with connect(port) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        return recv_all(s).decode()


@pytest.fixture
def web(daemon, tmp_path):
    """Sockets with and without a name, an id and a limit, of a frontend in mode http; its ports."""
    ports = free_ports(8)
    a, b, c, d, e, f, g, h = ports
    p = daemon(f"""
frontend web
 mode http
 option socket-stats
 bind 127.0.0.1:{a}
 bind 127.0.0.1:{b},127.0.0.1:{c} name two
 bind 127.0.0.1:{d} name three id 9 maxconn 5
 bind 127.0.0.1:{e} accept-proxy
 bind unix@{tmp_path}/ux.sock name ux
 tcp-request connection reject if {{ dst_port {f} }}
 bind 127.0.0.1:{f}
 tcp-request session reject if {{ dst_port {g} }}
 bind 127.0.0.1:{g}
 http-request deny if {{ path /deny }}
 http-request use-service prometheus-exporter if {{ path /metrics }}
 stats uri /stats
 stats show-legends
 http-request return status 200 if !{{ path_beg /stats }}
frontend none
 mode http
 bind 127.0.0.1:{h}
""")
    return p, ports


def test_each_socket_has_a_row(web):
    p, (a, b, c, d, e, f, g, h) = web
    ask(a)
    ask(a)
    ask(b, "/deny")
    ask(c, "/", "Bad Name: x\r\n")
    ask(h)
    for port in e, f, g:
        with contextlib.suppress(ConnectionError):
            ask(port)
    p.until("sessions eq 0")
    assert shown(p, "web") == [
        "sock-1 0 1 0 2 0 0 0 OPEN 1 0 0 0 0",
        "two 0 1 0 1 1 0 0 OPEN 2 0 0 0 0",
        "two 0 1 0 1 0 0 1 OPEN 3 0 0 0 0",
        "three 0 0 5 0 0 0 0 OPEN 9 0 0 0 0",
        "sock-5 0 1 0 1 0 0 0 OPEN 5 0 0 0 0",
        "ux 0 0 0 0 0 0 0 OPEN 6 0 0 0 0",
        "sock-7 0 0 0 1 0 0 0 OPEN 7 1 0 0 0",
        "sock-8 0 0 0 1 0 0 0 OPEN 8 0 1 0 0",
    ]
    first, unix = rows(p, "web")[0], rows(p, "web")[5]
    assert int(first["bin"]) > 0 and int(first["bout"]) > 0
    assert first["addr"] == f"127.0.0.1:{a}" and unix["addr"] == "unix"
    assert {k for k, v in first.items() if v and k} == set(
        "pxname svname scur smax slim stot bin bout dreq dresp ereq status pid iid sid type addr mode dcon dses wrew "
        "eint - ssl_sess ssl_reused_sess ssl_failed_handshake".split())
    assert rows(p, "none") == []


def test_rows_are_chosen_by_type_and_id(web):
    p, _ = web
    assert [r["svname"] for r in rows(p, "web", "9")] == ["three"]
    assert "sock-1" not in p.admin("show stat web 7 -1") and "web,sock-1," in p.admin("show stat web 9 1")
    text = p.admin("show stat")
    names = [line.split(",")[1] for line in text.split("\n") if line.startswith("web,")]
    assert names == ["FRONTEND", "sock-1", "two", "two", "three", "sock-5", "ux", "sock-7", "sock-8"]
    assert "none,sock" not in text
    typed = p.admin(f"show stat web {LISTENER} 9 typed").split("\n")
    iid = typed[0].split(".")[1]
    assert typed[1] == f"L.{iid}.9.1.svname.1:KNS:str:three"
    assert f'"objType":"Listener","proxyId":{iid},"id":9,' in p.admin(f"show stat web {LISTENER} 9 json")


def test_counters_are_cleared(web):
    p, (a, *_) = web
    ask(a)
    p.until("sessions eq 0")
    p.admin("clear counters")
    assert shown(p, "web")[0] == "sock-1 0 0 0 1 0 0 0 OPEN 1 0 0 0 0"
    p.admin("clear counters all")
    assert shown(p, "web")[0] == "sock-1 0 0 0 0 0 0 0 OPEN 1 0 0 0 0"
    assert rows(p, "web")[0]["bin"] == rows(p, "web")[0]["bout"] == "0"


def test_metrics_of_sockets(web):
    p, (a, *_) = web
    text = ask(a, "/metrics?scope=listener").split("\r\n\r\n", 1)[1]
    names = re.findall(r"# TYPE (\S+) (\S+)", text)
    assert names == [(f"haproxy_listener_{n}", t) for n, t in (
        ("current_sessions", "gauge"), ("max_sessions", "gauge"), ("limit_sessions", "gauge"),
        ("sessions_total", "counter"), ("bytes_in_total", "counter"), ("bytes_out_total", "counter"),
        ("requests_denied_total", "counter"), ("responses_denied_total", "counter"),
        ("request_errors_total", "counter"), ("status", "gauge"), ("denied_connections_total", "counter"),
        ("denied_sessions_total", "counter"), ("failed_header_rewriting_total", "counter"),
        ("internal_errors_total", "counter"))]
    assert 'haproxy_listener_sessions_total{proxy="web",listener="sock-1"} 1\n' in text
    assert 'haproxy_listener_limit_sessions{proxy="web",listener="three"} 5\n' in text
    assert [line.rsplit(",", 1)[1] for line in text.split("\n") if 'status{proxy="web",listener="three"' in line] == [
        'state="WAITING"} 0', 'state="OPEN"} 1', 'state="FULL"} 0']
    assert "sock-" not in ask(a, "/metrics?scope=frontend")


def test_the_page_shows_sockets(web):
    p, (a, *_) = web
    page = ask(a, "/stats")
    rows_of = re.findall(r'<tr id=\S+ class="sock open"[^>]*><td><a href="[^"]*"(?: title="(.*?)")?>(.*?)</a>', page)
    assert [r[1] for r in rows_of] == ["sock-1", "two", "two", "three", "sock-5", "ux", "sock-7", "sock-8"]
    assert rows_of[0][0] == f"127.0.0.1:{a}"
    assert ",three," in ask(a, "/stats;csv") and '"objType":"Listener"' in ask(a, "/stats;json")


def test_a_socket_that_clients_wait_for(daemon):
    """FULL by its own maxconn, WAITING by that of the frontend."""
    a, b = free_ports(2)
    p = daemon(f"""
listen f
 option socket-stats
 maxconn 3
 bind 127.0.0.1:{a} maxconn 1 thread 1
 bind 127.0.0.1:{b} maxconn 4 thread 1
 server s 127.0.0.1:9 disabled
 tcp-request inspect-delay 1h
 tcp-request content accept if {{ req.len gt 9 }}
""")
    columns = "scur slim status".split()
    assert shown(p, columns=columns) == ["0 1 OPEN", "0 4 OPEN"]
    with connect(a):
        becomes_shown(p, columns, ["1 1 FULL", "0 4 OPEN"])
        with connect(b), connect(b):
            becomes_shown(p, columns, ["1 1 FULL", "2 4 WAITING"])
    becomes_shown(p, columns, ["0 1 OPEN", "0 4 OPEN"])


def test_the_highest_number_is_of_all_workers(daemon):
    port, = free_ports(1)
    p = daemon(f"""
listen f
 option socket-stats
 bind 127.0.0.1:{port}
 server s 127.0.0.1:9 disabled
 tcp-request inspect-delay 1h
 tcp-request content accept if {{ req.len gt 9 }}
""", extra="nbthread 3\n tune.listener.multi-queue fair")
    clients = []
    for n in range(1, 13):
        clients.append(connect(port))
        becomes_shown(p, ["scur", "smax"], [f"{n} {n}"])
    for s in clients:
        s.close()
    becomes_shown(p, ["scur", "smax"], ["0 12"])


def test_without_the_option_there_are_none(daemon):
    a, b = free_ports(2)
    p = daemon(f"""
defaults
 timeout client 1m
 option socket-stats
frontend f
 no option socket-stats
 bind 127.0.0.1:{a}
frontend g
 bind 127.0.0.1:{b}
""")
    assert [r["pxname"] for r in rows(p)] == ["g"]
