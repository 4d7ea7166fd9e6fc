"""Fetches of a session: last_rule_*, cur_*_timeout, dst_conn, capture.req.* in content rules. The values are those of HAProxy
2.6 for the same rules."""

import pytest
from conftest import connect, free_ports, recv_all
from subject import only_tacit

pytestmark = only_tacit


def ask(port, path="/"):
    with connect(port) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        return recv_all(s).decode()


def field(answer, name):
    return next((line.split(": ", 1)[1] for line in answer.split("\r\n") if line.startswith(f"{name}: ")), None)


def answer_once(c):
    c.recv(4000)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize("rule, is_named", [
    ("http-request set-header a b", False), ("http-request allow", True), ("http-request deny", True),
    ("http-request return status 200", True), ("http-request redirect location /", True), ("redirect location /", False),
    ("tcp-request content accept", True), ("http-response allow", True), ("http-response deny", True),
    ("tcp-request connection accept", False),
])
def test_the_last_rule_is_named(daemon, origins, rule, is_named):
    port, = free_ports(1)
    origin = origins(answer_once)
    p = daemon(f"""frontend f
 bind 127.0.0.1:{port}
 {rule}
 mode http
 default_backend b
 http-after-response set-header line %[last_rule_line]
 http-after-response set-header file %[last_rule_file]
backend b
 mode http
 server s 127.0.0.1:{origin.port}
""")
    answer = ask(port)
    lines = p.cfg.read_text().split("\n")
    if is_named:
        assert lines[int(field(answer, "line")) - 1].strip() == rule
        assert field(answer, "file") == str(p.cfg)
    else:
        assert field(answer, "line") == "" and field(answer, "file") == ""


def test_current_timeouts(daemon, origins):
    port, = free_ports(1)
    origin = origins(answer_once)
    daemon(f"""listen l
 mode http
 bind 127.0.0.1:{port}
 timeout server 61234
 timeout tunnel 62345
 http-request set-timeout server 63s if {{ path /set }}
 http-response set-header t %[cur_server_timeout]/%[cur_tunnel_timeout]
 http-after-response set-header u %[cur_server_timeout]
 http-request return status 200 if {{ path /local }}
 server s 127.0.0.1:{origin.port}
""")
    assert field(ask(port), "t") == "61234/62345"
    assert field(ask(port, "/set"), "t") == "63000/62345"
    assert field(ask(port, "/local"), "u") == "0"


def test_connections_of_the_socket(daemon):
    a, b = free_ports(2)
    p = daemon(f"""frontend f
 mode http
 bind 127.0.0.1:{a}
 bind 127.0.0.1:{b}
 tcp-request connection set-var(sess.n) dst_conn
 http-request return status 200 hdr n %[dst_conn]/%[var(sess.n)]
""")
    assert field(ask(a), "n") == "1/1"
    with connect(a), connect(a):
        p.until("sessions eq 2")
        assert field(ask(a), "n") == "3/3"
        assert field(ask(b), "n") == "1/1"


def test_no_cookie_is_captured(daemon):
    """tune.http.cookielen 0."""
    port, = free_ports(1)
    p = daemon(f"""frontend f
 mode http
 bind 127.0.0.1:{port}
 capture cookie a len 9
 capture request header Host len 9
 http-request return status 200 hdr n %[capture.req.hdr(0)]
""", extra="tune.http.cookielen 0")
    assert field(ask(port), "n") == "a"
    assert "truncating capture length to 0 bytes" in p.stderr


def test_captures_in_content_rules(daemon):
    port, = free_ports(1)
    daemon(f"""frontend f
 mode http
 bind 127.0.0.1:{port}
 tcp-request content set-var(txn.m) capture.req.method
 tcp-request content set-var(txn.u) capture.req.uri
 http-request return status 200 hdr m %[var(txn.m)]:%[var(txn.u)]
""")
    assert field(ask(port, "/x?y"), "m") == "GET:/x?y"
