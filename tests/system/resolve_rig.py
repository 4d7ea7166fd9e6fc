"""Fixtures of tests of names that are resolved at run time: configurations, a program with a name server, origins."""

import http.client
import os
import re
import subprocess
import threading

import facts
import moved_clock
import pytest
from conftest import BUILD, TACIT, WAIT, admin, answers, free_port, info
from facts import becomes
from nameserver import Nameserver
from subject import LogServer

DEFAULTS = """
defaults
    mode http
    log global
    timeout client 1h
    timeout server 1h
    timeout connect 1h
"""


def section(nameserver, lines=""):
    # No answer of the name server is late, however busy the machine is.
    return f"""
resolvers res
    nameserver ns1 127.0.0.1:{nameserver.port}
    hold nx 600ms
    hold refused 600ms
    hold timeout 600ms
    hold other 600ms
    timeout resolve 200ms
    timeout retry 1m
    accepted_payload_size 8192
    {lines}
"""


def hasty(text, tries=3):
    """The same for a name server that does not answer, or not at once: it is asked again soon, and so often."""
    return text.replace("timeout retry 1m", f"timeout retry 150ms\n    resolve_retries {tries}")


class Web:
    """ An origin that returns its own name, on an address and port of its own; it may keep connections."""

    def __init__(self, name, address, port=0):
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # noqa: N802
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name.encode())

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        # One that no other test takes, whatever the address.
        self.server = Server((address, port or free_port()), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Subject:
    def __init__(self, program, directory, cfg, workers=1, clock=False):
        self.sock = directory / "s.sock"
        self.is_tacit = program == TACIT
        self.clock = directory / "clock" if clock else None
        env = {**os.environ, **moved_clock.environment(BUILD, self.clock)} if clock else None
        self.log = LogServer()
        self.is_over = False
        (directory / "t.cfg").write_text(f"global\n    stats socket {self.sock} level admin\n    nbthread {workers}\n"
                                         f"    log 127.0.0.1:{self.log.port} local0\n{DEFAULTS}{cfg}")
        self.errors = directory / "err"
        with open(self.errors, "wb") as err:
            self.proc = subprocess.Popen([program, "-db", "-f", str(directory / "t.cfg")], stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                         env=env)
        try:
            becomes(lambda: answers(self.sock) or self.proc.poll() is not None, True, "an answer")
            assert self.proc.poll() is None, self.errors.read_text()
        except BaseException:
            self.stop()
            raise

    def admin(self, command):
        return admin(self.sock, command)

    def servers(self, backend="b"):
        """{name: (status, address, weight)}"""
        head, *rows = self.admin("show stat").strip().split("\n")
        names = head[2:].rstrip(",").split(",")
        out = {}
        for row in rows:
            got = dict(zip(names, row.split(",")))
            if got["pxname"] == backend and got["svname"] not in ("BACKEND", "FRONTEND"):
                out[got["svname"]] = (got["status"], got["addr"], got["weight"])
        return out

    def until(self, *conditions):
        facts.until(self.sock, *conditions)

    def give_up(self, server, name, before):
        """With a clock, each of three tries of a silent name server ends when it has heard that question, besides so many before:
        `timeout retry` is moved_clock.BRIEF."""
        for n in range(1, 4) if self.clock else ():
            server.heard(name, before + n)
            self.until("idle")
            moved_clock.expire(self.clock)

    def no_sessions(self):
        if self.is_tacit:
            self.until("sessions eq 0")
        else:
            becomes(lambda: info(self.admin("show info"))["CurrConns"], "0", "no session")

    def wait_until(self, name, status, addr=None, backend="b"):
        if self.is_tacit and status == "no check":
            self.until(f"counter {backend}/{name}/status eq no\\ check", *[f"counter {backend}/{name}/addr eq {addr}"] * bool(addr))
        else:
            becomes(lambda: self.servers(backend)[name][:2], lambda seen: seen[0] == status and addr in (None, seen[1]),
                    f"{name} to be {status} {addr or ''}")

    def reports(self):
        """Log lines about servers, without their headers."""
        return [re.sub(r"^<(\d+)>.*?\]: ", r"\1 ", line) for line in self.log.drain()]

    def stop(self):
        if self.is_over:
            return
        self.is_over = True
        was_running = self.proc.poll() is None
        if was_running:
            self.proc.terminate()
        code = self.proc.wait(WAIT)
        self.log.close()
        assert was_running and code in (0, 143, -15), (code, self.errors.read_text())


@pytest.fixture
def subject(tmp_path):
    made = []

    def start(cfg, program=TACIT, workers=1, clock=False):
        directory = tmp_path / f"s{len(made)}"
        directory.mkdir()
        made.append(Subject(program, directory, cfg, workers, clock))
        return made[-1]

    yield start
    for s in made:
        s.stop()


@pytest.fixture
def ns():
    server = Nameserver()
    yield server
    server.close()


def get(port, path="/", conn=None):
    c = conn or http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request("GET", path)
    r = c.getresponse()
    return r.status, r.read().decode()
