"""The recipes of tacit-guide(7): each configuration of conf/recipes forwards what its first lines promise. Addresses are
replaced by addresses of the loopback network, ports below 1024 and files by our own."""

import base64
import contextlib
import re
import socket
import ssl
from pathlib import Path

import facts
import pytest
from certs import Authority
from conftest import WAIT, Origin, admin, free_network, recv_all

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

    def run(self, name, **files):
        """Starts the recipe; files are those that stand in /etc/tacit."""
        text = (RECIPES / name).read_text()
        text = re.sub(r"\tstats socket .*\n|\tlog .*\n", "", text)
        text = text.replace("192.0.2.0/24", "127.0.0.0/8").replace("192.0.2.", self.net + ".")
        text = text.replace("198.51.100.", self.far + ".")
        text = re.sub(r"bind :(\d+)", lambda m: f"bind {self.net}.1:{8000 + int(m[1])}", text)
        text = text.replace("default-server check", "default-server check inter 40ms").replace(" check\n", " check inter 40ms\n")
        for path in re.findall(r"/etc/tacit/([a-z./]+)", text):
            ours = files.get(path.strip("/").split(".")[0]) or RECIPES / path
            text = text.replace(f"/etc/tacit/{path}", str(ours))
        sock = self.dir / "admin.sock"
        self.sock = str(sock)
        text = text.replace("global\n", f"global\n\tstats socket {sock} level admin\n", 1)
        self.daemon(text, raw=True)

    def connect(self, port=8080, name=None, host=1):
        s = socket.create_connection((f"{self.net}.{host}", port), timeout=WAIT)
        if not name:
            return s
        context = ssl.create_default_context(cafile=str(self.ca))
        return context.wrap_socket(s, server_hostname=name)

    def ask(self, target="/", port=8080, name=None, host="www.example.org", **fields):
        """Status, header fields (lower case) and body of the response to a request on a connection of its own."""
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}", "Connection: close"]
        lines += [f"{k.replace('_', '-')}: {v}" for k, v in fields.items()]
        with self.connect(port, name) as s:
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
        authority = Authority(self.dir / "ca")
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


def test_each_recipe_is_played():
    played = set(re.findall(r'run\("([a-z]+\.cfg)"', Path(__file__).read_text()))
    assert played == {path.name for path in RECIPES.glob("*.cfg")}
