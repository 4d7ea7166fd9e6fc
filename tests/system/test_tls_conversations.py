"""TLS from clients that break its rules: tacit, OpenSSL's own server and HAProxy hear the same. Where the RFC says what is to
follow tacit does that; where OpenSSL does something else tacit, which has its TLS from it, does the same. What is logged is
what HAProxy logs, others are served all the time, and nothing is left of any of these connections."""

import contextlib
import signal
import subprocess

import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT, WORKERS, Daemon, free_ports
from facts import listens
from subject import LogServer

from conversations import hellos, identities, order, proxied, records  # noqa: F401
from conversations.conversation import converse
from conversations.talks import ASKED, EC, IDS, OPTIONAL, PROXIED, RSA, TALKS
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

CFG = """global
 nbthread {workers}
 stats socket {sock} level admin
 {more}
defaults
 mode http
 log 127.0.0.1:{log} local0
 log-format "%ci:%cp [%ms] request: %ST %ts %{{+Q}}r"
 timeout client 1m
 timeout connect 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{p[0]} ssl crt {d}/ec.pem alpn http/1.1
 bind 127.0.0.1:{p[1]} ssl crt {d}/rsa.pem alpn http/1.1
 bind 127.0.0.1:{p[2]} ssl crt {d}/ec.pem alpn http/1.1 verify required ca-file {d}/ca.pem
 bind 127.0.0.1:{p[3]} ssl crt {d}/ec.pem alpn http/1.1 verify optional ca-file {d}/ca.pem
 bind 127.0.0.1:{p[4]} ssl crt {d}/ec.pem alpn http/1.1 no-tls-tickets
 bind 127.0.0.1:{p[5]} ssl crt {d}/ec.pem alpn http/1.1 accept-proxy
 http-request return status 200 content-type text/plain string hello
"""
LISTENERS = EC, RSA, ASKED, OPTIONAL, IDS, PROXIED


class Tacit:
    """tacit with these listeners; its log. What was left of its connections is asked at the end."""

    def __init__(self, directory, certs):
        self.log, self.ports = LogServer(), free_ports(len(LISTENERS))
        cfg = CFG.format(workers=WORKERS, sock=directory / "stats.sock", more="set-dumpable", log=self.log.port, p=self.ports,
                         d=certs)
        self.d = Daemon(directory, cfg, (), None, TACIT, (), (), True, ("-db",))
        self.d.base[-1] = "the log socket comes with the first line"

    def stop(self):
        self.d.until("sessions eq 0", "idle")
        left = not self.d.leaked() or self.d.leaked(0)
        numbers = self.d.info()
        code = self.d.stop()
        self.d.kill()
        self.log.close()
        assert left is True, left
        assert (numbers["Fsm_bugs"], numbers["Loop_spins"]) == ("0", "0")
        assert code in (0, -signal.SIGTERM, 143) and not any(w in self.d.stderr for w in ("Sanitizer", "runtime error:")), \
            self.d.stderr


class Haproxy:
    def __init__(self, program, directory, certs):
        self.log, self.ports = LogServer(), free_ports(len(LISTENERS))
        cfg = directory / "haproxy.cfg"
        cfg.write_text(CFG.format(workers=1, sock=directory / "haproxy.sock", more="", log=self.log.port, p=self.ports, d=certs))
        self.proc = subprocess.Popen([program, "-db", "-f", cfg], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for port in self.ports:
            listens(port)

    def stop(self):
        self.proc.terminate()
        self.proc.wait(6 * WAIT)
        self.log.close()


class Openssl:
    """An s_server for each listener."""

    log = None

    def __init__(self, certs):
        self.ports = free_ports(len(LISTENERS) - 1)
        ca = ["-verify_return_error", "-CAfile", certs / "ca.pem"]
        more = {ASKED: ["-Verify", "1", *ca], OPTIONAL: ["-verify", "1", *ca], IDS: ["-no_ticket"]}
        self.procs = [subprocess.Popen(
            ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-www", "-quiet", "-no_renegotiation", "-alpn", "http/1.1",
             "-cert", certs / pem, "-key", certs / pem, *more.get(listener, [])], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for port, listener in zip(self.ports, LISTENERS) for pem in ["rsa.pem" if listener == RSA else "ec.pem"]]
        for port in self.ports:
            listens(port)

    def stop(self):
        for p in self.procs:
            p.kill()
            p.wait(WAIT)


def purse(pem):
    """(DER, private key) of a file with a certificate and its key."""
    data = pem.read_bytes()
    return (x509.load_pem_x509_certificate(data).public_bytes(Encoding.DER),
            load_pem_private_key(data[data.index(b"-----BEGIN PRIVATE"):], None))


class Listeners:
    """The three servers, and what clients say to them."""

    def __init__(self, directory):
        ca, other = Authority(directory / "certs"), Authority(directory / "other", "other CA")
        ca.make("ec.pem", "a.test", ["a.test"])
        ca.make("rsa.pem", "a.test", ["a.test"], "rsa")
        self.wallet = {"mine": purse(ca.make("mine.pem", "me")), "other": purse(ca.make("other.pem", "me too")),
                       "stranger": purse(other.make("stranger.pem", "stranger"))}
        with contextlib.ExitStack() as stack:
            self.subjects = {}
            if "haproxy" in oracle.PROGRAMS:
                self.subjects["haproxy"] = Haproxy(oracle.PROGRAMS["haproxy"], directory, ca.dir)
                stack.callback(self.subjects["haproxy"].stop)
            self.openssl = Openssl(ca.dir)
            stack.callback(self.openssl.stop)
            self.tacit = self.subjects["tacit"] = Tacit(directory, ca.dir)
            self.stop = stack.pop_all().close

    def hear(self, server, talk):
        # Ports of clients come again.
        if server.log:
            server.log.lines.clear()
        return converse(talk.script, server.ports[LISTENERS.index(talk.listener)], self.wallet)


@pytest.fixture(scope="module")
def listeners(tmp_path_factory):
    made = Listeners(tmp_path_factory.mktemp("conversations"))
    yield made
    made.stop()
    made.tacit.stop()


def logged(server, conversation):
    """The one line about this connection, without addresses and time."""
    def lines():
        return [line.partition(conversation.name + " ")[2] for line in server.log.lines if conversation.name + " " in line]
    server.log.lines.until(lambda _: lines(), f"a line about {conversation.outcome}")
    assert len(lines()) == 1
    return lines()[0].split("] ", 1)[1]


@pytest.mark.parametrize("name", TALKS)
def test_conversation(listeners, name):
    talk = TALKS[name]

    def play(server):
        """The outcome, and the line in the log."""
        heard = listeners.hear(server, talk)
        # HAProxy looks at names itself before OpenSSL can refuse a hello.
        names_differ = server != listeners.tacit and "unrecognized_name" in heard.outcome
        return heard.outcome, "" if names_differ else logged(server, heard)

    theirs, (outcome, line) = (None, play(listeners.tacit)) if talk.alone else oracle.both(play, listeners.subjects, script=CFG)
    if outcome not in talk.wanted:
        assert outcome == listeners.hear(listeners.openssl, talk).outcome, (talk.rfc, talk.wanted)
    assert line.startswith("request: 200") == outcome.endswith("answered"), line
    if theirs and theirs[1] and (oracle.RECORDS or oracle.is_recorded_with_this_openssl()):
        assert line == theirs[1]
        # HAProxy answers a request that was cut.
        assert outcome in (theirs[0], "closed")
    assert listeners.hear(listeners.tacit, TALKS["hello_as_usual_13"]).outcome == "answered"
