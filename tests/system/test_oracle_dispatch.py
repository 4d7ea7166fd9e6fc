"""dispatch and option transparent: connections that nothing binds to a server, through HAProxy and tacit."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import facts
import oracle
import pytest
from conftest import WAIT, free_port
from oracle import Subject

TIMES = "defaults\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n mode http\n"
# Differences from run to run: times, ports; and bytes of heads, which HAProxy counts in its own form.
VARIES = re.compile(r"\[\d\d/[^]]*\]|(?<= )[-\d]+(?:/[-\d]+){2,4}(?= )|(?<=127\.0\.0\.1:)\d+|(?<=00 |03 )\d+(?= - )")


class Reply(BaseHTTPRequestHandler):
    """Says which of the servers it is, and what it was told."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Server-Port", str(self.server.role))
        self.send_header("Told", "%s|%s" % (self.headers.get("X-Server"), self.connection.getsockname()[0]))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Origin(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, role):
        super().__init__(address, Reply)
        self.role = role
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *args):
        """A proxy may reset an idle connection."""


@pytest.fixture
def origins():
    found = [Origin(("127.0.0.1", 0), role) for role in ("dispatch", "server")]
    yield found
    for o in found:
        o.shutdown()
        o.server_close()


def get(port, cookie=None, host="127.0.0.1", source=None):
    c = HTTPConnection(host, port, timeout=WAIT, source_address=source)
    c.request("GET", "/", headers={"Cookie": cookie} if cookie else {})
    r = c.getresponse()
    r.read()
    return [r.status] + [r.headers.get(h) for h in ("Server-Port", "Told", "Set-Cookie", "X-Srv")]


def talk(program, directory, origins):
    """Answers and log lines."""
    dispatch, server = [o.server_port for o in origins]
    port, raw, down = [free_port() for _ in range(3)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as log:
        log.bind(("127.0.0.1", 0))
        log.settimeout(WAIT)
        cfg = TIMES + f""" log 127.0.0.1:{log.getsockname()[1]} format raw local0
 option httplog
listen l
 bind 127.0.0.1:{port}
 cookie S insert indirect nocache
 http-send-name-header X-Server
 http-response set-header X-Srv %[srv_name],%[srv_id]
 dispatch 127.0.0.1:{dispatch}
 server s1 127.0.0.1:{server} cookie c1
listen raw
 mode tcp
 option tcplog
 bind 127.0.0.1:{raw}
 dispatch 127.0.0.1:{dispatch}
listen down
 bind 127.0.0.1:{down}
 retries 1
 dispatch 127.0.0.1:{free_port()}
"""
        directory.mkdir()
        subject = Subject(program, directory, cfg)
        try:
            answers, lines = [], []
            for p, cookie in ((port, None), (port, "S=c1"), (port, "S=gone"), (raw, None), (down, None)):
                answers.append(get(p, cookie))
                lines.append(VARIES.sub("*", log.recv(4096).decode().strip()))
            _, rows = subject.stat()
            counted = {k: [v[c] for c in ("stot", "econ", "wretr", "wredis", "act", "hrsp_2xx", "hrsp_5xx")]
                       for k, v in rows.items() if k[1] != "FRONTEND"}
            return answers, lines, counted
        finally:
            subject.stop()


def test_sessions_that_nothing_binds_go_to_the_dispatch_address(tmp_path, origins):
    want, got = oracle.both(lambda program: talk(program, oracle.at(tmp_path, program), origins))
    assert [a[1] for a in want[0]] == ["dispatch", "server", "dispatch", "dispatch", None]
    assert got == want


# --- option transparent, in a network namespace of its own where the kernel redirects clients ---

REDIRECT = """table ip t { chain o { type nat hook output priority -100;
 ip saddr 127.0.0.77 tcp dport 8080 redirect to :9090; }; }"""


TRANSPARENT = TIMES + """listen l
 bind :9090
 cookie S insert indirect nocache
 option transparent
 server s1 127.0.0.9:8081 cookie c1
listen fixed
 bind 127.0.0.1:9091
 mode tcp
 option transparent
"""


def child(program, directory):
    """In the namespace: prints the answers."""
    os.mkdir(directory)
    Origin(("127.0.0.5", 8080), "five")
    Origin(("127.0.0.6", 8080), "six")
    Origin(("127.0.0.9", 8081), "server")
    import pathlib  # pylint: disable=import-outside-toplevel
    subject = Subject(program, pathlib.Path(directory), TRANSPARENT)
    try:
        facts.listens(9090)
        print(json.dumps([get(8080, cookie, host, ("127.0.0.77", 0))
                          for host, cookie in (("127.0.0.5", None), ("127.0.0.6", None), ("127.0.0.5", "S=c1"))]))
    finally:
        subject.stop()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("nft"), reason="needs root and nft")
def test_transparent_proxies_connect_where_the_client_wanted_to(tmp_path):
    def play(program):
        r = subprocess.run(["unshare", "-n", "sh", "-c", 'ip link set lo up && nft "$0" && exec "$@"', REDIRECT, sys.executable,
                            __file__, program, str(oracle.at(tmp_path, program))],
                           capture_output=True, text=True, timeout=60, check=False, env=os.environ)
        assert r.returncode == 0, r.stderr
        return json.loads(r.stdout)

    want = oracle.same(play, script=TRANSPARENT)
    assert [a[1] for a in want] == ["five", "six", "server"]


if __name__ == "__main__":
    child(*sys.argv[1:])
