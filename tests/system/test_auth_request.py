"""Forward authentication (http-request auth-request): what the authority and the server see, what the client gets, and that no
request passes that a misbehaving authority has not permitted. The services that people use are in test_recipes.py."""

import asyncio
import contextlib
import os
import random
import socket
import ssl
import threading

import pytest
from certs import Authority
from conftest import WAIT, Origin, free_port, recv_all
from subject import BRIEF, SLOW, only_tacit
from test_conf_played import read_head
from test_h2 import Client

pytestmark = only_tacit

# A hundred thousand with TACIT_SLOW=1 (make slow).
REQUESTS = int(os.environ.get("AUTH_REQUESTS", "100000" if SLOW else "1500"))

DEFAULTS = "defaults\n mode http\n timeout client 1m\n timeout connect 1m\n timeout server 1m\n default-server pool-purge-delay 100ms\n"


def read_answer(s):
    """Reads what the application sends, in however many pieces it comes."""
    data = b""
    while not data.endswith(b"app"):
        got = s.recv(65536)
        assert got, data
        data += got


def values(head, name):
    """The values of the fields of this name."""
    lines = [line.split(":", 1) for line in head.split("\r\n")[1:] if ":" in line]
    return [value.strip() for key, value in lines if key.lower() == name.lower()]


def response(status=200, body=b"", *lines):
    return "\r\n".join([f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}", *lines, "", ""]).encode() + body


class Service:
    """Keeps the heads of its requests; each gets `answer`."""

    def __init__(self, answer):
        self.answer = answer
        self.heads = []
        self.origin = Origin(self.serve)
        self.port = self.origin.port

    def serve(self, conn):
        while head := read_head(conn):
            self.heads.append(head)
            conn.sendall(self.answer)


class Site:
    """A frontend that asks `auth`, with a server behind it."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.app, self.auth = Service(response(200, b"app")), Service(response())

    def run(self, rules, auth="", bind="", more="", server=None):
        self.port = free_port()
        self.process = self.daemon(
            f"{DEFAULTS}frontend f\n bind 127.0.0.1:{self.port} {bind}\n{rules}\n default_backend app\n"
            f"backend app\n server s 127.0.0.1:{self.app.port}\n"
            f"backend auth\n{auth}\n server a 127.0.0.1:{server or self.auth.port}\n{more}")

    def ask(self, target="/", *lines, method="GET", body=b""):
        """Status, head and body of the response."""
        text = "\r\n".join([f"{method} {target} HTTP/1.1", "Host: www.example.org", "Connection: close", *lines, "", ""])
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT) as s:
            s.sendall(text.encode() + body)
            head, _, rest = recv_all(s).partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), rest

    def column(self, proxy, server, name):
        head, *rows = self.process.admin("show stat").strip().split("\n")
        names = head[2:].split(",")
        for row in (dict(zip(names, row.split(","))) for row in rows):
            if (row["pxname"], row["svname"]) == (proxy, server):
                return row[name]
        raise KeyError((proxy, server))

    def close(self):
        self.app.origin.close()
        self.auth.origin.close()


@pytest.fixture
def site(daemon):
    site = Site(daemon)
    yield site
    site.close()


RULE = " http-request auth-request auth /check?by=%[method] copy X-User copy X-Group\n"


def test_what_the_authority_gets(site):
    site.run(RULE)
    status, _, body = site.ask("/a/b?c=d", "Cookie: k=v", "X-Forwarded-For: 6.6.6.6", "X-Original-URI: /public", "Forwarded: for=6.6.6.6",
                               "X-Forwarded-Port: 1", "Content-Type: text/plain", "Content-Length: 4", "If-None-Match: \"x\"",
                               "Range: bytes=0-1", "X-Hop: h", "Expect: 100-continue", "Connection: X-Hop", method="POST", body=b"body")
    assert (status, body) == (200, b"app")
    head, = site.auth.heads
    assert head.split("\r\n")[0] == "GET /check?by=POST HTTP/1.1"
    sent = {name: values(head, name) for name in (
        "Host", "Cookie", "X-Original-Method", "X-Original-URI", "X-Original-URL", "X-Forwarded-Method", "X-Forwarded-Proto",
        "X-Forwarded-Host", "X-Forwarded-URI", "X-Forwarded-For", "X-Real-IP", "X-Auth-Request-Redirect")}
    assert sent == {
        "Host": ["www.example.org"], "Cookie": ["k=v"], "X-Original-Method": ["POST"], "X-Original-URI": ["/a/b?c=d"],
        "X-Original-URL": ["http://www.example.org/a/b?c=d"], "X-Forwarded-Method": ["POST"], "X-Forwarded-Proto": ["http"],
        "X-Forwarded-Host": ["www.example.org"], "X-Forwarded-URI": ["/a/b?c=d"], "X-Forwarded-For": ["127.0.0.1"],
        "X-Real-IP": ["127.0.0.1"], "X-Auth-Request-Redirect": ["/a/b?c=d"]}
    for name in ("Content-Type", "Content-Length", "If-None-Match", "Range", "Expect", "Connection", "Forwarded", "X-Forwarded-Port"):
        assert not values(head, name), name
    # A client cannot hide from the authority what the server gets.
    assert values(head, "X-Hop") == ["h"]
    # The server gets the request as it was.
    head, = site.app.heads
    assert values(head, "X-Hop") == ["h"]
    assert values(head, "X-Forwarded-For") == ["6.6.6.6"] and values(head, "Content-Length") == ["4"]


def test_names_with_underscores(site):
    """CGI and its followers give X_User and X-User one name: neither the authority nor the server may believe a client's."""
    site.run(RULE)
    site.auth.answer = response(200, b"", "X-User: anna")
    mine = ("X_Original_URI: /public", "x_forwarded-for: 6.6.6.6", "X-Real_IP: 6.6.6.6", "X_USER: eve", "X_Group: root", "X_Other: o")
    assert site.ask("/a", *mine)[0] == 200
    head, = site.auth.heads
    assert values(head, "X-Original-URI") == ["/a"] and values(head, "X_Other") == ["o"]
    for name in ("X_Original_URI", "x_forwarded-for", "X-Real_IP"):
        assert not values(head, name), name
    head, = site.app.heads
    assert values(head, "X-User") == ["anna"] and values(head, "X_Other") == ["o"]
    assert not values(head, "X_USER") and not values(head, "X_Group")


@pytest.mark.parametrize("target, uri", [
    ("http://www.example.org", "/"), ("http://www.example.org?a", "/?a"), ("http://www.example.org/b?c", "/b?c"), ("//x", "//x")])
def test_forms_of_targets(site, target, uri):
    site.run(RULE)
    assert site.ask(target)[0] == 200
    head, = site.auth.heads
    assert values(head, "X-Original-URI") == [uri] and values(head, "X-Original-URL") == ["http://www.example.org" + uri]


def test_a_path_that_is_none(site):
    """A format that gives no valid target is an error, and so is a backend that is disabled."""
    site.run(" http-request auth-request auth /%[req.hdr(x-a)] if { path / }\n http-request auth-request off /check",
             more="backend off\n disabled\n server s 127.0.0.1:1\n")
    assert site.ask("/", "X-A: b c")[0] == 502 and not site.auth.heads
    assert site.ask("/x")[0] == 502 and not site.app.heads


def test_names_that_are_sent(site):
    site.run(" http-request set-header X-Forwarded-Proto https\n http-request set-header X-Forwarded-Port 443\n"
             " http-request auth-request auth /check method HEAD header authorization",
             auth=" http-request set-header X-Asked-By tacit")
    site.ask("/", "Authorization: Basic eA==", "Cookie: k=v", "X-Forwarded-Port: 80")
    head, = site.auth.heads
    assert head.startswith("HEAD /check HTTP/1.1\r\n")
    assert values(head, "Authorization") == ["Basic eA=="] and not values(head, "Cookie")
    # Fields that rules have set are sent as they are, and the backend's rules see the subrequest.
    assert values(head, "X-Forwarded-Proto") == ["https"] and values(head, "X-Forwarded-Port") == ["443"]
    assert values(head, "X-Asked-By") == ["tacit"]


def test_fields_of_a_permission(site):
    site.run(RULE + " http-request set-header X-Seen %[var(txn.auth_response.x_user)]/%[var(txn.auth_status)]")
    site.auth.answer = response(202, b"", "X-User: anna", "X-Group: a", "X-Group: b", "X-Other: o")
    assert site.ask("/", "X-User: eve", "x-user: mallory", "X-Other: mine")[0] == 200
    head = site.app.heads[-1]
    assert values(head, "X-User") == ["anna"] and values(head, "X-Group") == ["a", "b"]
    assert values(head, "X-Other") == ["mine"] and values(head, "X-Seen") == ["anna/202"]
    # The client's own are removed, also when the authority has none.
    site.auth.answer = response(200)
    assert site.ask("/", "X-User: eve", "X-Group: root")[0] == 200
    head = site.app.heads[-1]
    assert not values(head, "X-User") and not values(head, "X-Group") and values(head, "X-Seen") == ["/200"]


@pytest.mark.parametrize("status", [401, 403, 301, 302, 303, 307, 308])
def test_a_denial_goes_to_the_client(site, status):
    site.run(RULE)
    site.auth.answer = response(status, b"why", "WWW-Authenticate: Basic", "Location: /in", "Set-Cookie: a=b", "Set-Cookie: c=d")
    got, head, body = site.ask()
    assert (got, body) == (status, b"why")
    assert values(head, "Set-Cookie") == ["a=b", "c=d"] and values(head, "Location") == ["/in"]
    assert values(head, "WWW-Authenticate") == ["Basic"] and values(head, "Content-Length") == ["3"]
    assert not site.app.heads
    # The client gets no body for HEAD.
    assert site.ask(method="HEAD")[2] == b""


@pytest.mark.parametrize("answer", [
    response(304), response(300), response(400), response(404), response(500), response(503), b"HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    b"HTTP/1.1 200 x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", b"hello\r\n\r\n", response(200, b"a" * 70000)])
def test_anything_else_is_an_error(site, answer):
    site.run(RULE)
    site.auth.answer = answer
    assert site.ask()[0] == 502
    assert not site.app.heads


def test_on_error(site):
    site.run(" http-request auth-request auth /check on-error 503", server=free_port())
    assert site.ask()[0] == 503
    assert not site.app.heads


def test_login(site):
    site.run(" http-request auth-request auth /check login %[var(txn.auth_response.location)]%[req.hdr(x-login)]")
    site.auth.answer = response(401, b"why", "Set-Cookie: a=b", "WWW-Authenticate: x")
    status, head, body = site.ask("/", "X-Login: /in?rd=/")
    assert (status, body) == (302, b"")
    assert values(head, "Location") == ["/in?rd=/"] and values(head, "Set-Cookie") == ["a=b"]
    # Without a URL the answer is passed on; other denials are.
    assert site.ask()[0] == 401
    site.auth.answer = response(401, b"", "Location: https://portal/")
    assert values(site.ask()[1], "Location") == ["https://portal/"]
    site.auth.answer = response(403)
    assert site.ask("/", "X-Login: /in")[0] == 403


def test_bodies_without_a_length(site):
    """Chunks, the end of a connection, and bodies longer than a buffer."""
    site.run(RULE)
    site.auth.answer = b"HTTP/1.1 403 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwhy\r\n0\r\n\r\n"
    assert site.ask()[::2] == (403, b"why")
    site.auth.answer = response(403, b"x" * 20000, "Content-Type: text/html", "Set-Cookie: a=b")
    status, head, body = site.ask()
    assert (status, body) == (403, b"")
    assert values(head, "Set-Cookie") == ["a=b"] and not values(head, "Content-Type")
    site.auth.answer = b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\n"
    assert site.ask()[0] == 200
    site.auth.answer = b"HTTP/1.1 103 Hint\r\nLink: </a>\r\n\r\n" + response(200, b"x" * 20000)
    assert site.ask()[0] == 200


def test_several_rules(site):
    site.run(" http-request auth-request auth /one if { path_beg /p }\n http-request auth-request auth /two copy X-User unless { path /p/1 }")
    site.auth.answer = response(200, b"", "X-User: anna")
    for path, asked in (("/", ["/two"]), ("/p/1", ["/one"]), ("/p/2", ["/one", "/two"])):
        site.auth.heads.clear()
        assert site.ask(path)[0] == 200
        assert [head.split()[1] for head in site.auth.heads] == asked


def test_a_condition_counts_once(site):
    """A condition that is false when the answer comes does not skip the denial."""
    site.run(" http-request auth-request auth /check if { nbsrv(flag) gt 0 }", more="backend flag\n server x 127.0.0.1:1\n")
    asked = []

    def serve(conn):
        while head := read_head(conn):
            asked.append(head)
            site.process.admin("disable server flag/x")
            conn.sendall(response(403))

    site.auth.origin._handle = serve  # noqa: SLF001
    assert site.ask()[0] == 403
    assert len(asked) == 1 and not site.app.heads


def test_connection_hides_no_field_of_a_rule(site):
    site.run(" http-request set-header X-Role admin\n http-request auth-request auth /check header X-Role\n")
    assert site.ask("/", "Connection: X-Role")[0] == 200
    assert values(site.auth.heads[0], "X-Role") == ["admin"]


def test_an_error_page_permits_nothing(site, tmp_path):
    page = tmp_path / "200.http"
    page.write_text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    site.run(RULE, auth=f" errorfile 503 {page}\n http-request deny deny_status 503")
    assert site.ask()[0] == 502
    assert not site.app.heads


def test_the_backend_counts(site):
    site.run(RULE, auth=" http-reuse always")
    with socket.create_connection(("127.0.0.1", site.port), timeout=WAIT) as s:
        for _ in range(3):
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            read_answer(s)
    site.process.until("sessions eq 0", "idle")
    assert site.column("auth", "a", "stot") == "3" and site.column("auth", "BACKEND", "hrsp_2xx") == "3"
    assert site.column("f", "FRONTEND", "req_tot") == "3" and site.auth.origin.count == 1


def calls(site):
    """System calls so far, by name."""
    rows = [line.split() for line in site.process.admin("show syscalls").splitlines() if line and line[0] != "#"]
    other = ("total", "requests", "connections")
    return {row[0]: int(row[1]) for row in rows if row[1].isdigit() and row[0] not in other and "vdso" not in row}


def test_system_calls(site):
    """A subrequest on an idle connection costs one send and one receive, and waits for the authority and for the server."""
    n = 200
    site.run(" http-request auth-request auth /check if { path /p }")
    cost = {}
    with socket.create_connection(("127.0.0.1", site.port), timeout=WAIT) as s:
        for path in ("/p", "/", "/p"):
            before = calls(site)
            for _ in range(n):
                s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                read_answer(s)
            after = calls(site)
            cost[path] = {name: after[name] - before.get(name, 0) for name in after}
    more = {name: (cost["/p"][name] - cost["/"].get(name, 0)) / n for name in cost["/p"]}
    assert abs(more["sendto"] - 1) < 0.05 and abs(more["recvfrom"] - 1) < 0.05, more
    # Both sides of the subrequest, of which one has no descriptor.
    assert sum(more.values()) / 2 <= 2.2, more


def test_http2(site):
    """Clients of HTTP/2: the streams of a connection are asked about one by one."""
    site.run(RULE, bind="proto h2")
    site.auth.answer = response(200, b"", "X-User: anna")
    client = Client(site.port)
    numbers = [client.send(path=f"/{i}", fields=[("x-user", "eve"), ("x-forwarded-for", "6.6.6.6")]) for i in range(5)]
    while not all(client.streams[n]["end"] for n in numbers):
        assert client.step()
    assert [client.streams[n]["head"][":status"] for n in numbers] == ["200"] * 5
    assert all(values(head, "X-User") == ["anna"] for head in site.app.heads) and len(site.app.heads) == 5
    assert sorted(values(head, "X-Original-URL")[0] for head in site.auth.heads) == [f"http://a.test/{i}" for i in range(5)]
    assert {v for head in site.auth.heads for v in values(head, "X-Forwarded-For")} == {"127.0.0.1"}
    site.auth.answer = response(403, b"why")
    n = client.send()
    while not client.streams[n]["end"]:
        assert client.step()
    assert (client.streams[n]["head"][":status"], client.streams[n]["body"]) == ("403", b"why")


@pytest.mark.parametrize("major", ["1", "2"])
def test_the_version_is_the_client_s(site, major):
    site.run(RULE, bind="proto h2" if major == "2" else "", auth=" http-request set-header X-Major %[fc_http_major]")
    site.auth.answer = response(200, b"", "X-User: anna")
    if major == "2":
        client = Client(site.port)
        n = client.send()
        while not client.streams[n]["end"]:
            assert client.step()
    else:
        assert site.ask()[0] == 200
    assert [values(head, "X-Major") for head in site.auth.heads] == [[major]]


def test_a_stream_that_is_reset(site):
    """Its subrequest ends, too."""
    site.run(RULE, bind="proto h2")
    asked, ended = threading.Event(), threading.Event()

    def hold(conn):
        read_head(conn)
        asked.set()
        with contextlib.suppress(ConnectionError):
            conn.recv(1)
        ended.set()

    site.auth.origin._handle = hold  # noqa: SLF001
    client = Client(site.port)
    n = client.send()
    assert asked.wait(WAIT)
    client.conn.reset_stream(n)
    client.flush()
    assert ended.wait(WAIT)
    assert not site.app.heads


def test_tls(site, tmp_path):
    """The scheme of the request is that of the client; the authority may be asked over TLS."""
    certs = Authority(tmp_path / "ca")
    certs.make("site.pem", "www.example.org", ["www.example.org"])
    port = free_port()
    site.run(" http-request auth-request secure /check", bind=f"ssl crt {tmp_path}/ca/site.pem",
             more=f"backend secure\n server a 127.0.0.1:{port} ssl verify none\n"
                  f"listen authority\n bind 127.0.0.1:{port} ssl crt {tmp_path}/ca/site.pem\n server a 127.0.0.1:{site.auth.port}\n")
    context = ssl.create_default_context(cafile=str(certs.pem))
    for status in (200, 403):
        site.auth.answer = response(status)
        with context.wrap_socket(socket.create_connection(("127.0.0.1", site.port), timeout=WAIT),
                                 server_hostname="www.example.org") as s:
            s.sendall(b"GET /a HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n")
            assert int(recv_all(s).split()[1]) == status
    assert {(values(head, "X-Forwarded-Proto")[0], values(head, "X-Original-URL")[0]) for head in site.auth.heads} == {
        ("https", "https://www.example.org/a")}


# --- an authority that misbehaves ---

GOOD = [response(), response(204), b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"]
BAD = [response(401), response(403, b"no"), response(302, b"", "Location: /in"), response(500), response(404), response(304),
       b"HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nhalf", b"HTTP/1.1 200 x\r\nContent-Le", b"HTTP/1.1 200", b"", b"\0\0\0\r\n\r\n",
       b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       b"HTTP/1.1 200 x\r\nContent-Length: -1\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n", b"HTTP/1.1 100 x\r\n\r\n" * 3]


class Crowd:
    """Clients, a server and an authority in one loop. Requests have a number each. Time passes when an answer is held: all that
    wait then are too late."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.permitted, self.passed, self.answered = set(), set(), {}

    async def head_of(self, reader):
        try:
            text = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return int(values(text, "X-N")[0])

    async def app(self, reader, writer):
        while (n := await self.head_of(reader)) is not None:
            self.passed.add(n)
            writer.write(response(200, b"app"))
        writer.close()

    async def authority(self, reader, writer):
        while (n := await self.head_of(reader)) is not None:
            luck = self.dice.random()
            if luck < 0.5:
                self.permitted.add(n)
                writer.write(self.dice.choice(GOOD))
                continue
            writer.write(self.dice.choice(BAD))
            if luck < 0.6:
                writer.transport.abort()
            elif luck < 0.65:
                # The answer comes when no request waits any more.
                self.daemon.expire()
                await reader.read()
                writer.write(response())
            break
        writer.close()

    async def client(self, port, numbers):
        reader = writer = None
        for n in numbers:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(f"GET / HTTP/1.1\r\nHost: a\r\nX-N: {n}\r\n\r\n".encode())
                if self.dice.random() < 0.05:
                    writer.transport.abort()
                    writer = None
                    continue
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await reader.readexactly(int((values(head, "Content-Length") or ["0"])[0]))
                self.answered[n] = int(head.split()[1])
                if not values(head, "Connection"):
                    continue
            if writer:
                writer.close()
            writer = None
        if writer:
            writer.close()

    async def run(self, start, n):
        app = await asyncio.start_server(self.app, "127.0.0.1", 0)
        authority = await asyncio.start_server(self.authority, "127.0.0.1", 0)
        self.daemon, port = start(*(s.sockets[0].getsockname()[1] for s in (app, authority)))
        await asyncio.gather(*(self.client(port, range(i, n, 32)) for i in range(32)))
        app.close()
        authority.close()


def test_a_misbehaving_authority_permits_nothing(daemon):
    crowd, port = Crowd(1), free_port()

    def start(app, authority):
        d = daemon(f"{DEFAULTS}frontend f\n bind 127.0.0.1:{port}\n http-request auth-request auth /check\n default_backend app\n"
                   f"backend app\n server s 127.0.0.1:{app}\n"
                   f"backend auth\n timeout server {BRIEF}\n timeout queue {BRIEF}\n retries 1\n server a 127.0.0.1:{authority} maxconn 24\n"
                   .replace(" 1m\n", " 1h\n"), clock=True)
        return d, port

    asyncio.run(crowd.run(start, REQUESTS))
    assert crowd.passed <= crowd.permitted
    assert crowd.passed and len(crowd.answered) > REQUESTS * 0.8
    for n, status in crowd.answered.items():
        assert (status == 200) == (n in crowd.passed), (n, status)
