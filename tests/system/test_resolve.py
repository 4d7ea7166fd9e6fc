"""Names that are resolved at run time: the effects of a name server's answers; messages and columns are those of HAProxy."""

import contextlib
import http.client
import re
import signal
import socket
import subprocess
import threading

import facts
import oracle
import pytest
from conftest import TACIT, WAIT, admin, answers, free_port, info, recv_all
from facts import becomes
from nameserver import A, AAAA, REFUSED, SERVFAIL, Nameserver
from subject import LogServer

SERVICE = "_http._tcp.x"

DEFAULTS = """
defaults
    mode http
    log global
    timeout client 1m
    timeout server 1m
    timeout connect 1m
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
    def __init__(self, program, directory, cfg, workers=1):
        self.sock = directory / "s.sock"
        self.is_tacit = program == TACIT
        self.log = LogServer()
        self.is_over = False
        (directory / "t.cfg").write_text(f"global\n    stats socket {self.sock} level admin\n    nbthread {workers}\n"
                                         f"    log 127.0.0.1:{self.log.port} local0\n{DEFAULTS}{cfg}")
        self.errors = directory / "err"
        with open(self.errors, "wb") as err:
            self.proc = subprocess.Popen([program, "-db", "-f", str(directory / "t.cfg")], stdin=subprocess.DEVNULL, stdout=err, stderr=err)
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

    def start(cfg, program=TACIT, workers=1):
        directory = tmp_path / f"s{len(made)}"
        directory.mkdir()
        made.append(Subject(program, directory, cfg, workers))
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


# --- both programs say the same ---

def patient(ns):
    """A section where a silent name server is given up, and where others are in time on a busy machine, too."""
    return section(ns).replace("timeout retry 1m", "timeout retry 1s")


def play_addresses(s, ns):
    s.wait_until("s1", "no check", "127.0.0.2:80")
    ns.zone["app.x"] = {"a": ["127.0.0.3", "127.0.0.4"]}
    s.wait_until("s2", "no check", "127.0.0.4:80")
    ns.zone["app.x"] = {"aaaa": ["::1"]}
    s.wait_until("s1", "no check", "[::1]:80")
    s.wait_until("s2", "MAINT (resolution)", "")
    del ns.zone["app.x"]
    s.wait_until("s1", "MAINT (resolution)", "")
    ns.zone["app.x"] = {"cname": "real.x"}
    ns.zone["real.x"] = {"a": ["127.0.0.9"]}
    s.wait_until("s1", "no check", "127.0.0.9:80")
    ns.rcode = REFUSED
    s.wait_until("s1", "MAINT (resolution)")
    ns.rcode = 0
    s.wait_until("s1", "no check")
    ns.rcode = SERVFAIL
    s.wait_until("s1", "MAINT (resolution)")
    ns.rcode = 0
    s.wait_until("s1", "no check")
    ns.silent = True
    s.wait_until("s1", "MAINT (resolution)")
    ns.silent = False
    s.wait_until("s1", "no check")
    return s.reports(), s.servers(), re.sub(r"\d+", "N", s.admin("show resolvers res")), s.admin("show resolvers q")


def play_records(s, ns):
    s.wait_until("s1", "no check")
    s.wait_until("t1", "no check", backend="c")
    ns.zone[SERVICE] = {"srv": [(500, 8001, "n1.x", "127.0.0.21")]}
    becomes(lambda: s.servers()["s1"], ("no check", "127.0.0.21:8001", "2"))
    del ns.zone[SERVICE]
    s.wait_until("s1", "MAINT (resolution)", "")
    return s.reports(), s.servers(), s.servers("c")


def rows_of(s):
    """Names, addresses and ports of `show servers state`."""
    return [(f[3], f[4], f[18]) for f in (row.split() for row in s.admin("show servers state b").splitlines()[2:]) if f]


def play_operator(s, ns):
    """ An operator's address stays while the record does; a failure takes the address, and leaves the port."""
    s.wait_until("s1", "no check", "127.0.0.2:80")
    s.admin("set server b/s1 addr 127.0.0.8 port 81")
    ns.heard("app.x", 3, more=True)
    stays = rows_of(s)
    ns.zone["app.x"] = {"a": ["127.0.0.2", "127.0.0.3"]}
    s.wait_until("s2", "no check", "127.0.0.3:80")
    added = rows_of(s)
    ns.zone["app.x"] = {"a": ["127.0.0.3", "127.0.0.4"]}
    s.wait_until("s1", "no check", "127.0.0.4:81")
    del ns.zone["app.x"]
    s.wait_until("s1", "MAINT (resolution)", "")
    s.wait_until("s2", "MAINT (resolution)", "")
    return stays, added, rows_of(s)


ADDRESSES = """
backend b
    server s1 app.x:80 resolvers res init-addr none
    server s2 app.x:80 resolvers res init-addr none
    server s3 127.0.0.1:80
"""
RECORDS = f"""
backend b
    server-template s 2 {SERVICE} resolvers res init-addr none
    server other 127.0.0.1:1
backend c
    server-template t 1 _other._tcp.x resolvers res init-addr none resolve-opts ignore-weight
"""


@pytest.mark.parametrize("cfg, play", [(ADDRESSES, play_addresses), (RECORDS, play_records), (ADDRESSES, play_operator)],
                         ids=["addresses", "records", "operator"])
def test_haproxy_prints_and_shows_the_same(subject, cfg, play):
    def play_once(program):
        ns = Nameserver()
        ns.zone["app.x"] = {"a": ["127.0.0.2"]}
        ns.zone[SERVICE] = {"srv": [(1, 8001, "n1.x", "127.0.0.11")]}
        ns.zone["_other._tcp.x"] = {"srv": [(1000, 8001, "n2.x")]}
        ns.zone["n2.x"] = {"a": ["127.0.0.12"]}
        try:
            return [sorted(x) if isinstance(x, list) else x for x in play(subject(patient(ns) + cfg, program), ns)]
        finally:
            ns.close()

    oracle.same(play_once, script=cfg)


CHECKED = f"""
backend b
    server s1 app.x:80 resolvers res init-addr none check inter 100ms addr 127.0.0.1 port PORT
backend c
    server-template t 1 {SERVICE} resolvers res init-addr none check inter 100ms addr 127.0.0.1 port PORT
"""


def test_haproxy_checks_the_same(subject):
    """The state of one server by DNS and checks: up, down by a name, down by a check, and both."""
    oracle.same(lambda program: reports_with_checks(subject, program), script=CHECKED)


def reports_with_checks(subject, program):
    """The lines of one program, in alphabetical order."""
    ns, web = Nameserver(), Web("up", "127.0.0.1")
    try:
        ns.zone["app.x"] = {"a": ["127.0.0.2"]}
        ns.zone[SERVICE] = {"srv": [(1, 8001, "n1.x", "127.0.0.11")]}
        s = subject(patient(ns) + CHECKED.replace("PORT", str(web.port)), program)
        s.wait_until("s1", "UP", "127.0.0.2:80")
        s.wait_until("t1", "UP", "127.0.0.11:8001", backend="c")
        del ns.zone["app.x"]
        s.wait_until("s1", "MAINT (resolution)", "")
        ns.zone["app.x"] = {"a": ["127.0.0.3"]}
        s.wait_until("s1", "UP", "127.0.0.3:80")
        web.close()
        s.wait_until("s1", "DOWN")
        s.wait_until("t1", "DOWN", backend="c")
        del ns.zone["app.x"]
        s.wait_until("s1", "MAINT (resolution)", "")
        ns.zone[SERVICE] = {}
        s.wait_until("t1", "MAINT (resolution)", "", backend="c")
        return sorted(re.sub(r"duration: \d+ms", "duration: Nms", line) for line in s.reports())
    finally:
        ns.close()


ANSWERS = [
    "set server b/s2 addr 127.0.0.99", "set server b/s2 addr 127.0.0.99", "set server b/s2 addr 127.0.0.99 port 81",
    "set server b/s2 addr 127.0.0.99 port 82", "set server b/s2 addr 127.0.0.98 port 83",
    "set server b/s2 addr 127.0.0.98 port +1", "set server b/s2 addr 127.0.0.98 port abc",
    "set server b/s2 addr 127.0.0.98 port", "set server b/s2 addr", "set server b/s2 addr foo",
    "set server b/s2 addr 127.0.0.97:80", "set server b/s2 addr ::1", "set server b/s2 addr ::1 port 84",
    "set server b/s2 addr [::1]", "set server b/s3 addr 127.0.0.20", "set server b/s3 addr 127.0.0.20 port 80",
    "set server b/s3 addr 127.0.0.20 port +5", "set server b/s4 addr 127.0.0.20 port 80",
    "set server b/s5 addr 127.0.0.1 port 80", "set server b/s1 fqdn new.x", "set server b/s1 fqdn new.x",
    "set server b/s1 fqdn", "set server b/s2 fqdn new.x", "set server b/s1 fqdn bad..name",
    "show resolvers nope",
]


def test_commands_are_answered_as_by_haproxy(subject):
    def play(program):
        ns = Nameserver()
        ns.zone["app.x"] = ns.zone["new.x"] = {"a": ["127.0.0.2"]}
        s = subject(section(ns) + """
backend b
    server s1 app.x:80 resolvers res init-addr none
    server s2 127.0.0.9:81
    server s3 127.0.0.10
    server s4 127.0.0.11:+10
    server s5 unix@/tmp/x
""", program)
        s.wait_until("s1", "no check")
        seen = [(command, s.admin(command)) for command in ANSWERS]
        ns.close()
        return seen

    oracle.same(play, script="\n".join(ANSWERS))


# --- start ---

def check(tmp_path, *args, cfg):
    file = tmp_path / "c.cfg"
    file.write_text(DEFAULTS + f"frontend f\n bind 127.0.0.1:{free_port()}\n default_backend b\n" + cfg)
    done = subprocess.run([TACIT, "-c", "-f", str(file), *args], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("how, code", [("", 1), ("init-addr last,libc,none", 0), ("init-addr none", 0),
                                       ("init-addr 127.0.0.1", 0)])
def test_names_stop_the_start_only_if_the_line_asks_for_it(tmp_path, how, code):
    assert check(tmp_path, cfg=f"backend b\n server s no.such.name.invalid:80 {how}\n")[0] == code
    assert check(tmp_path, "-dr", cfg=f"backend b\n server s no.such.name.invalid:80 {how}\n")[0] == 0


def test_a_dead_name_server_stops_nothing(subject):
    nobody = Nameserver()
    nobody.close()
    port = free_port()
    web = Web("up", "127.0.0.1")
    s = subject(section(nobody) + f"""
frontend f
    bind 127.0.0.1:{port}
    default_backend b
backend b
    server s1 app.x:80 resolvers res init-addr last,none
    server s2 127.0.0.1:{web.port}
""")
    assert get(port) == (200, "up")
    assert s.servers()["s1"][0] == "MAINT (resolution)"
    web.close()


# --- the protocol ---

def test_what_is_truncated_is_asked_for_over_tcp(subject, ns):
    ns.truncate = True
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    s = subject(section(ns) + "backend b\n server s app.x:80 resolvers res init-addr none resolve-prefer ipv4\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    assert ("app.x", A, "udp") in ns.queries and ("app.x", A, "tcp") in ns.queries
    assert re.search(r"truncated: +[1-9]", s.admin("show resolvers res"))


def test_tcp_name_servers_are_asked_over_tcp_only(subject, ns):
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    s = subject(section(ns).replace("ns1 127", "ns1 tcp@127") + "backend b\n server s app.x:80 resolvers res init-addr none\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    ns.zone["app.x"] = {"a": ["127.0.0.6"]}
    s.wait_until("s", "no check", "127.0.0.6:80")
    assert {over for _, _, over in ns.queries} == {"tcp"}


def test_forged_answers_change_nothing(subject, ns):
    """ Each answer is preceded by one with another id and another host's address."""
    ns.wrong_id = True
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    s = subject(section(ns) + "backend b\n server s app.x:80 resolvers res init-addr none resolve-prefer ipv4\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    assert re.search(r"outdated: +[1-9]", s.admin("show resolvers res"))
    assert not [line for line in s.reports() if "DOWN" in line]


def test_the_other_name_server_answers(subject, ns):
    silent = Nameserver()
    silent.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.5"]}
    two = section(ns, f"nameserver ns2 127.0.0.1:{silent.port}")
    s = subject(hasty(two) + "backend b\n server s app.x:80 resolvers res init-addr none\n")
    s.wait_until("s", "no check", "127.0.0.5:80")
    silent.heard("app.x", 6, more=True)
    assert s.servers()["s"][0] == "no check"
    assert silent.asked("app.x", AAAA) and "by res/ns1." in "".join(s.reports())
    silent.close()


def test_five_hundred_records(subject, ns):
    ns.zone[SERVICE] = {"srv": [(1, 10000 + i, f"n{i}.x", f"127.1.{i // 250}.{i % 250 + 1}") for i in range(500)]}
    s = subject(section(ns).replace("8192", "65535") + f"backend b\n server-template s 500 {SERVICE} resolvers res init-addr none\n")
    s.until("counter b/act eq 500")
    assert s.servers()["s500"][1] == "127.1.1.250:10499"
    # The same over TCP, for an answer that does not fit into 512 bytes.
    ns.zone[SERVICE]["srv"].pop()
    ns.truncate = True
    s.until("server b/s500 state eq MAINT")
    assert sum(status == "no check" for status, _, _ in s.servers().values()) == 499


# --- under traffic ---

@pytest.mark.parametrize("workers", [1, 3])
def test_servers_move_under_traffic(subject, ns, workers):
    """ The address changes every few milliseconds, by answers and by commands, while clients use kept connections: no
    request fails, and after the last change none is sent to a previous address."""
    origins = [Web(f"o{i}", f"127.0.0.{10 + i}") if i == 0 else None for i in range(3)]
    origins[1:] = [Web(f"o{i}", f"127.0.0.{10 + i}", origins[0].port) for i in (1, 2)]
    ns.zone["app.x"] = {"a": ["127.0.0.10"]}
    port = free_port()
    s = subject(section(ns).replace("timeout resolve 200ms", "timeout resolve 20ms") + f"""
frontend f
    bind 127.0.0.1:{port}
    default_backend b
backend b
    http-reuse always
    server s app.x:{origins[0].port} resolvers res init-addr none resolve-prefer ipv4
""", workers=workers)
    s.wait_until("s", "no check")
    stop, bad, done = threading.Event(), [], []

    def client():
        while not stop.is_set():
            conn = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
            for _ in range(5):
                got = get(port, conn=conn)
                done.append(got)
                if got[0] != 200:
                    bad.append(got)
            conn.close()

    clients = [threading.Thread(target=client) for _ in range(4)]
    for c in clients:
        c.start()
    for turn in range(30):
        where = f"127.0.0.{10 + turn % 3}"
        if turn % 2:
            ns.zone["app.x"] = {"a": [where]}
        else:
            s.admin(f"set server b/s addr {where}")
        if turn % 2:
            s.wait_until("s", "no check", f"{where}:{origins[0].port}")
    ns.zone["app.x"] = {"a": ["127.0.0.12"]}
    # An answer from before may be on its way.
    ns.heard("app.x", 3, more=True)
    s.wait_until("s", "no check", f"127.0.0.12:{origins[0].port}")
    after = [get(port) for _ in range(20)]
    stop.set()
    for c in clients:
        c.join()
    assert not bad, bad[:5]
    assert len(done) > 100 and {body for _, body in done} == {"o0", "o1", "o2"}
    assert after == [(200, "o2")] * 20
    for o in origins:
        o.close()


# --- do-resolve ---

def asking(ns, port, lines="", family=",ipv4"):
    """A frontend that answers with the address of the host that a request names."""
    return section(ns, lines) + f"""
frontend f
    bind 127.0.0.1:{port}
    http-request do-resolve(txn.ip,res{family}) hdr(host),host_only
    http-request return status 200 content-type text/plain lf-string "%[var(txn.ip)]"
"""


def ask(port, host, conn=None):
    c = conn or http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request("GET", "/", headers={"Host": host})
    r = c.getresponse()
    return r.status, r.read().decode().strip()


def raw(port, data):
    s = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
    s.sendall(data)
    return s


def session_of(s, client):
    """Its id, once its connection was accepted."""
    rows = becomes(lambda: [row for row in s.admin("show sess").split("\n") if f":{client.getsockname()[1]} " in row],
                   bool, "the client's session")
    return rows[0].split(":")[0]


@pytest.mark.parametrize("program", oracle.PROGRAMS.values(), ids=oracle.PROGRAMS)
def test_a_rule_asks_for_a_name(subject, ns, program):
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    ns.zone["six.x"] = {"aaaa": ["::7"]}
    ns.zone["alias.x"] = {"cname": "app.x"}
    port = free_port()
    # HAProxy 2.6 asks for addresses of the other family with the next retry.
    s = subject(asking(ns, port) if program == TACIT else hasty(asking(ns, port)), program)
    assert ask(port, "app.x") == (200, "127.0.0.7")
    assert ask(port, "APP.x:80") == (200, "127.0.0.7")
    assert ask(port, "alias.x") == (200, "127.0.0.7")
    assert ask(port, "six.x") == (200, "::7")
    assert ask(port, "no.x") == (200, "")
    before = ns.asked("app.x")
    for _ in range(3):
        assert ask(port, "app.x") == (200, "127.0.0.7")
    # The answer is used again for `hold valid`, 10 s. HAProxy 2.6 asks each time.
    if program == TACIT:
        assert ns.asked("app.x") == before
    ns.rcode = SERVFAIL
    assert ask(port, "other.x") == (200, "")
    assert s.proc.poll() is None


def test_a_name_may_be_no_name(subject, ns):
    port = free_port()
    subject(asking(ns, port))
    for host in ("", "..", "a..b", "x" * 64 + ".x", "a" * 300):
        assert ask(port, host) == (200, "")
    assert not ns.queries


@pytest.mark.parametrize("workers", [1, 3])
def test_many_requests_wait_at_once(subject, ns, workers):
    names = {f"n{i}.x": f"127.0.{i // 200}.{i % 200 + 1}" for i in range(300)}
    for name, ip in names.items():
        ns.zone[name] = {"a": [ip]}
    port = free_port()
    s = subject(asking(ns, port), workers=workers)
    bad = []

    def client(mine):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        for name in mine:
            got = ask(port, name, conn)
            if got != (200, names[name]):
                bad.append((name, got))
        conn.close()

    clients = [threading.Thread(target=client, args=(list(names)[i::6] * 2,)) for i in range(6)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    assert not bad, bad[:5]
    s.no_sessions()


def test_it_connects_to_what_it_found(subject, ns):
    web = Web("found", "127.0.0.14")
    ns.zone["app.x"] = {"a": ["127.0.0.14"]}
    port = free_port()
    subject(section(ns) + f"""
frontend f
    bind 127.0.0.1:{port}
    http-request do-resolve(txn.ip,res,ipv4) hdr(host)
    use_backend none unless {{ var(txn.ip) -m found }}
    default_backend b
backend none
    http-request deny status 503
backend b
    http-request set-dst var(txn.ip)
    server clear 0.0.0.0:{web.port}
""")
    assert ask(port, "app.x") == (200, "found")
    assert ask(port, "no.x")[0] == 503
    web.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_what_clients_do_while_they_wait(subject, ns, workers):
    """The name server is silent until the clients have done it."""
    ns.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    s = subject(hasty(asking(ns, port), tries=400), workers=workers)
    get_one = b"GET / HTTP/1.1\r\nHost: app.x\r\n\r\n"
    gone = raw(port, get_one)
    reset = raw(port, get_one)
    half = raw(port, get_one.replace(b"1.1\r", b"1.1\r\nConnection: close\r", 1))
    half.shutdown(socket.SHUT_WR)
    two = raw(port, get_one + get_one)
    body = raw(port, b"POST / HTTP/1.1\r\nHost: app.x\r\nContent-Length: 10\r\n\r\n01234")
    killed = raw(port, get_one)
    s.until("sessions eq 6")
    gone.close()
    reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    reset.close()
    s.admin("shutdown session " + session_of(s, killed))
    body.sendall(b"56789")
    s.until("idle")
    ns.silent = False
    assert recv_all(half).endswith(b"127.0.0.7")
    got = b""
    while got.count(b"127.0.0.7") < 2:
        part = two.recv(65536)
        assert part, got
        got += part
    assert b"127.0.0.7" in body.recv(65536)
    with contextlib.suppress(ConnectionResetError):
        assert recv_all(killed) == b""
    for c in (half, two, body, killed):
        c.close()
    s.no_sessions()
    assert ask(port, "app.x") == (200, "127.0.0.7")


def test_a_body_larger_than_a_buffer_waits(subject, ns, origins):
    """Bytes without room stay in the kernel until the name is known."""
    bodies = []

    def take(conn):
        got = b""
        while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < 60000:
            got += conn.recv(65536)
        bodies.append(got)
        conn.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    ns.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    subject(hasty(section(ns), tries=400) + f"""
frontend f
    bind 127.0.0.1:{port}
    http-request do-resolve(txn.ip,res,ipv4) hdr(host),host_only
    http-request set-header X-Ip %[var(txn.ip)]
    default_backend b
backend b
    server s 127.0.0.1:{origins(take).port}
""")
    c = raw(port, b"POST / HTTP/1.1\r\nHost: app.x\r\nContent-Length: 60000\r\n\r\n" + b"0123456789" * 6000)
    ns.heard("app.x", 2)
    ns.silent = False
    assert c.recv(65536).startswith(b"HTTP/1.1 204 ")
    head, body = bodies[0].split(b"\r\n\r\n", 1)
    assert b"X-Ip: 127.0.0.7" in head and body == b"0123456789" * 6000
    c.close()


def test_a_request_that_came_with_its_fin_waits(subject, ns):
    """The daemon waits for the client, and stands still while that sends both: one event has both."""
    ns.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    s = subject(hasty(asking(ns, port), tries=400))
    c = raw(port, b"")
    s.until("sessions eq 1", "idle")
    s.proc.send_signal(signal.SIGSTOP)
    c.sendall(b"GET / HTTP/1.1\r\nHost: app.x\r\nConnection: close\r\n\r\n")
    c.shutdown(socket.SHUT_WR)
    s.proc.send_signal(signal.SIGCONT)
    s.until("idle")
    ns.silent = False
    assert recv_all(c).endswith(b"127.0.0.7")
    c.close()


def test_without_an_answer_the_request_continues(subject, ns):
    """After all tries; other names are held meanwhile, and answered by what is known."""
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    subject(hasty(asking(ns, port)))
    assert ask(port, "app.x") == (200, "127.0.0.7")
    ns.silent = True
    assert ask(port, "late.x") == (200, "")
    assert ns.asked("late.x") == 3
    assert ask(port, "app.x") == (200, "127.0.0.7")


@pytest.mark.parametrize("workers", [1, 3])
def test_it_stops_while_requests_wait(subject, ns, workers):
    ns.silent = True
    port = free_port()
    s = subject(asking(ns, port).replace("timeout retry 1m", "timeout retry 1h"), workers=workers)
    waiting = [raw(port, b"GET / HTTP/1.1\r\nHost: app.x\r\n\r\n") for _ in range(6)]
    ns.heard("app.x")
    s.stop()
    for c in waiting:
        c.close()


def tcp_asking(ns, port, to, lines):
    return section(ns) + f"""
frontend f
    mode tcp
    bind 127.0.0.1:{port}
    tcp-request inspect-delay 1m
    {lines}
    default_backend b
backend b
    mode tcp
    server clear 0.0.0.0:{to}
"""


SNIFF = """tcp-request content do-resolve(txn.ip,res,ipv4) req.payload(0,5) if { req.len ge 5 }
    tcp-request content set-dst var(txn.ip) if { var(txn.ip) -m found }
    tcp-request content accept if { req.len ge 5 }"""


@pytest.mark.parametrize("program", oracle.PROGRAMS.values(), ids=oracle.PROGRAMS)
def test_a_rule_of_mode_tcp_asks_for_a_name(subject, ns, origins, program):
    """The first bytes say where a connection goes, and may come one by one."""
    def greet(conn):
        conn.sendall(b"here ")
        while got := conn.recv(4096):
            conn.sendall(got)

    there = origins(greet, address=("127.0.0.16", 0))
    ns.zone["app.x"] = {"a": ["127.0.0.16"]}
    port = free_port()
    s = subject(tcp_asking(ns, port, there.port, SNIFF), program)
    for pieces in ([b"app.x and more"], [b"a", b"pp.", b"x", b" later"]):
        c = raw(port, b"")
        for piece in pieces:
            c.sendall(piece)
            if s.is_tacit:
                s.until("idle")
        c.shutdown(socket.SHUT_WR)
        assert recv_all(c) == b"here " + b"".join(pieces)
        c.close()
    there.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_clients_of_mode_tcp_wait(subject, ns, origins, workers):
    """Two names, without an inspect-delay that matters; clients that close, reset or are killed meanwhile do no harm."""
    there = origins(address=("127.0.0.17", 0))
    ns.zone["one.x"] = {"a": ["127.0.0.1"]}
    ns.zone["two.x"] = {"a": ["127.0.0.17"]}
    ns.silent = True
    port = free_port()
    lines = """tcp-request content do-resolve(txn.one,res,ipv4) str(one.x)
    tcp-request content do-resolve(txn.two,res,ipv4) str(two.x)
    tcp-request content reject unless { var(txn.one) -m ip 127.0.0.1 }
    tcp-request content set-dst var(txn.two)"""
    cfg = hasty(tcp_asking(ns, port, there.port, lines), tries=400).replace("inspect-delay 1m", "inspect-delay 100ms")
    s = subject(cfg, workers=workers)
    stay, gone, reset, half, killed = (raw(port, b"hello") for _ in range(5))
    half.shutdown(socket.SHUT_WR)
    s.until("sessions eq 5", "idle")
    ns.heard("one.x")
    gone.close()
    reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    reset.close()
    s.admin("shutdown session " + session_of(s, killed))
    stay.sendall(b" and more" * 5000)
    ns.silent = False
    assert recv_all(half) == b"hello"
    stay.shutdown(socket.SHUT_WR)
    assert recv_all(stay) == b"hello" + b" and more" * 5000
    for c in (stay, half, killed):
        c.close()
    s.no_sessions()
    there.close()


def test_without_an_answer_mode_tcp_continues(subject, ns):
    port = free_port()
    subject(tcp_asking(ns, port, 1, """tcp-request content do-resolve(txn.ip,res) str(no.x)
    tcp-request content reject unless { var(txn.ip) -m found }"""))
    c = raw(port, b"hello")
    with contextlib.suppress(ConnectionResetError):
        assert recv_all(c) == b""
    assert ns.asked("no.x")
    c.close()
