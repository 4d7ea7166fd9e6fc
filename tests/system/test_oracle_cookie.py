"""HAProxy and tacit make the same dynamic cookies, so that clients may change between them."""

import re
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import facts
import oracle
import pytest
from conftest import WAIT, free_port
from oracle import Subject

BACKENDS = {
    "ins": " cookie SRV insert indirect dynamic\n dynamic-cookie-key secret\n",
    "pre": " cookie SRV prefix dynamic\n dynamic-cookie-key %s\n" % ("k" * 100),
    "off": " cookie SRV insert\n dynamic-cookie-key secret\n",
    "none": " cookie SRV insert dynamic\n",
}
CONFIG = """
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend fe
 bind 127.0.0.1:%d
 use_backend %%[path,field(2,/)]
"""
COMMANDS = (
    "disable dynamic-cookie backend ins",
    "enable dynamic-cookie backend ins",
    "set dynamic-cookie-key backend ins another",
    "set server ins/b addr 127.0.0.4",
    "set server ins/a addr 127.0.0.2 port 1",
    "enable dynamic-cookie backend off",
    "set dynamic-cookie-key backend none key",
    "set dynamic-cookie-key backend none",
    "set dynamic-cookie-key backend",
    "set dynamic-cookie-key backend nobody key",
    "enable dynamic-cookie backend",
    "enable dynamic-cookie backend fe",
    "disable dynamic-cookie backend nobody",
)


class Reply(BaseHTTPRequestHandler):
    """Says which address it was asked at."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Set-Cookie", "SRV=own")
        self.send_header("At", self.connection.getsockname()[0])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def origin_port():
    """Cookies are made of it, too."""
    with oracle.fixed_ports(1) as (port,), ThreadingHTTPServer(("0.0.0.0", port), Reply) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield port
        server.shutdown()


def ask(port, backend, cookie=""):
    c = HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request("GET", "/" + backend, headers={"Cookie": cookie} if cookie else {})
    r = c.getresponse()
    got = r.getheader("Set-Cookie"), r.getheader("At")
    c.close()
    return got


def cookies(subject):
    """The column `cookie` of each server."""
    rows = [line.split(",") for line in subject.admin("show stat").splitlines() if line.count(",") > 50]
    at = rows[0].index("cookie")
    return {(r[0], r[1]): r[at] for r in rows[1:] if r[1] in "abc"}


def script(program, directory, origin_port):
    port = free_port()
    cfg = CONFIG % port
    for name, lines in BACKENDS.items():
        cfg += f"backend {name}\n{lines} server a 127.0.0.2:{origin_port}\n server b 127.0.0.3:{origin_port}\n"
        cfg += f" server c 127.0.0.5:{origin_port} cookie mine\n"
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        facts.listens(port)
        seen = [sorted(ask(port, name) for _ in range(3)) for name in BACKENDS]
        # Clients come back to their server, with the cookies of either proxy.
        seen += [{ask(port, "ins", "SRV=" + value) for _ in range(3)} for value in cookies(subject).values() if value]
        seen += [cookies(subject)]
        for command in COMMANDS:
            reported = subject.admin(command)
            seen.append((command, reported.strip(), cookies(subject)))
    finally:
        subject.stop()
    return seen


def test_the_same_cookies(tmp_path, origin_port):
    want, got = oracle.both(lambda program: script(program, oracle.at(tmp_path, program), origin_port))
    assert re.match(r"SRV=[0-9a-f]{16}; path=/$", want[0][0][0])
    assert got == want
