"""The recipes of tacit-guide(7): each configuration of conf/recipes forwards what its first lines promise. Addresses are
replaced by addresses of the loopback network, ports below 1024 and files by our own."""

import base64
import contextlib
import re
import socket
import ssl
from pathlib import Path

import facts
import h2.config
import h2.connection
import h2.events
import pytest
from certs import Authority as CertAuthority
from conftest import WAIT, Origin, admin, dumpable, free_network, recv_all
from mail_server import MailServer

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "conf/recipes"


def head_of(conn):
    """A request's head, or None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        got = conn.recv(4096)
        if not got:
            return None
        data += got
    return data.decode()


class Recipe:
    """A recipe that runs, with its servers on a part of the loopback network of its own."""

    def __init__(self, daemon, directory, stack):
        self.daemon, self.dir, self.stack = daemon, directory, stack
        self.net, self.far = free_network(), free_network()
        self.heads = {}    # name of the server: the heads of requests that it got
        self.bad = set()   # servers that fail their checks

    def server(self, name, host, port, handle=None, net=None):
        self.heads[name] = []

        def serve(conn):
            while head := head_of(conn):
                if "GET /health" in head:
                    conn.sendall(b"HTTP/1.1 %d x\r\nContent-Length: 0\r\n\r\n" % (500 if name in self.bad else 200))
                    continue
                self.heads[name].append(head)
                conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + name.encode())
                return

        origin = Origin(handle or serve, (f"{net or self.net}.{host}", port))
        self.stack.callback(origin.close)

    def run(self, name, node=1, changed=("", ""), **files):
        """Starts the recipe on a node, with a text changed; files are those that stand in /etc/tacit. Returns the process."""
        text = (RECIPES / name).read_text()
        text = re.sub(r"\tstats socket .*\n|\tlog .*\n", "", text)
        text = text.replace("192.0.2.0/24", "127.0.0.0/8").replace("192.0.2.", self.net + ".")
        text = text.replace("198.51.100.", self.far + ".")
        text = re.sub(r"bind :(\d+)", lambda m: f"bind {self.net}.{node}:{8000 + int(m[1])}", text)
        text = text.replace("default-server check", "default-server check inter 40ms").replace(" check\n", " check inter 40ms\n")
        # A server that is late because the machine is busy is not down, no client is, and no period of a rate ends meanwhile.
        text = text.replace("\ttimeout connect", "\ttimeout check 1m\n\ttimeout connect")
        text = re.sub(r"timeout (connect|client|server|http-request) \d+s", r"timeout \1 1m", text)
        text = re.sub(r"(req_rate)\(\d+[smh]\)", r"\1(1h)", text)
        for path in re.findall(r"/etc/tacit/([a-z./]+)", text):
            ours = files.get(path.strip("/").split(".")[0]) or RECIPES / path
            text = text.replace(f"/etc/tacit/{path}", str(ours))
        text = text.replace(*changed)
        sock = self.dir / f"admin{node}.sock"
        self.sock = str(sock)
        return self.daemon(dumpable(text, f"stats socket {sock} level admin"), raw=True)

    def connect(self, port=8080, name=None, host=1):
        s = socket.create_connection((f"{self.net}.{host}", port), timeout=WAIT)
        if not name:
            return s
        context = ssl.create_default_context(cafile=str(self.ca))
        return context.wrap_socket(s, server_hostname=name)

    def ask(self, target="/", port=8080, name=None, host="www.example.org", node=1, **fields):
        """Status, header fields (lower case) and body of the response to a request on a connection of its own."""
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}", "Connection: close"]
        lines += [f"{k.replace('_', '-')}: {v}" for k, v in fields.items()]
        with self.connect(port, name, node) as s:
            s.sendall("\r\n".join([*lines, "", ""]).encode())
            head, _, body = recv_all(s).partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        found = {}
        for line in rest:
            key, _, value = line.partition(": ")
            found[key.lower()] = value
        return int(first.split()[1]), found, body.decode()

    def body(self, target="/", **kw):
        return self.ask(target, **kw)[2]

    def fail(self, name, backend="app"):
        self.bad.add(name)
        facts.until(self.sock, f"server {backend}/{name} state eq DOWN")

    def recover(self, name, backend="app"):
        self.bad.discard(name)
        facts.until(self.sock, f"server {backend}/{name} state eq UP")

    def certificates(self, *names, file=None):
        authority = CertAuthority(self.dir / "ca")
        self.ca = authority.pem
        for name in names:
            authority.make(file or f"{name}.pem", name, [name])
        directory = self.dir / "certs"
        directory.mkdir()
        for pem in (self.dir / "ca").glob("*.pem"):
            if pem != authority.pem:
                pem.rename(directory / pem.name)
        return directory


@pytest.fixture
def recipe(daemon, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Recipe(daemon, tmp_path, stack)


def basic(user):
    return "Basic " + base64.b64encode(user.encode()).decode()


def test_https(recipe):
    certs = recipe.certificates("www.example.org", file="site.pem")
    recipe.server("a", 11, 8080)
    recipe.run("https.cfg", site=certs / "site.pem")
    status, head, _ = recipe.ask("/path?q=1")
    assert (status, head["location"]) == (301, "https://www.example.org/path?q=1")
    assert "strict-transport-security" not in head
    status, head, body = recipe.ask("/path", port=8443, name="www.example.org")
    assert (status, body) == (200, "a")
    assert head["strict-transport-security"] == "max-age=31536000"
    assert "x-forwarded-proto: https" in recipe.heads["a"][0].lower()


def test_names(recipe):
    certs = recipe.certificates("www.example.org", "shop.example.org")
    recipe.server("w", 11, 8080)
    recipe.server("s", 12, 8080)
    recipe.run("names.cfg", certs=f"{certs}/")
    assert recipe.body(port=8443, name="www.example.org") == "w"
    assert recipe.body(port=8443, name="shop.example.org", host="shop.example.org") == "s"
    assert recipe.ask(port=8443, name="www.example.org", host="shop.example.org")[0] == 421
    with pytest.raises(ssl.SSLError):
        recipe.ask(port=8443, name="other.example.org")


def test_sticky(recipe):
    recipe.server("a", 11, 8080)
    recipe.server("b", 12, 8080)
    recipe.run("sticky.cfg")
    _, head, first = recipe.ask()
    assert head["set-cookie"] == f"SRV={first}; path=/; HttpOnly"
    assert "private" in head["cache-control"]
    other = "ab".replace(first, "")
    for name in (first, other):
        _, head, body = recipe.ask(Cookie=f"SRV={name}")
        assert (body, "set-cookie" in head) == (name, False)
    assert "SRV" not in recipe.heads[other][-1]
    # the server fails its checks: the client gets the other one
    recipe.fail(first)
    _, head, body = recipe.ask(Cookie=f"SRV={first}")
    assert (body, head["set-cookie"]) == (other, f"SRV={other}; path=/; HttpOnly")


def test_paths(recipe):
    for name, host in (("w", 11), ("a", 12), ("i", 13)):
        recipe.server(name, host, 8080)
    recipe.run("paths.cfg")
    assert [recipe.body(path) for path in ("/", "/api/v1/x", "/images/1.png", "/images/new/2.png")] == ["w", "a", "i", "w"]
    assert recipe.heads["a"][0].startswith("GET /v1/x HTTP/1.1\r\n")
    admin(recipe.sock, f"set map {RECIPES}/paths.map /images/new/ images")
    assert recipe.body("/images/new/2.png") == "i"


def test_passthrough(recipe):
    certs = recipe.certificates("web.example.org", "mail.example.org")

    def server(name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certs / f"{name}.example.org.pem")

        def handle(conn):
            with contextlib.suppress(ssl.SSLError), context.wrap_socket(conn, server_side=True) as tls:
                tls.sendall(name.encode())
        return handle

    recipe.server("web", 11, 8443, server("web"))
    recipe.server("mail", 12, 8443, server("mail"))
    recipe.run("passthrough.cfg")
    for name in ("web", "mail"):
        with recipe.connect(8443, f"{name}.example.org") as s:
            assert s.recv(100) == name.encode()
    with recipe.connect(8443) as s:
        s.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert s.recv(100) == b""


def test_websocket(recipe):
    def chat(conn):
        head = head_of(conn)
        key = re.search(r"(?i)sec-websocket-key: (\S+)", head)
        assert key
        conn.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
        while got := conn.recv(100):
            conn.sendall(got[::-1])

    recipe.server("a", 11, 8080)
    recipe.server("c", 12, 9000, chat)
    recipe.server("d", 13, 9000, chat)
    recipe.run("websocket.cfg")
    assert recipe.body() == "a"
    with recipe.connect() as s:
        s.sendall(b"GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        assert head_of(s).startswith("HTTP/1.1 101 ")
        s.sendall(b"hello")
        assert s.recv(100) == b"olleh"


def test_grpc(recipe):
    """The calls of one connection go to both servers, with their trailers."""
    def over_h2(conn, is_client, on_event):
        h = h2.connection.H2Connection(h2.config.H2Configuration(client_side=is_client, header_encoding="utf-8"))
        h.initiate_connection()
        on_event(h, None)
        conn.sendall(h.data_to_send())
        while got := conn.recv(65536):
            done = False
            for event in h.receive_data(got):
                done = on_event(h, event) or done
            conn.sendall(h.data_to_send())
            if done:
                return

    def named(name):
        def answer(h, event):
            if isinstance(event, h2.events.StreamEnded):
                h.send_headers(event.stream_id, [(":status", "200"), ("content-type", "application/grpc")])
                h.send_data(event.stream_id, name.encode())
                h.send_headers(event.stream_id, [("grpc-status", "0")], end_stream=True)
        return lambda conn: over_h2(conn, False, answer)

    recipe.server("a", 11, 8080)
    recipe.server("c", 12, 50051, named("c"))
    recipe.server("d", 13, 50051, named("d"))
    certs = recipe.certificates("www.example.org")
    recipe.run("grpc.cfg", site=certs / "www.example.org.pem")
    facts.until(recipe.sock, "server calls/c state eq UP", "server calls/d state eq UP")
    assert recipe.body(port=8443, name="www.example.org") == "a"
    context = ssl.create_default_context(cafile=str(recipe.ca))
    context.set_alpn_protocols(["h2"])
    answers, trailers = {}, {}

    def call(h, event):
        if event is None:
            for stream in (1, 3):
                h.send_headers(stream, [(":method", "POST"), (":scheme", "https"), (":authority", "www.example.org"),
                                        (":path", "/a.B/C"), ("content-type", "application/grpc"), ("te", "trailers")])
            # Both calls are there before one ends.
            for stream in (1, 3):
                h.send_data(stream, b"x", end_stream=True)
        elif isinstance(event, h2.events.DataReceived):
            answers[event.stream_id] = event.data.decode()
        elif isinstance(event, h2.events.TrailersReceived):
            trailers[event.stream_id] = dict(event.headers)
        return len(trailers) == 2

    with context.wrap_socket(recipe.connect(8443), server_hostname="www.example.org") as s:
        over_h2(s, True, call)
    assert sorted(answers.values()) == ["c", "d"]
    assert trailers == {stream: {"grpc-status": "0"} for stream in (1, 3)}


def test_limit(recipe):
    recipe.server("a", 11, 8080)
    recipe.run("limit.cfg")
    answers = [recipe.ask() for _ in range(21)]
    assert [status for status, _, _ in answers] == [200] * 20 + [429]
    assert answers[20][1]["retry-after"] == "10" and len(recipe.heads["a"]) == 20
    assert "used:1" in admin(recipe.sock, "show table web")


def test_password(recipe):
    recipe.server("a", 11, 8080)
    recipe.run("password.cfg")
    assert recipe.body("/") == "a"
    status, head, _ = recipe.ask("/admin/x")
    assert (status, head["www-authenticate"]) == (401, 'Basic realm="Staff"')
    assert recipe.ask("/admin/x", Authorization=basic("anna:wrong"))[0] == 401
    assert recipe.ask("/admin/x", Authorization=basic("bert:secret"))[0] == 403
    assert recipe.body("/admin/x", Authorization=basic("anna:secret")) == "a"
    assert "authorization" not in recipe.heads["a"][-1].lower()


class Authority:
    """A scripted service that is asked about requests: `decide(head)` gives status and fields; its own pages are 200."""

    def __init__(self, recipe, port, path, decide):
        self.path, self.decide = path, decide
        self.asked = []
        recipe.server("service", 21, port, self.serve)

    def serve(self, conn):
        if head := head_of(conn):
            status, fields, body = 200, [], b"page"
            if head.split()[1].split("?")[0] == self.path:
                self.asked.append(head)
                status, fields = self.decide(head)
                body = b""
            lines = [f"HTTP/1.1 {status} x", "Connection: close", f"Content-Length: {len(body)}", *fields, "", ""]
            conn.sendall("\r\n".join(lines).encode() + body)


def field(head, name):
    found = re.search(rf"^{name}: (.*?)\r$", head, re.MULTILINE | re.IGNORECASE)
    return found and found[1]


def test_oauth2_proxy(recipe):
    """Documented: 202 or 401 of /oauth2/auth; X-Auth-Request-User and -Email with --set-xauthrequest; a renewed session sets a cookie."""
    def decide(head):
        if "_oauth2_proxy=good" not in (field(head, "Cookie") or ""):
            return 401, []
        return 202, ["X-Auth-Request-User: anna", "X-Auth-Request-Email: anna@example.org", "Set-Cookie: _oauth2_proxy=new; Path=/"]

    service = Authority(recipe, 4180, "/oauth2/auth", decide)
    recipe.server("a", 11, 8080)
    recipe.run("oauth2-proxy.cfg")
    status, head, _ = recipe.ask("/a?b=c", X_Auth_Request_User="eve")
    assert (status, head["location"]) == (302, "/oauth2/sign_in?rd=%2Fa%3Fb%3Dc") and not recipe.heads["a"]
    assert field(service.asked[-1], "X-Forwarded-Uri") == "/a?b=c" and field(service.asked[-1], "X-Forwarded-Proto") == "http"
    assert recipe.body("/oauth2/sign_in?rd=%2Fa") == "page"
    status, head, body = recipe.ask("/a", Cookie="_oauth2_proxy=good", X_Auth_Request_User="eve")
    assert (status, body, head["set-cookie"]) == (200, "a", "_oauth2_proxy=new; Path=/")
    assert field(recipe.heads["a"][-1], "X-Auth-Request-User") == "anna" and "eve" not in recipe.heads["a"][-1]


def test_authelia(recipe):
    """Documented: /api/authz/auth-request reads X-Original-Method and X-Original-URL; 401 with the portal's Location, 403, or 200 with
    Remote-User, -Groups, -Email and -Name."""
    def decide(head):
        if field(head, "X-Original-URL").endswith("/admin"):
            return 403, []
        if "authelia_session=good" not in (field(head, "Cookie") or ""):
            url = field(head, "X-Original-URL")
            return 401, [f"Location: https://auth.example.org/?rd={url}&rm={field(head, 'X-Original-Method')}"]
        return 200, ["Remote-User: anna", "Remote-Groups: staff,admins"]

    Authority(recipe, 9091, "/api/authz/auth-request", decide)
    recipe.server("a", 11, 8080)
    recipe.run("authelia.cfg")
    status, head, _ = recipe.ask("/a", Remote_User="eve")
    assert (status, head["location"]) == (302, "https://auth.example.org/?rd=http://www.example.org/a&rm=GET")
    assert recipe.ask("/admin", Cookie="authelia_session=good")[0] == 403 and not recipe.heads["a"]
    assert recipe.body("/", host="auth.example.org") == "page"
    assert recipe.body("/a", Cookie="authelia_session=good", Remote_User="eve", Remote_Email="eve@x") == "a"
    head = recipe.heads["a"][-1]
    assert (field(head, "Remote-User"), field(head, "Remote-Groups"), field(head, "Remote-Email")) == ("anna", "staff,admins", None)


def test_authentik(recipe):
    """Documented: /outpost.goauthentik.io/auth/nginx reads X-Original-URL; 401 with a cookie that the login needs, or 200 with
    X-authentik-username and others."""
    def decide(head):
        if not field(head, "X-Original-URL"):
            return 400, []
        if "authentik_proxy=good" not in (field(head, "Cookie") or ""):
            return 401, ["Set-Cookie: authentik_proxy=begun; Path=/"]
        return 200, ["X-authentik-username: anna", "X-authentik-groups: a|b", "X-authentik-uid: 7"]

    Authority(recipe, 9000, "/outpost.goauthentik.io/auth/nginx", decide)
    recipe.server("a", 11, 8080)
    recipe.run("authentik.cfg")
    status, head, _ = recipe.ask("/a?b=c")
    assert (status, head["set-cookie"]) == (302, "authentik_proxy=begun; Path=/")
    assert head["location"] == "/outpost.goauthentik.io/start?rd=%2Fa%3Fb%3Dc" and not recipe.heads["a"]
    assert recipe.body("/outpost.goauthentik.io/start?rd=%2Fa") == "page"
    status, head, body = recipe.ask("/a", Cookie="authentik_proxy=good", X_authentik_username="eve", X_authentik_email="eve@x")
    assert (status, body) == (200, "a") and "set-cookie" not in head
    head = recipe.heads["a"][-1]
    assert (field(head, "X-authentik-username"), field(head, "X-authentik-groups"), field(head, "X-authentik-email")) == ("anna", "a|b", None)


def test_maintenance(recipe):
    recipe.server("a", 11, 8080)
    recipe.run("maintenance.cfg")
    assert recipe.body() == "a"
    assert recipe.ask("/alive")[0] == 200
    admin(recipe.sock, "set server app/a state maint")
    status, head, body = recipe.ask()
    assert (status, head["retry-after"], "back soon" in body) == (503, "600", True)
    assert recipe.ask("/alive")[0] == 503
    admin(recipe.sock, "set server app/a state ready")
    assert recipe.body() == "a"
    recipe.fail("a")
    assert "back soon" in recipe.body()


def test_backup(recipe):
    for name, host in (("a", 11), ("b", 12), ("c", 13), ("excuse", 30)):
        recipe.server(name, host, 8080)
    recipe.server("d", 11, 8080, net=recipe.far)
    recipe.run("backup.cfg")

    def who():
        return "".join(sorted({recipe.body() for _ in range(6)}))

    assert who() == "abc"
    recipe.fail("a", "first")
    assert who() == "bc"
    recipe.fail("b", "first")
    assert who() == "d"
    recipe.fail("d", "second")
    assert who() == "c"
    recipe.fail("c", "first")
    assert who() == "excuse"
    recipe.recover("d", "second")
    assert who() == "d"
    for name in "abc":
        recipe.recover(name, "first")
    assert who() == "abc"


def test_addresses(recipe):
    recipe.server("a", 11, 8080)
    recipe.run("addresses.cfg")
    with socket.create_connection((f"{recipe.net}.1", 8080), timeout=WAIT, source_address=(f"{recipe.net}.77", 0)) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.1\r\nConnection: close\r\n\r\n")
        assert recv_all(s).endswith(b"a")
    fields = re.findall(r"(?i)x-forwarded-for: (\S+)", recipe.heads["a"][0])
    assert fields == [f"{recipe.net}.77"]
    # without the header nothing is served
    with recipe.connect(8080, host=2) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert s.recv(100) == b""


def test_bandwidth(recipe):
    """Bodies are whole, and count in the table only where they are limited: tests/sim has the times."""
    data = bytes(range(256)) * 400

    def serve(conn):
        if head_of(conn):
            conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(data) + data)

    recipe.server("a", 11, 8080, serve)
    recipe.run("bandwidth.cfg")

    def get(path):
        with recipe.connect() as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            return recv_all(s).partition(b"\r\n\r\n")[2]

    assert get("/x") == data
    assert "used:0" in admin(recipe.sock, "show table bandwidth")
    assert get("/download/x") == data
    assert "used:1" in admin(recipe.sock, "show table bandwidth")


def test_caching(recipe):
    """Files are asked for once, pages each time."""
    count = []

    def serve(conn):
        if head := head_of(conn):
            count.append(head.split()[1])
            conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: max-age=60\r\nContent-Length: 3\r\n\r\nabc")

    recipe.server("a", 11, 8080, serve)
    recipe.run("caching.cfg")

    def get(path):
        with recipe.connect() as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            head, _, body = recv_all(s).partition(b"\r\n\r\n")
        assert body == b"abc"
        return b"X-Cache: hit" in head

    assert [get(path) for path in ("/a.css", "/a.css", "/", "/", "/b.png", "/a.css")] == [False, True, False, False, False, True]
    assert count == ["/a.css", "/", "/", "/b.png"]
    assert admin(recipe.sock, "clear cache files").strip() == "2 objects removed."


def test_alerts(recipe):
    """A mail when a server fails, and one when it is back; the other one serves."""
    mails = MailServer(8025, host=f"{recipe.net}.25")
    recipe.stack.callback(mails.close)
    recipe.server("a", 11, 8080)
    recipe.server("b", 12, 8080)
    recipe.run("alerts.cfg", changed=(".25:25", ".25:8025"))
    recipe.fail("a")
    recipe.recover("a")
    subjects = [mail.splitlines()[3] for mail in mails.until(2)]
    assert subjects[0].startswith("Subject: [HAProxy Alert] Server app/a is DOWN, reason: Layer7 wrong status, code: 500")
    assert subjects[1].startswith("Subject: [HAProxy Alert] Server app/a is UP, reason: Layer7 check passed, code: 200")
    assert recipe.body() in ("a", "b")


def test_each_recipe_is_played():
    tests = Path(__file__).read_text() + Path(__file__).with_name("test_oracle_peers.py").read_text()
    played = set(re.findall(r'run\("([a-z0-9-]+\.cfg)"', tests))
    assert played == {path.name for path in RECIPES.glob("*.cfg")}
