"""OCSP responses that tacit asks for itself; `openssl ocsp` and small servers of the test are the responders."""

import contextlib
import re
import socket
import subprocess
import threading

import pytest
from certs import Authority
from conftest import WAIT, free_ports, run
from facts import Seen, becomes, close
from nameserver import Nameserver
from subject import LogServer
from test_oracle_tls_ocsp import stapled
from test_tls import HTTP


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


def certificate(ca, name, url, issuer=True):
    """PEM of a certificate whose responder is asked at this URL; without one if it is None."""
    pem = ca.make(f"{name}.pem", f"{name}.test", [f"{name}.test"], responder=url)
    if issuer:
        pem.write_text(pem.read_text() + ca.pem.read_text())
    return pem


class Responder:
    """`answer(body)` makes the bytes that follow a request; `most`: requests that waited for theirs at the same time."""

    def __init__(self, answer):
        self.answer, self.requests, self.open, self.most = answer, Seen(), 0, 0
        self.lock = threading.Lock()
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/ocsp?x=1"
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                conn, _ = self.sock.accept()
                threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn):
        with contextlib.suppress(OSError), conn:
            conn.settimeout(WAIT)
            got = b""
            while b"\r\n\r\n" not in got:
                got += conn.recv(4096)
            head, _, body = got.partition(b"\r\n\r\n")
            size = int(re.search(rb"Content-Length: (\d+)", head)[1])
            while len(body) < size:
                body += conn.recv(4096)
            with self.lock:
                self.requests.append(head.decode())
                self.open += 1
                self.most = max(self.most, self.open)
            try:
                pieces = self.answer(body)
            finally:
                # before the answer: the next request may be here as soon as it is read
                with self.lock:
                    self.open -= 1
            for piece in pieces:
                conn.sendall(piece)

    def close(self):
        close(self.sock, self.thread)


def signed(ca, pem, minutes=60, key=None):
    """A function that answers requests about this certificate as `openssl ocsp` does."""
    def answer(body):
        request, out = (ca.dir / f"req{threading.get_ident()}.{e}" for e in ("in", "out"))
        request.write_bytes(body)
        ca.openssl_ocsp(pem, "V", minutes, "-reqin", request, out=out, key=key)
        return out.read_bytes()
    return answer


def http(der, status="200 OK", extra=""):
    return [f"HTTP/1.1 {status}\r\nContent-Type: application/ocsp-response\r\nContent-Length: {len(der)}\r\n{extra}\r\n".encode() + der]


@pytest.fixture
def responder():
    made = []

    def start(answer):
        made.append(Responder(answer))
        return made[-1]
    yield start
    for r in made:
        r.close()


def frontend(port, line):
    return f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl {line}\n http-request return status 200\n"


def rows(d):
    """`show ssl ocsp-updates`: {file: columns}."""
    lines = d.admin("show ssl ocsp-updates").splitlines()
    assert lines[0].startswith("OCSP Certid | Path | Next Update | Last Update | Successes | Failures | ")
    return {r[1].rpartition("/")[2]: r for r in (line.split(" | ") for line in lines[1:] if line)}


def updated(d, file, times="1"):
    """Waits until so many updates of a file were successful."""
    becomes(lambda: rows(d).get(file, [""] * 5)[4], times, f"updates of {file}")


def test_openssl_is_asked(daemon, ca, tmp_path):
    """A certificate without any response gets one from `openssl ocsp`, by the word on the bind line, and it is logged."""
    (port, p) = free_ports(2)
    pem = certificate(ca, "o", f"http://127.0.0.1:{port}")
    index = ca.index(pem, "V")
    log = LogServer()
    with subprocess.Popen(["openssl", "ocsp", "-index", index, "-port", str(port), "-rsigner", ca.pem, "-rkey", ca.key, "-CA", ca.pem,
                           "-nmin", "60", "-nrequest", "3"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as proc:
        try:
            # The responder answers one after another, and a connection without a request holds it.
            assert any("waiting for OCSP client connections" in line for line in iter(proc.stderr.readline, ""))
            d = daemon(frontend(p, f"crt {pem} ocsp-update on"), extra=f"log 127.0.0.1:{log.port} local0\n nbthread 2", clock="stands")
            updated(d, "o.pem")
        finally:
            proc.kill()
    assert stapled(p, "o") == "good"
    row = rows(d)["o.pem"]
    assert row[4:] == ["1", "0", "1", "Update successful"]
    assert re.fullmatch(r"\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}", row[2]) and row[0].startswith("30")
    log.lines.until(lambda lines: any(re.search(rf'-:- \[[^]]+\] <OCSP-UPDATE> {pem} 1 "Update successful" 0 1', m) for m in lines), "the update")
    assert row[0] in d.admin("show ssl ocsp-response")


def test_forms_of_responses(daemon, ca, responder):
    """With a length, in chunks, until the end, byte by byte, behind a 100: by a crt-list, on all workers."""
    forms = {
        "length": http,
        "chunks": lambda der: [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % 7, der[:7],
                               b"\r\n%x\r\n" % len(der[7:]), der[7:] + b"\r\n0\r\n\r\n"],
        "end": lambda der: [b"HTTP/1.0 200 OK\r\n\r\n", der],
        "bytes": lambda der: [bytes([b]) for b in http(der)[0]],
        "early": lambda der: [b"HTTP/1.1 100 Continue\r\n\r\n", *http(der)],
    }
    lines, servers = [], {}
    for name, form in forms.items():
        r = responder(None)
        pem = certificate(ca, name, r.url)
        r.answer = lambda body, pem=pem, form=form: form(signed(ca, pem)(body))
        servers[name] = r
        lines.append(f"{pem} [ocsp-update on]")
    crt_list = ca.dir / "forms.list"
    crt_list.write_text("\n".join(lines) + "\n")
    (p,) = free_ports(1)
    d = daemon(frontend(p, f"crt-list {crt_list}"), extra="nbthread 4", clock="stands")
    for file in rows(d):
        updated(d, file)
    assert {name: stapled(p, name) for name in forms} == dict.fromkeys(forms, "good")
    assert set(rows(d)) == {f"{n}.pem" for n in forms}
    head = servers["length"].requests[0]
    assert head.startswith("POST /ocsp?x=1 HTTP/1.1\r\n") and f"\r\nHost: 127.0.0.1:{servers['length'].port}\r\n" in head
    assert "\r\nContent-Type: application/ocsp-request\r\n" in head
    assert not d.leaked()


def test_a_line_that_is_added_at_run_time(daemon, ca, responder):
    """Its certificate is updated too, if responders are asked at all; once its line is removed it is not."""
    servers = [responder(None) for _ in range(2)]
    first, second = pems = [certificate(ca, name, r.url) for name, r in zip(("first", "second"), servers, strict=True)]
    for r, pem in zip(servers, pems, strict=True):
        r.answer = lambda body, pem=pem: http(signed(ca, pem)(body))
    crt_list = ca.dir / "added.list"
    for word, reason in (("on", None), ("off", "no certificate of the configuration is updated")):
        crt_list.write_text(f"{first} [ocsp-update {word}]\n")
        (p,) = free_ports(1)
        d = daemon(frontend(p, f"crt-list {crt_list}"), extra="nbthread 3", clock="stands")
        d.admin(f"new ssl cert {second}")
        d.admin(f"set ssl cert {second} <<\n{second.read_text()}\n")
        d.admin(f"commit ssl cert {second}")
        reported = d.admin(f"add ssl crt-list {crt_list} <<\n{second} [ocsp-update on]\n\n")
        if reason:
            assert reason in reported
            assert len(servers[1].requests) == 1
            continue
        assert "Success!" in reported
        updated(d, "second.pem")
        assert stapled(p, "second") == "good"
        assert "deleted" in d.admin(f"del ssl crt-list {crt_list} {second}")
        assert set(rows(d)) == {"first.pem"}


def test_a_crt_store(daemon, ca, responder):
    """The word of a line `load` counts for lines that say nothing, whatever ocsp-update.mode says; they may repeat it."""
    servers = {name: responder(None) for name in ("loaded", "repeated", "quiet", "global")}
    pems = {name: certificate(ca, name, r.url) for name, r in servers.items()}
    for name, r in servers.items():
        r.answer = lambda body, pem=pems[name]: http(signed(ca, pem)(body))
    crt_list = ca.dir / "store.list"
    crt_list.write_text(f"@w/loaded\n{pems['repeated']} [ocsp-update on]\n")
    for mode, files in (("off", {"@w/loaded", "repeated.pem"}), ("on", {"@w/loaded", "repeated.pem", "global.pem"})):
        (p,) = free_ports(1)
        d = daemon(f"crt-store w\n load crt {pems['loaded']} alias loaded ocsp-update on\n"
                   f"crt-store\n load ocsp-update on crt {pems['repeated']}\n load crt {pems['quiet']} ocsp-update off\n" +
                   frontend(p, f"crt-list {crt_list} crt {pems['quiet']} crt {pems['global']} crt @w/loaded"),
                   extra=f"nbthread 2\n ocsp-update.mode {mode}")
        want = {name.rpartition("/")[2] for name in files}
        for file in want:
            updated(d, file)
        assert {n for n, r in rows(d).items() if r[4] == "1"} == want
        assert stapled(p, "loaded") == "good" and stapled(p, "quiet") is None
        assert not d.leaked()
        d.stop()
    assert not servers["quiet"].requests


def test_places_that_contradict(daemon, ca, responder, tmp_path):
    """One certificate is updated or it is not: lines, the crt-store and ocsp-update.mode may not differ about it."""
    r = responder(None)
    pem = certificate(ca, "both", r.url)
    r.answer = lambda body: http(signed(ca, pem)(body))
    lists = {word: ca.dir / f"{word}.list" for word in ("on", "off", "unset")}
    for word, path in lists.items():
        path.write_text(f"{pem}{'' if word == 'unset' else f' [ocsp-update {word}]'}\n")
    for store, lines, mode, want in (
            ("on", [f"crt {pem} ocsp-update off"], "off", "'off' of this line contradicts 'on' of its crt-store"),
            ("off", [f"crt-list {lists['on']}"], "on", "'on' of this line contradicts 'off' of its crt-store"),
            ("", [f"crt-list {lists['on']}", f"crt {pem} ocsp-update off"], "", "'off' of this line contradicts 'on' of another line"),
            ("", [f"crt-list {lists['on']} crt-list {lists['off']}"], "", "'off' of this line contradicts 'on' of another line"),
            ("", [f"crt {pem} ocsp-update off", f"crt {pem}"], "on", "'on' of ocsp-update.mode contradicts 'off' of another line"),
            ("", [f"crt {pem}", f"crt {pem} ocsp-update off"], "on", "'off' of this line contradicts 'on' of ocsp-update.mode"),
            ("on", [f"crt-list {lists['unset']}", f"crt {pem} ocsp-update on"], "off", None),
            ("", [f"crt {pem}", f"crt-list {lists['on']}"], "", None)):
        cfg = tmp_path / "c.cfg"
        load = f"crt-store\n load crt {pem} ocsp-update {store}\n" if store else ""
        binds = "\n".join(f" bind 127.0.0.1:{i} ssl {line}" for i, line in enumerate(lines, 1))
        cfg.write_text(f"global\n {mode and f'ocsp-update.mode {mode}'}\n{load}{HTTP}frontend f\n{binds}\n http-request return status 200\n")
        reported = run("-c", "-f", cfg)
        assert reported.returncode == (1 if want else 0) and (want or "") in reported.stderr, (store, lines, mode, reported.stderr)
    # a line that is gone says nothing any more
    (p,) = free_ports(1)
    other = certificate(ca, "beside", r.url)
    lists["on"].write_text(f"{other}\n{pem} [ocsp-update on]\n")
    d = daemon(frontend(p, f"crt-list {lists['on']}"), clock="stands")
    updated(d, "both.pem")
    assert "'off' of this line contradicts 'on' of another line" in d.admin(f"add ssl crt-list {lists['on']} <<\n{pem} [ocsp-update off]\n\n")
    assert set(rows(d)) == {"both.pem"}
    assert "deleted in crtlist" in d.admin(f"del ssl crt-list {lists['on']} {pem}")
    assert "Success!" in d.admin(f"add ssl crt-list {lists['on']} <<\n{pem} [ocsp-update off]\n\n")
    assert rows(d) == {}


def test_failures(daemon, ca, responder):
    """Nothing that is not a valid response about the certificate, signed by its issuer, is stapled; the next try waits."""
    stranger = Authority(ca.dir / "stranger", name="test CA")
    other = certificate(ca, "other", None)
    answers = {
        "status": (lambda pem: lambda body: http(b"x", "503 Busy"), "2", "HTTP error"),
        "closes": (lambda pem: lambda body: [], "2", "HTTP error"),
        "cut": (lambda pem: lambda body: [http(signed(ca, pem)(body))[0][:-1]], "2", "HTTP error"),
        "large": (lambda pem: lambda body: http(b"x" * 100000), "2", "HTTP error"),
        "text": (lambda pem: lambda body: http(b"nonsense"), "4", "OCSP response check failure"),
        "empty": (lambda pem: lambda body: http(b""), "3", 'Missing "ocsp-response" header'),
        "stranger": (lambda pem: lambda body: http(signed(ca, pem, key=stranger)(body)), "4", "OCSP response check failure"),
        "another": (lambda pem: lambda body: http(ca.ocsp(other)), "4", "OCSP response check failure"),
    }
    line = ""
    for name, (answer, _, _) in answers.items():
        r = responder(None)
        pem = certificate(ca, name, r.url)
        r.answer = answer(pem)
        line += f" crt {pem}"
    refused = certificate(ca, "refused", f"http://127.0.0.1:{free_ports(1)[0]}/")
    named = certificate(ca, "named", "http://responder.invalid/")
    (p,) = free_ports(1)
    d = daemon(frontend(p, f"{line} crt {refused} crt {named} ocsp-update on") +
               f"resolvers default\n nameserver a 127.0.0.1:{free_ports(1)[0]}\n resolve_retries 1\n timeout retry 100ms\n")
    want = {f"{n}.pem": ["0", "1", status, text] for n, (_, status, text) in answers.items()}
    want |= {"refused.pem": ["0", "1", "2", "HTTP error"], "named.pem": ["0", "1", "2", "HTTP error"]}
    becomes(lambda: {n: r[4:] for n, r in rows(d).items()}, want)
    assert {stapled(p, n) for n in (*answers, "refused")} == {None}
    assert not d.leaked()


def test_names(daemon, ca, responder):
    """`resolvers default` finds the responder's address; a name that comes later is asked for again after a while."""
    r, ns = responder(None), Nameserver()
    ns.zone["ocsp.test"] = {"a": ["127.0.0.1"]}
    pem, late = (certificate(ca, n, f"http://{n}.test:{r.port}/") for n in ("ocsp", "late"))
    r.answer = lambda body: http(signed(ca, pem if len(r.requests) == 1 else late)(body))
    (p,) = free_ports(1)
    d = daemon(frontend(p, f"crt {pem} crt {late}") + f"resolvers default\n nameserver a 127.0.0.1:{ns.port}\n hold nx 0\n",
               extra="ocsp-update.mode on\n ocsp-update.mindelay 1\n ocsp-update.maxdelay 60")
    updated(d, "ocsp.pem")
    assert f"\r\nHost: ocsp.test:{r.port}\r\n" in r.requests[0]
    becomes(lambda: rows(d)["late.pem"][5], lambda failures: failures != "0", "a failure")
    ns.zone["late.test"] = {"a": ["127.0.0.1"]}
    updated(d, "late.pem")
    assert stapled(p, "late") == "good"
    ns.close()


def test_the_file_of_hosts(daemon, ca, responder):
    """A name that /etc/hosts has needs no name server."""
    r = responder(None)
    pem = certificate(ca, "hosts", f"http://localhost:{r.port}/")
    r.answer = lambda body: http(signed(ca, pem)(body))
    (p,) = free_ports(1)
    d = daemon(frontend(p, f"crt {pem} ocsp-update on") + f"resolvers default\n nameserver a 127.0.0.1:{free_ports(1)[0]}\n",
               clock="stands")
    updated(d, "hosts.pem")
    assert f"\r\nHost: localhost:{r.port}\r\n" in r.requests[0]


def test_a_proxy(daemon, ca, responder):
    """The proxy gets all requests with the whole URL, also for names that only it knows; a failure names it."""
    r, log = responder(None), LogServer()
    pems = {host: certificate(ca, f"p{i}", f"http://{host}/ocsp?x=1") for i, host in enumerate(("only.proxy.test", "192.0.2.1:8080"))}

    def answer(body):
        (host,) = [h for h in pems if f"POST http://{h}/ocsp?x=1 HTTP/1.1\r\nHost: {h}\r\n" in r.requests[-1]]
        return http(signed(ca, pems[host])(body))
    r.answer = answer
    (p, q) = free_ports(2)
    crts = " ".join(f"crt {pem}" for pem in pems.values())
    # One after another: an answer looks at the last request.
    for pem in pems.values():
        d = daemon(frontend(p, f"crt {pem} ocsp-update on"), extra=f"ocsp-update.httpproxy ipv4@localhost:{r.port}\n nbthread 2",
                   clock="stands")
        becomes(lambda d=d: [row[4] for row in rows(d).values()], ["1"])
        assert stapled(p, pem.stem) == "good"
        assert not d.leaked()
        d.stop()
    assert len(r.requests) == 2
    (closed,) = free_ports(1)
    d = daemon(frontend(q, f"{crts} ocsp-update on"), extra=f"ocsp-update.httpproxy 127.0.0.1:{closed}\n log 127.0.0.1:{log.port} local0")
    log.lines.until(lambda lines: sum(f"by the proxy 127.0.0.1:{closed}: " in m for m in lines) == 2, "two lines")
    assert {row[7] for row in rows(d).values()} == {"HTTP error"}


def test_a_few_at_once(daemon, ca, responder):
    """At most four responders are asked at the same time, and one that never answers does not hold back others."""
    gate = threading.Event()
    r = responder(None)
    pems = [certificate(ca, f"m{i}", r.url) for i in range(9)]

    def answer(body):
        gate.wait(WAIT)
        return http(b"no")
    r.answer = answer
    (p,) = free_ports(1)
    d = daemon(frontend(p, " ".join(f"crt {x}" for x in pems) + " ocsp-update on"), clock="stands")
    r.requests.wait(4)
    assert {x[5] for x in rows(d).values()} == {"0"}
    gate.set()
    becomes(lambda: {x[5] for x in rows(d).values()}, {"1"})
    assert r.most <= 4 and len(r.requests) == 9 and not d.leaked()


def test_renewals(daemon, ca, responder):
    """A response is asked for again before it expires, not more often than mindelay; a file's response is enough at the start;
    commands ask at once; another certificate is asked about."""
    r = responder(None)
    pem, first = certificate(ca, "r", r.url), certificate(ca, "first", r.url)
    r.answer = lambda body: http(signed(ca, pem, minutes=5)(body))
    (p, q) = free_ports(2)
    d = daemon(frontend(p, f"crt {pem}"), extra="ocsp-update.mode on\n ocsp-update.mindelay 1\n ocsp-update.maxdelay 2")
    r.requests.wait(3)
    d.stop()
    first.with_name("first.pem.ocsp").write_bytes(ca.ocsp(first))
    r.answer = lambda body: http(signed(ca, first)(body))
    r.requests.clear()
    d = daemon(frontend(q, f"crt {first}"), extra="ocsp-update.mode on")
    assert stapled(q, "first") == "good" and rows(d)["first.pem"][3:6] == ["-", "0", "0"]
    assert d.admin(f"update ssl ocsp-response {first}") == "\n"
    updated(d, "first.pem")
    assert len(r.requests) == 1
    assert "unknown file" in d.admin("update ssl ocsp-response nothing")
    assert "expects a filename" in d.admin("update ssl ocsp-response")
    r.answer = lambda body: http(signed(ca, pem)(body))
    d.admin(f"set ssl cert {first} <<\n{pem.read_text()}")
    assert "Success!" in d.admin(f"commit ssl cert {first}")
    becomes(lambda: stapled(q, "r"), bool, "a response")
    assert rows(d)["first.pem"][4] == "2"


def test_failures_at_once(daemon, ca, responder):
    """An update that fails before anything was waited for is tried again, too."""
    r = responder(None)
    pem, none = certificate(ca, "before", r.url), certificate(ca, "none3", None)
    r.answer = lambda body: http(signed(ca, pem)(body))
    (p,) = free_ports(1)
    d = daemon(frontend(p, f"crt {pem} ocsp-update on"), extra="ocsp-update.mindelay 1\n ocsp-update.maxdelay 1")
    updated(d, "before.pem")
    d.admin(f"set ssl cert {pem} <<\n{none.read_text()}")
    assert "Success!" in d.admin(f"commit ssl cert {pem}")
    becomes(lambda: int(rows(d)["before.pem"][5]), lambda failures: failures > 1, "two failures")
    assert stapled(p, "none3") is None


def test_it_can_be_off(daemon, ca, responder):
    """Off by default, on one line, by ocsp-update.disable, and for certificates that name no responder."""
    r = responder(lambda body: [])
    pem, none = certificate(ca, "off", r.url), certificate(ca, "none", None)
    asked = certificate(ca, "asked", r.url)
    for line, extra in ((f"crt {pem}", ""), (f"crt {pem} ocsp-update off", "ocsp-update.mode on"),
                        (f"crt {pem} ocsp-update on", "ocsp-update.disable on"), (f"crt {none}", "ocsp-update.mode on")):
        (p,) = free_ports(1)
        d = daemon(frontend(p, line), extra=extra)
        assert rows(d) == {}
        if "disable" in extra:
            assert "ocsp-update.disable is set" in d.admin(f"update ssl ocsp-response {pem}")
        d.stop()
    assert not r.requests
    (p,) = free_ports(1)
    d = daemon(frontend(p, f"crt {asked}"))
    assert d.admin(f"update ssl ocsp-response {asked}") == "\n"
    r.requests.wait()
    assert rows(d) == {}


def test_what_cannot_be_updated(ca, tmp_path):
    """A line that says on needs a responder and the issuer; delays have an order."""
    none, alone = certificate(ca, "none2", None), certificate(ca, "alone", "http://127.0.0.1:1/", issuer=False)
    tls = certificate(ca, "tls", "https://127.0.0.1/")
    for line, extra, want in (
            (f"crt {none} ocsp-update on", "", "it names no OCSP responder with a URL of http"),
            (f"crt {tls} ocsp-update on", "", "it names no OCSP responder with a URL of http"),
            (f"crt {alone} ocsp-update on", "", "the issuer's certificate is not in the PEM file"),
            (f"crt {none} ocsp-update maybe", "", "expects 'on' or 'off'"),
            ("crt @/x", f"\ncrt-store\n load crt {none} alias x ocsp-update on", "'load' : 'ocsp-update' : certificate '@/x' : it names no OCSP"),
            (f"crt {none}", "ocsp-update.mode maybe", "expects 'on' or 'off'"),
            (f"crt {none}", "ocsp-update.mindelay 10\n ocsp-update.maxdelay 5", "is above"),
            (f"crt {none}", "ocsp-update.httpproxy :80", "the proxy needs an address"),
            (f"crt {none}", "ocsp-update.httpproxy 127.0.0.1:x", "'127.0.0.1:x' : the port"),
            (f"crt {none}", "ocsp-update.httpproxy /run/proxy", "a unix socket is not acceptable")):
        cfg = tmp_path / "c.cfg"
        cfg.write_text(f"global\n {extra}\n" + frontend(1, line))
        reported = run("-c", "-f", cfg)
        assert reported.returncode == 1 and want in reported.stderr, (line, reported.stderr)
