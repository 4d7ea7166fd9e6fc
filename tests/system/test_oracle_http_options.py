"""Options of proxies in mode http: HAProxy and tacit get the same requests and responses, and what servers, clients and
logs see is compared."""

import contextlib
import re
import signal
import threading
from urllib.parse import quote, unquote

import facts
import oracle
import pytest
from conftest import TACIT, WAIT, Origin, connect, free_ports, recv_all, wait_for
from conftest import run as run_program
from oracle import Subject
from subject import LogServer

CFG = """ log 127.0.0.1:{log} local0
{more}defaults
 mode http
 log global
 option httplog
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout queue 1m
"""
# Differences from run to run in a line of a log: ports, times, and bytes, which HAProxy counts in its own form.
VARIES = re.compile(r"(?<=127\.0\.0\.1:)\d+|\[\d\d/[^]]*\]|(?<= )[-\d]+(?:/[-\d]+){4}(?= )|(?<= \d\d\d )\d+(?= )")


def read_head(conn, buf):
    """The next head, and the bytes behind it; b"" at the end of the stream."""
    while b"\r\n\r\n" not in buf:
        got = conn.recv(65536)
        if not got:
            return b"", buf
        buf += got
    head, _, rest = buf.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def lower(head):
    """Names of fields are sent as received by tacit, and in lower case by HAProxy."""
    return re.sub(rb"(?m)^[^ \r]+:", lambda m: m[0].lower(), head)


class Server(Origin):
    """Keeps its connections and answers each request with answer(its path), or an empty 200; `heads`: what it got."""

    def __init__(self, answer=lambda path: b""):
        self.heads, self.answer = [], answer
        super().__init__(self.serve)

    def serve(self, conn):
        buf = b""
        while True:
            head, buf = read_head(conn, buf)
            if not head:
                return
            self.heads.append(head)
            conn.sendall(self.answer(head.split(b" ")[1].decode()) or b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


class Client:
    """One connection, on which requests without bodies are sent."""

    def __init__(self, port):
        self.conn, self.buf = connect(port), b""

    def ask(self, request):
        """The head of what comes back; b"": the end. Its body is read."""
        self.conn.sendall(request)
        head, self.buf = read_head(self.conn, self.buf)
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        while length and len(self.buf) < int(length[1]):
            got = self.conn.recv(65536)
            assert got, "a body is cut"
            self.buf += got
        self.buf = self.buf[int(length[1]):] if length else self.buf
        return head

    def get(self, path="/", more=""):
        return self.ask(f"GET {path} HTTP/1.1\r\nHost: h\r\n{more}\r\n".encode())


class Run:
    """One program with a configuration in which {p0}, {p1}.. are free ports, and {s0}.. those of the servers."""

    def __init__(self, program, directory, cfg, servers, stack, more=""):
        directory.mkdir()
        self.ports = free_ports(4)
        self.log = LogServer()
        stack.callback(self.log.close)
        self.stack, self.servers, self.is_tacit = stack, servers, program == TACIT
        ports = {f"p{i}": p for i, p in enumerate(self.ports)}
        ports.update({f"s{i}": s.port for i, s in enumerate(servers)})
        self.subject = Subject(program, directory, (CFG + cfg).format(log=self.log.port, more=more, **ports))
        stack.callback(self.subject.stop)

    def client(self, port=0):
        c = Client(self.ports[port])
        self.stack.callback(c.conn.close)
        return c

    def served(self):
        """The heads that the first server got."""
        return [sorted(lower(h).strip().split(b"\r\n")) for h in self.servers[0].heads]

    def lines(self, n):
        """The first n lines of the log, once they are there."""
        return [VARIES.sub("*", line) for line in self.log.wait(n)[:n]]


@pytest.fixture
def same(tmp_path):
    """same(cfg, play, answers, more=""): play(Run) of HAProxy, which must be equal for tacit. answers: one function for
    each server; more: lines of the global section."""
    def compare(cfg, play, answers=(lambda path: b"",), more=""):
        def run(program):
            with contextlib.ExitStack() as stack:
                servers = [Server(a) for a in answers]
                for s in servers:
                    stack.callback(s.close)
                return play(Run(program, oracle.at(tmp_path, program), cfg, servers, stack, more))
        return oracle.same(run)
    return compare


# --- option prefer-last-server ---

def named(name):
    return lambda path: b"HTTP/1.1 200 OK\r\nWho: %s\r\nContent-Length: 0\r\n\r\n" % name


def who(head):
    return re.search(rb"(?i)who: (\w)", head)[1].decode()


LAST = """listen l
 bind 127.0.0.1:{{p0}}
 option prefer-last-server
 {}
 server a 127.0.0.1:{{s0}}
 server b 127.0.0.1:{{s1}}
"""


@pytest.mark.parametrize("how, want", [
    ("http-reuse never", "aaaa bbbb"),
    ("http-reuse never\n no option prefer-last-server", "abab abab"),
    ("http-reuse never\n balance leastconn", "aaaa bbbb"),
    ("http-reuse never\n balance hdr(H)", None),                # a hash has its own choice
    ("http-reuse safe", "abab abab"),                           # such connections belong to no client
    ("http-reuse never\n option http-server-close", "abab abab"),
])
def test_the_next_request_goes_to_the_last_server(same, how, want):
    def play(run):
        out = []
        for _ in range(2):
            c = run.client()
            out.append("".join(who(c.get(more=f"H: {i}\r\n")) for i in range(4)))
        return " ".join(out)

    theirs = same(LAST.format(how), play, (named(b"a"), named(b"b")))
    assert want in (theirs, None)


@pytest.mark.parametrize("limit, queued, want", [("0", 0, "b"), ("1", 1, "a"), ("-1", 1, "a")])
def test_few_sessions_wait_for_the_last_server(same, limit, queued, want):
    """Server a serves one request at a time, and another client has it."""
    cfg = LAST.format(f"http-reuse never\n max-keep-alive-queue {limit}\n default-server maxconn 1")
    done = threading.Event()

    def a(path):
        if path == "/hold":
            assert done.wait(WAIT)
        return named(b"a")(path)

    def play(run):
        done.clear()
        first, second, third = run.client(), run.client(), run.client()
        assert [who(first.get()), who(second.get())] == ["a", "b"]
        third.conn.sendall(b"GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        assert wait_for(lambda: run.servers[0].heads[-1].startswith(b"GET /hold"))
        first.conn.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        if queued:
            assert wait_for(lambda: run.subject.stat()[1]["l", "a"]["qcur"] == "1")
            done.set()
        got = who(read_head(first.conn, b"")[0])
        done.set()
        return got, who(read_head(third.conn, b"")[0])

    assert same(cfg, play, (a, named(b"b"))) == (want, "a")


# --- option checkcache ---

# Responses of the server, separated by bars: the status, then fields.
CHECKED = [*(f"{status}|Set-Cookie: a=b|ETag: x" for status in (200, 201, 203, 301, 302, 404, 410, 500, 501)),
           "201|Set-Cookie: a=b|ETag: x|Cache-Control: public", "200|ETag: x", "200|Set-Cookie: a=b", "200|Set-Cookie: a=b|Expires: 0",
           "200|Set-Cookie: a=b|Last-Modified: x", "200|Set-Cookie: a=b|Cache-Control: max-age=5",
           *(f"200|Set-Cookie: a=b|ETag: x|{more}" for more in (
               "Pragma: no-cache", "Pragma: x, no-cache", "Cache-Control: private", "Cache-Control: private, public",
               "Cache-Control: public, max-age=0", "Cache-Control: s-maxage=0", "Cache-Control: NO-STORE, max-age=9",
               'Cache-Control: no-cache="set-cookie, x"', 'Cache-Control: no-cache="x"')),
           "200|Set-Cookie: S=b|ETag: x"]


def checked(path):
    status, *fields = unquote(path)[1:].split("|")
    return "\r\n".join([f"HTTP/1.1 {status} X", *fields, "Content-Length: 0", "", ""]).encode()


@pytest.mark.parametrize("more", [
    "", "cookie S insert", "cookie S insert nocache", "cookie S insert preserve nocache", "cookie S prefix",
    "http-response set-header Cache-Control private", "http-response set-header Set-Cookie x=y",
    "http-after-response del-header Set-Cookie"])
def test_cacheable_cookies_are_blocked(same, more):
    """HAProxy 2.6 sends its page with the status of the server or 500, not with 502 as its manual says."""
    cfg = f"""frontend f
 bind 127.0.0.1:{{p0}}
 default_backend b
backend b
 option checkcache
 {more}
 server s 127.0.0.1:{{s0}} cookie c
"""

    def play(run):
        passed = []
        for method, case in [("GET", c) for c in CHECKED] + [("POST", CHECKED[0]), ("POST", CHECKED[9])]:
            c = run.client()
            head = c.ask(f"{method} /{quote(case)} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".encode())
            blocked = b"text/html" in head
            if blocked and run.is_tacit:
                assert head.startswith(b"HTTP/1.1 502 ")
            passed.append((method, case, not blocked))
        ends = [re.search(r" - - (\S\S)", line)[1] for line in run.lines(len(passed))]
        alerts = [re.search(r"Blocking.*", line)[0] for line in run.log.lines if "Blocking" in line]
        assert len(alerts) == len([e for e in ends if e.startswith("PH")]) == [p[2] for p in passed].count(False)
        rows = run.subject.stat()[1]
        return passed, ends, alerts, [(row, rows[row]["dresp"]) for row in (("f", "FRONTEND"), ("b", "BACKEND"))]

    passed = {p[1]: p[2] for p in same(cfg, play, (checked,))[0]}
    assert passed["200|ETag: x"] or "Set-Cookie x" in more


# --- option http-restrict-req-hdr-names ---

@pytest.mark.parametrize("front, back", [
    ("preserve", "preserve"), ("delete", "preserve"), ("preserve", "delete"), ("reject", "delete"), ("delete", "reject")])
def test_names_with_other_characters(same, front, back):
    """The rules of each proxy come first."""
    cfg = f"""frontend f
 bind 127.0.0.1:{{p0}}
 option http-restrict-req-hdr-names {front}
 http-request set-header Seen %[req.hdr(a_b)]
 http-request del-header gone_
 default_backend b
backend b
 option http-restrict-req-hdr-names {back}
 http-request set-header Then %[req.hdr(a_b)]
 http-request set-header x_y z if {{{{ path /back }}}}
 server s 127.0.0.1:{{s0}}
"""

    def play(run):
        got = [run.client().get(path, more)[:12] for path, more in (
            ("/", "Aa-9: 1\r\n"), ("/", "a_b: 1\r\na-b: 2\r\n"), ("/", "c.d: 1\r\n"), ("/", "e!: 1\r\n"), ("/back", ""),
            ("/", "gone_: 1\r\n"), ("/", "_: 1\r\n"))]
        rows = run.subject.stat()[1]
        ends = [re.search(r" (\d+) - - (\S\S)", line) for line in run.lines(len(got))]
        return got, run.served(), [e and e.group(2) for e in ends], [rows[r]["dreq"] for r in (("f", "FRONTEND"), ("b", "BACKEND"))]

    theirs = same(cfg, play)
    assert (b"HTTP/1.1 403" in theirs[0]) == ("reject" in (front, back))


# --- http-request early-hint ---

HINT = "http-request early-hint Link"


@pytest.mark.parametrize("rules, version, want", [
    ([f"{HINT} a=%[path]"], "1.1", 1),
    ([f"{HINT} a", f'{HINT} "</b>; rel=preload"'], "1.1", 1),
    ([f"{HINT} a", "http-request set-header X y", f"{HINT} b"], "1.1", 2),
    ([f"{HINT} a", f"{HINT} b if FALSE", f"{HINT} c"], "1.1", 2),
    ([f"{HINT} a if FALSE", f"{HINT} b"], "1.1", 1),
    ([f"{HINT} a", "http-request return status 200"], "1.1", 1),
    (["http-request return status 200 if TRUE", f"{HINT} a"], "1.1", 0),
    ([f"{HINT} a"], "1.0", 0),
    ([f"{HINT} a", "http-response set-header Y 1", "http-after-response set-header Z 1"], "1.1", 1),
])
def test_early_hints(same, rules, version, want):
    cfg = "listen l\n bind 127.0.0.1:{p0}\n " + "\n ".join(rules) + "\n server s 127.0.0.1:{s0}\n"

    def play(run):
        c = run.client()
        c.conn.sendall(f"GET /x HTTP/{version}\r\nHost: h\r\n\r\n".encode())
        heads = []
        while not heads or b" 103 " in heads[-1]:
            head, c.buf = read_head(c.conn, c.buf)
            heads.append(lower(head))
        assert c.buf == b""
        return heads

    theirs = same(cfg, play)
    assert len(theirs) == want + 1 and theirs[-1].startswith(b"HTTP/1.1 200 ")


# --- option idle-close-on-response ---

@pytest.mark.parametrize("option, waits", [("option idle-close-on-response", True), ("no option idle-close-on-response", False)])
def test_idle_clients_of_a_process_that_stops(same, option, waits):
    """With the option they get one more response, which ends the connection."""
    cfg = f"listen l\n bind 127.0.0.1:{{p0}}\n {option}\n server s 127.0.0.1:{{s0}}\n"

    def play(run):
        c = run.client()
        first = lower(c.get())
        run.subject.proc.send_signal(signal.SIGUSR1)
        facts.refuses(run.ports[0])
        second = lower(c.get()) if waits else b""
        assert c.conn.recv(1) == b""
        assert run.subject.proc.wait(WAIT) == 0
        return first, second

    theirs = same(cfg, play)
    assert (b"connection: close" in theirs[1]) == waits


# --- h1-case-adjust ---

ADJUSTED = [("host", "HoSt"), ("foo-bar", "FOO-bar"), ("content-length", "Content-LENGTH"), ("content-type", "CONTENT-type"),
            ("connection", "CONNECTION"), ("link", "LINK"), ("set-cookie", "SET-cookie"), ("x-made", "X-mADE")]


@pytest.mark.parametrize("options", [("client",), ("server",), ("client", "server"), ()])
@pytest.mark.parametrize("of_file", [False, True])
def test_case_of_names(same, tmp_path, options, of_file):
    """Only names in the table are changed, and only those are the same in both programs."""
    table = tmp_path / "names"
    table.write_text("# a comment\n\n" + "".join(f" {a} \t{b} \n" for a, b in ADJUSTED))
    more = f" h1-case-adjust-file {table}\n" if of_file else "".join(f" h1-case-adjust {a} {b}\n" for a, b in ADJUSTED)
    cfg = "listen l\n bind 127.0.0.1:{p0}\n" + "".join(f" option h1-case-adjust-bogus-{o}\n" for o in options)
    cfg += """ http-request deny if {{ path /deny }}
 http-request return status 200 content-type text/plain string x hdr x-made 1 if {{ path /return }}
 http-request early-hint Link x
 http-request set-header x-made y
 cookie S insert
 server s 127.0.0.1:{s0} cookie c
"""

    def answer(path):
        return b"HTTP/1.1 200 OK\r\nfoo-BAR: Foo-Bar: y\r\nOther: 1\r\nContent-Length: 17\r\n\r\nconnection: body\n"

    def names(head):
        found = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:] if line]
        return sorted(n if n.lower().decode() in dict(ADJUSTED) and n != n.lower() else n.lower() for n in found)

    def play(run):
        def adjusted(head, side):
            return names(head) if side in options else names(lower(head))

        c = run.client()
        got = [adjusted(c.ask(b"GET / HTTP/1.1\r\nhOST: h\r\nfoo-BAR: 1\r\nOther: x\r\n\r\n"), "client")]
        head, c.buf = read_head(c.conn, c.buf)
        assert b" 200 " in head
        while not c.buf.endswith(b"connection: body\n"):
            c.buf += c.conn.recv(99)
        got.append(adjusted(head, "client"))
        for path in ("/deny", "/return"):
            got.append(adjusted(run.client().get(path, "Connection: close\r\n"), "client"))
        return got, [adjusted(h, "server") for h in run.servers[0].heads]

    theirs = same(cfg, play, (answer,), more)
    assert (b"LINK" in theirs[0][0]) == ("client" in options)
    assert (b"HoSt" in theirs[1][0]) == ("server" in options)


@pytest.mark.parametrize("lines, text, error", [
    (["h1-case-adjust host HoSt", "h1-case-adjust host Host"], "", "duplicate entry 'host'"),
    (["h1-case-adjust-file {file}", "h1-case-adjust host Host"], "host HoSt\n", "duplicate entry 'host'"),
    (["h1-case-adjust-file {file}", "h1-case-adjust-file {file}"], "host HoSt\n", ""),
    (["h1-case-adjust host hosts"], "", "must not differ"),
    (["h1-case-adjust Host HOST"], "", ""),
    (["h1-case-adjust host"], "", "<from>"),
    (["h1-case-adjust host HOST x"], "", "'x'"),
    (["h1-case-adjust-file {file}"], "a A\nhost\n", "line 2"),
    (["h1-case-adjust-file {file}"], "host HOST x\n", "must not differ"),
    (["h1-case-adjust-file {file}"], " # host x\n\nhost  Host\r\n", ""),
    (["h1-case-adjust-file {file}.not"], "", "file"),
])
def test_tables_that_are_refused(tmp_path, lines, text, error):
    (tmp_path / "names").write_text(text)
    (tmp_path / "t.cfg").write_text("global\n" + "\n".join(lines).format(file=tmp_path / "names")
                                    + "\nlisten l\n mode http\n bind 127.0.0.1:99\n")

    def play(program):
        r = run_program("-c", "-f", tmp_path / "t.cfg", program=program)
        return r.returncode, error in r.stderr

    assert oracle.same(play, script=(tmp_path / "t.cfg").read_text()) == (int(error != ""), True)


# --- idle connections to servers ---

SHORT = """listen l
 bind 127.0.0.1:{{p0}}
 http-reuse {}
 server a 127.0.0.1:{{s0}} pool-purge-delay 1h pool-low-conn {}
"""


@pytest.mark.parametrize("low", [0, 5])
@pytest.mark.parametrize("reuse", ["safe", "aggressive"])
def test_clients_of_one_request_leave_few_idle_connections(same, reuse, low):
    """If each left its own, those would take up all that the server can serve at once. With aggressive the first request has
    looked for one."""
    def play(run):
        def idle():
            head, row = run.subject.admin("show servers conn l").split("\n")[:2]
            return int(dict(zip(head[2:].split(" "), row.split(" ")))["idle_cur"])

        for _ in range(30):
            c = run.client()
            assert b" 200 " in c.get("/", "Connection: close\r\n")
            assert c.conn.recv(1) == b""
        assert wait_for(lambda: low + 1 <= idle() <= max(2, low + 1)), idle()
    same(SHORT.format(reuse, low), play)


# --- option http-use-proxy-header ---

PROXIES = """userlist u
 user x insecure-password y
frontend f
 bind 127.0.0.1:{p0}
 option http-use-proxy-header
 http-request auth realm R if {{ path /rule }} !{{ http_auth(u) }}
 http-request set-header who "<%[http_auth_user] %[http_auth_pass] %[http_auth_type] %[http_auth_bearer]>"
 default_backend b
backend b
 server s 127.0.0.1:{s0}
frontend g
 bind 127.0.0.1:{p1}
 option http-use-proxy-header
 errorfile 407 FILE
 http-request auth if {{ http_auth_user -m len 0 }} || !{{ http_auth_user -m found }}
 default_backend b
frontend stats
 bind 127.0.0.1:{p2}
 option http-use-proxy-header
 stats enable
 stats auth x:y
frontend without
 bind 127.0.0.1:{p3}
 http-request auth realm R if {{ path /rule }} !{{ http_auth(u) }}
 default_backend b
"""
RIGHT, WRONG, BEARER = "Basic eDp5", "Basic eDp6", "Bearer zz"
CREDENTIALS = [{}, {"Authorization": RIGHT}, {"Proxy-Authorization": RIGHT}, {"Authorization": RIGHT, "Proxy-Authorization": BEARER},
               {"Authorization": BEARER, "Proxy-Authorization": RIGHT}, {"Proxy-Authorization": WRONG}]


@pytest.mark.parametrize("uri", ["/rule", "http://h/rule", "/", "http://h/", "*"])
def test_credentials_for_a_proxy(same, tmp_path, uri):
    """The frontend is a server for a client that gives a path, and a proxy for others."""
    page = tmp_path / "407.http"
    page.write_bytes(b"HTTP/1.1 407 Mine\r\nContent-Length: 3\r\n\r\nabc")
    method = "OPTIONS" if uri == "*" else "GET"

    def play(run):
        out = []
        for port in range(4):
            path = uri + "haproxy?stats;csv" if port == 2 and uri.endswith("/") else uri
            for fields in CREDENTIALS:
                lines = "".join(f"{k}: {v}\r\n" for k, v in fields.items())
                run.servers[0].heads.clear()
                head = run.client(port).ask(f"{method} {path} HTTP/1.1\r\nHost: h\r\n{lines}\r\n".encode())
                asks = re.findall(rb"(?im)^(\S+-authenticate: [^\r]*)", lower(head))
                who = [re.findall(rb"(?im)^who: ([^\r]*)", h) for h in run.servers[0].heads]
                out.append((port, lines, head.split(b"\r\n")[0], asks, who))
        return out

    same(PROXIES.replace("FILE", str(page)), play)


@pytest.mark.parametrize("said", ["keep-alive", "close", "x-foo"])
def test_proxy_connection_is_forwarded_and_means_nothing(same, said):
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nProxy-Connection: {said}\r\n\r\n".encode()

    def play(run):
        out = []
        for version, more in (("1.1", ""), ("1.0", ""), ("1.1", "Connection: close\r\n"), ("1.0", "Connection: keep-alive\r\n")):
            c = run.client()
            head = c.ask(f"GET http://h/ HTTP/{version}\r\nHost: h\r\nProxy-Connection: {said}\r\n{more}\r\n".encode())
            out.append((lower(head), "close" if b"connection: close" in head.lower().replace(b"proxy-connection", b"") else ""))
        return [sorted(h.split(b"\r\n")[1:]) + [end] for h, end in out], [
            re.findall(rb"(?im)^proxy-connection: [^\r]*", lower(h)) for h in run.servers[0].heads]

    same(PROXIES.replace(" errorfile 407 FILE\n", ""), play, (lambda path: answer,))


# --- invalid chunks ---

CHUNKS = {
    "no size": "xyz\r\n", "no second size": "3\r\nabc\r\nzz\r\n", "no end": "3\r\nabcXX0\r\n\r\n",
    "no trailer": "3\r\nabc\r\n0\r\nbad trailer\r\n\r\n", "large": "11111111111111111\r\n", "negative": "-1\r\n", "empty": "\r\n",
    "blank": " 3\r\nabc\r\n0\r\n\r\n", "after the end": "3\r\nabc\r\n0\r\n\r\nxyz\r\n",
    "after 8 kB": "2000\r\n" + 8192 * "a" + "\r\nzz\r\n"}


@pytest.mark.parametrize("name", CHUNKS)
def test_invalid_chunks_that_come_with_the_head(same, name):
    answer = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKS[name]}".encode()

    def play(run):
        status = run.client().get().split()[1]
        line = run.lines(1)[0]
        rows = run.subject.stat()[1]
        return status, re.search(r" \d+ \* - - (....) ", line)[1], [
            (row, column, rows["l", row][column]) for row in ("s", "BACKEND") for column in ("eresp", "hrsp_2xx", "hrsp_5xx")]

    same("listen l\n bind 127.0.0.1:{p0}\n server s 127.0.0.1:{s0}\n", play, (lambda path: answer,))


# --- the answers of denials ---

DENIALS = ["deny", "deny deny_status 410", "deny status 410", "deny status 403", "deny status 299", "deny status 451",
           "deny deny_status 403 status 410", "deny status 404 hdr X y", "deny hdr X y", "deny deny_status 404 hdr X y",
           "deny status 410 errorfiles e", "deny deny_status 301 errorfile FILE", "deny status 404 errorfile FILE",
           "deny status 404 default-errorfiles", "deny status 301 content-type text/plain string abc", "tarpit", "tarpit status 418",
           "tarpit deny_status 503", "return status 404", "return status 404 default-errorfiles", "return status 301 errorfile FILE"]


def test_the_answers_of_denials(same, tmp_path):
    """Without arguments, or with deny_status alone, they are the proxy's pages."""
    page, own = tmp_path / "page.http", tmp_path / "own.http"
    page.write_bytes(b"HTTP/1.1 410 Mine\r\nContent-Length: 3\r\n\r\nabc")
    own.write_bytes(b"HTTP/1.1 410 Own\r\nContent-Length: 3\r\n\r\nown")
    rules = "".join(f" http-request {denial.replace('FILE', str(page))} if {{{{ path /{i} }}}}\n" for i, denial in enumerate(DENIALS))

    def play(run):
        answers = {}
        for i, denial in enumerate(DENIALS):
            with connect(run.ports[0]) as c:
                c.sendall(f"GET /{i} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
                head, _, body = recv_all(c).partition(b"\r\n\r\n")
            answers[denial] = head.split(b"\r\n")[0], re.findall(rb"(?im)^x: .*", lower(head)), body
        return answers

    same("http-errors e\n errorfile 410 " + str(page) + "\nlisten l\n bind 127.0.0.1:{p0}\n timeout tarpit 10ms\n errorfile 410 "
         + str(own) + "\n" + rules, play)
