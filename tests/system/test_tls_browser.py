"""A browser as a client of TLS and of HTTP/2: Chromium, with a CA of the test and without it."""

import shutil
import struct
import subprocess

import pytest
from browser import CHROMIUM, Browser
from certs import Authority
from conftest import free_port, free_ports, wait_for
from moved_clock import BRIEF
from subject import only_tacit
from test_h2 import HTTP
from test_h2_websocket import accept_of, head_from, raw

CERTUTIL = shutil.which("certutil")
pytestmark = [only_tacit, pytest.mark.skipif(not (CHROMIUM and CERTUTIL), reason="needs chromium and certutil (make deps-ci)")]
HERE = "--host-resolver-rules=MAP *.test 127.0.0.1"
# The server's view of the connection is the page's title.
SHOWN = "%[ssl_fc_sni] %[ssl_fc_protocol] %[ssl_fc_alpn] %[ssl_fc_is_resumed] %[ssl_c_used] %[req.ver]"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory, ca):
    """A browser that trusts the CA as one of the machine's own, in the place where Chromium looks for those."""
    home = tmp_path_factory.mktemp("trusts")
    store = home / ".pki" / "nssdb"
    store.mkdir(parents=True)
    for args in (["-N", "--empty-password"], ["-A", "-t", "C,,", "-n", "test", "-i", ca.pem]):
        subprocess.run([CERTUTIL, "-d", f"sql:{store}", *args], check=True, capture_output=True, timeout=60)
    b = Browser(home, HERE)
    b.call("Network.enable")
    yield b
    b.close()


@pytest.fixture
def site(daemon, ca, tmp_path):
    """https://a.test and https://b.test, each with a certificate of its own."""
    listed = tmp_path / "list"
    listed.write_text("".join(f"{ca.make(f'{n}.pem', f'{n}.test', [f'{n}.test'])}\n" for n in "ab"))
    (port,) = free_ports(1)
    # The browser opens connections that it may need: they are not waited for.
    d = daemon(f"frontend f\n mode http\n option httpclose\n timeout client {BRIEF}\n timeout http-request {BRIEF}\n"
               f" bind 127.0.0.1:{port} ssl crt-list {listed} alpn http/1.1 verify optional ca-file {ca.pem}\n"
               " http-after-response set-header Strict-Transport-Security max-age=3600 if { ssl_fc_sni a.test }\n"
               " stats uri /stats\n"
               f" http-request return content-type text/html lf-string '<title>{SHOWN}</title>' unless {{ path /stats }}\n", clock=True)
    d.port = port
    yield d
    d.expire()


def at(d, host, path="/", scheme="https"):
    return f"{scheme}://{host}.test:{d.port}{path}"


def opened(browser, url):
    """The title of the page, and what the browser says of its connection."""
    browser.open(url, 1200)
    met = next(e["params"]["response"] for e in browser.events
               if e.get("method") == "Network.responseReceived" and e["params"]["type"] == "Document")
    return browser.js("document.title").split(), met


@pytest.mark.parametrize("host", ["a", "b"])
def test_names_and_certificates(browser, site, ca, host):
    """The browser trusts the certificate of the name that it asks for. It is asked for its own one, and has none."""
    reported, met = opened(browser, at(site, host))
    details = met["securityDetails"]
    assert met["securityState"] == "secure" and met["protocol"] == "http/1.1"
    assert (details["subjectName"], details["issuer"], details["protocol"]) == (f"{host}.test", "test CA", "TLS 1.3")
    assert [reported[i] for i in (0, 1, 2, 4, 5)] == [f"{host}.test", "TLSv1.3", "http/1.1", "0", "1.1"]


def test_it_resumes(browser, site):
    """Each page is a connection. A ticket serves once, and a connection that the browser opens in advance may take it:
    the next page has to wait for another one then."""
    reported = []

    def three_resumed():
        reported.append(opened(browser, at(site, "b"))[0][3])
        return reported.count("1") >= 3

    assert wait_for(three_resumed, step=0), reported
    assert reported[0] == "0" and len(reported) <= 12, reported


def test_statistics(browser, site):
    """The page, its style and its script come over TLS, and nothing is complained about."""
    _, met = opened(browser, at(site, "a", "/stats"))
    assert met["securityState"] == "secure" and not browser.complaints()
    assert "f" in browser.js('[...document.querySelectorAll("h2")].map((h) => h.textContent)')


def test_strict_transport_security(browser, site):
    """A browser that has been at a.test does not ask in clear text again."""
    opened(browser, at(site, "a"))
    reported, met = opened(browser, at(site, "a", scheme="http"))
    assert met["url"] == at(site, "a") and reported[0] == "a.test"
    # b.test has not said so: the request is no hello, and its connection is closed.
    assert "errorText" in browser.call("Page.navigate", url=at(site, "b", scheme="http"))


def test_a_stranger(site, ca, tmp_path_factory):
    """Without the CA the browser refuses the certificate, and sends no request."""
    b = Browser(tmp_path_factory.mktemp("stranger"), HERE)
    try:
        assert b.call("Page.navigate", url=at(site, "a"))["errorText"] == "net::ERR_CERT_AUTHORITY_INVALID"
    finally:
        b.close()
    head, row = site.admin("show stat f 1 -1").strip().split("\n")
    assert dict(zip(head.split(","), row.split(",")))["req_tot"] == "0"


# --- WebSocket ---

TEXT, BINARY, CLOSE, FINAL, MASKED = 1, 2, 8, 0x80, 0x80


class Messages:
    """An HTTP/1 server of WebSocket for one connection: sends each message back, and notes their number and the code of the end."""

    def __init__(self):
        self.heads, self.ends = [], []

    def __call__(self, conn):
        head, self.rest = head_from(conn)
        self.conn = conn
        line, fields = raw.head_of(head)
        self.heads.append((line, dict(fields)))
        conn.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Protocol: two\r\nSec-WebSocket-Accept: " + accept_of(dict(fields)[b"sec-websocket-key"]) + b"\r\n\r\n")
        count = 0
        while True:
            kind, message = self.receive()
            conn.sendall(bytes([FINAL | kind]) + self.length(len(message)) + message)
            if kind == CLOSE:
                break
            count += 1
        self.ends.append((count, struct.unpack("!H", message[:2])[0]))

    def take(self, n):
        while len(self.rest) < n:
            more = self.conn.recv(65536)
            assert more
            self.rest += more
        got, self.rest = self.rest[:n], self.rest[n:]
        return got

    def receive(self):
        """A message, of one frame or of several, without its mask."""
        kind, message, first = 0, b"", 0
        while not first & FINAL:
            first, n = self.take(2)
            assert n & MASKED
            n &= 0x7f
            if n >= 126:
                n = int.from_bytes(self.take(2 if n == 126 else 8), "big")
            mask, data = self.take(4), self.take(n)
            key = int.from_bytes((mask * (n // 4 + 1))[:n], "big")
            message += (int.from_bytes(data, "big") ^ key).to_bytes(n, "big")
            kind = kind or first & 0xf
        return kind, message

    @staticmethod
    def length(n):
        return bytes([n]) if n < 126 else struct.pack("!BH", 126, n) if n < 65536 else struct.pack("!BQ", 127, n)


TALK = """
window.got = [];
const ws = new WebSocket("wss://a.test:%d/chat?x=1", ["one", "two"]);
ws.binaryType = "arraybuffer";
ws.onopen = () => { ws.send("hello \u00e9"); ws.send(new Uint8Array(1 << 20).fill(7)); for (let i = 0; i < 100; i++) ws.send("m" + i); };
ws.onmessage = (e) => {
  got.push(typeof e.data === "string" ? e.data : e.data.byteLength + " of " + new Uint8Array(e.data).every((x) => x === 7));
  if (got.length === 102) ws.close(4321, "enough");
};
ws.onclose = (e) => { window.ended = [e.code, e.reason, e.wasClean]; };
ws.onerror = () => { window.failed = true; };
"""


@pytest.mark.parametrize("alpn", ["h2,http/1.1", "http/1.1"])
def test_websocket(browser, daemon, origins, ca, alpn):
    """Messages of any length both ways, and the end with its reason. Over HTTP/2 the browser asks on the connection of the page,
    by an extended CONNECT (RFC 8441); the server of HTTP/1 sees an Upgrade."""
    messages, port = Messages(), free_port()
    server = origins(messages)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {ca.make('ws.pem', 'a.test', ['a.test'])} alpn {alpn}\n"
               f" timeout client {BRIEF}\n timeout http-request {BRIEF}\n timeout http-keep-alive {BRIEF}\n"
               " http-request return content-type text/html string '<title>page</title>' unless { path /chat }\n"
               " http-request set-header X-Version %[req.ver]\n default_backend b\n"
               f"backend b\n timeout tunnel 1h\n server s 127.0.0.1:{server.port}\n", clock=True)
    browser.open(f"https://a.test:{port}/", 1200)
    browser.js(TALK % port)
    browser.until("window.ended")
    got = browser.js("got")
    assert got[:2] == ["hello \u00e9", "1048576 of true"] and got[2:] == [f"m{i}" for i in range(100)]
    assert browser.js("ended") == [4321, "enough", True] and browser.js("ws.protocol") == "two" and not browser.js("window.failed")
    (line, fields), = messages.heads
    assert line == b"GET /chat?x=1 HTTP/1.1" and fields[b"upgrade"].lower() == b"websocket"
    assert fields[b"x-version"] == (b"2.0" if alpn.startswith("h2") else b"1.1") and fields[b"origin"] == b"https://a.test:%d" % port
    # The browser may have opened connections in advance.
    d.expire()
    d.until("sessions eq 0", "idle")
    assert messages.ends == [(102, 4321)]
