"""Stick tables in traffic: HAProxy and tacit get the same connections and requests, and what clients see and `show table` has
in the end is compared."""

import contextlib
import re
import socket
import struct

import oracle
import pytest
from conftest import Origin, connect, free_ports
from oracle import Subject
from test_oracle_http_options import read_head
from test_oracle_observe import MOODS

CFG = """defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout http-request 1m
 timeout tarpit 10ms
"""
ALL = "gpt0,gpc0,gpc0_rate(1h),gpc1,conn_cnt,conn_rate(1h),conn_cur,sess_cnt,sess_rate(1h),http_req_cnt,http_req_rate(1h)," \
    "http_err_cnt,http_err_rate(1h),http_fail_cnt,http_fail_rate(1h)"
TABLE = f" stick-table type ip size 100 expire 1h store {ALL}\n"
LISTEN = """listen l
 bind 127.0.0.1:{p0}
 server s 127.0.0.1:{s0}
"""


def serve(conn):
    """Answers requests by their paths; a connection ends with its first invalid answer."""
    head = buf = b""
    while True:
        head, buf = read_head(conn, buf)
        if not head:
            return
        mood = head.split(b" ")[1].decode().strip("/")
        answer = MOODS.get(mood, MOODS["200"])
        if mood == "reset":
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif answer is None:
            conn.recv(1)
        else:
            conn.sendall(answer)
        if not mood.isdecimal():
            return


def head_of(conn):
    """The status and the fields x-* of the next response, whose body is read; the bytes that came where there is none."""
    buf = b""
    while b"\r\n\r\n" not in buf:
        got = conn.recv(1)
        if not got:
            return buf.decode("latin-1")
        buf += got
    length = re.search(rb"(?i)content-length: *(\d+)", buf)
    left = int(length[1]) if length else 0
    while left:
        left -= len(conn.recv(left))
    return " ".join([buf.split(b" ")[1].decode(), *sorted(re.findall(r"(?im)^(x-\S+: .*?)\r$", buf.decode("latin-1").lower()))])


def ask(conn, what):
    """The answer to a path, or to bytes; "-": the connection is closed."""
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        conn.sendall(what if isinstance(what, bytes) else f"GET /{what} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        return head_of(conn) or "-"
    return "-"


def opened(port):
    """A connection; without one, which a rule may have reset already, a socket that is not connected."""
    try:
        return connect(port)
    except ConnectionResetError:
        return socket.socket()


def entries(subject, table):
    """The entries of a table: {key: data}, without what depends on the time."""
    rows = subject.admin(f"show table {table}").strip().split("\n")[1:]
    return {m[1]: re.sub(r" (exp|shard)=\d+", "", m[2]) for m in (re.match(r"0x[0-9a-f]+: key=(\S+)(.*)", row) for row in rows)}


def played(program, directory, cfg, connections, tables, while_open=True):
    """[what the requests of each connection got, and the tables while it is open], and the tables at the end."""
    directory.mkdir(parents=True)
    server, ports = Origin(serve), free_ports(2)
    names = {"p0": ports[0], "p1": ports[1], "s0": server.port}
    subject = Subject(program, directory, (CFG + cfg).format(**names))

    def shown():
        subject.settle()
        return [entries(subject, t) for t in tables]

    try:
        seen = []
        for requests in connections:
            with opened(ports[0]) as c:
                got = [ask(c, r) for r in requests if r is not None]
                if None in requests:
                    c.shutdown(socket.SHUT_WR)
                    got.append(head_of(c))
                seen.append((got, *(shown() if while_open else ())))
        subject.settle()
        return [*seen, *shown()]
    finally:
        subject.stop()
        server.close()


KEPT = [["200", "404", "500"], ["501", "505", "200"]]
DENY = " http-request deny if { path /deny }\n http-request tarpit if { path /tarpit }\n http-request auth if { path /auth }\n" \
    " http-request redirect location / if { path /move }\n http-request return status 404 if { path /own }\n" \
    " http-request reject if { path /reject }\n http-request set-timeout server 100ms if { path /silence }\n" \
    " http-response deny if { status 302 }\n"
ENDS = [[e] for e in ("deny", "tarpit", "auth", "move", "own", "reject", "302", "garbage", "close", "reset", "silence", "half")]
BAD = [[b"GARBAGE\r\n\r\n"], ["200", b"X\r\n\r\n"]]
LATE = [[b"GET /200 HTTP/1.1\r\nHost"]]
SHUT = [[None], ["200", None]]
BODY = [[b"POST /200 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]]
BACK = "frontend f\n bind 127.0.0.1:{p0}\n default_backend l\nbackend l\n server s 127.0.0.1:{s0}\n"
PLACES = {
    "connection": "tcp-request connection track-sc0 src",
    "session": "tcp-request session track-sc0 src",
    "content": "tcp-request content track-sc0 src",
    "request": "http-request track-sc0 src",
    "response": "http-response track-sc0 src",
}
CASES = {
    **{f"{name} {of}": (LISTEN + TABLE + f" {line}\n" + DENY, conns)
       for name, line in PLACES.items() for of, conns in (("kept", KEPT), ("ends", ENDS), ("bad", BAD), ("shut", SHUT), ("body", BODY))},
    **{f"{name} late": (LISTEN + " timeout http-request 500ms\n" + TABLE + f" {line}\n" + DENY, LATE) for name, line in PLACES.items()},
    **{f"backend {name} {of}": (BACK + TABLE + f" {line}\n" + DENY, conns)
       for name, line in list(PLACES.items())[2:] for of, conns in (("kept", KEPT), ("ends", ENDS))},
    "deny before track": (LISTEN + TABLE + DENY + " http-request track-sc0 src\n", ENDS[:3]),
    "table elsewhere": (LISTEN + " http-request track-sc0 src table t\nbackend t\n" + TABLE, KEPT),
    "two levels": (LISTEN + TABLE + " tcp-request connection track-sc0 src\n http-request track-sc0 hdr(host) table t\n"
                   "backend t\n stick-table type string size 10 store " + ALL + "\n", KEPT),
    "two slots": (LISTEN + TABLE + " tcp-request connection track-sc0 src\n http-request track-sc1 path table t\n"
                  "backend t\n stick-table type string size 10 store " + ALL + "\n", KEPT),
    "first counts": (LISTEN + TABLE + " http-request track-sc0 path table t if { path /404 }\n http-request track-sc0 src\n"
                     "backend t\n stick-table type string size 10 store " + ALL + "\n", KEPT),
    "no key": (LISTEN + TABLE + " http-request track-sc0 req.hdr(none)\n", KEPT),
    "bad key": (LISTEN + TABLE + " http-request track-sc0 path\n", KEPT),
    "rejected": (LISTEN + TABLE + " tcp-request connection track-sc0 src\n tcp-request connection reject if {{ sc_conn_cnt(0) gt 1 }}\n",
                 KEPT[:1] * 3),
    "rejected session": (LISTEN + TABLE + " tcp-request session track-sc0 src\n"
                         " tcp-request session reject if {{ sc0_conn_cnt gt 1 }}\n", KEPT[:1] * 3),
    "rejected content": (LISTEN + TABLE + " tcp-request connection track-sc0 src\n"
                         " tcp-request content reject if {{ sc0_http_req_cnt gt 1 }}\n", KEPT[:1] * 2),
}


# After an invalid request tacit waits a second for the client to close, so that it can read the answer.
LINGERS = re.compile(r"\b(bad|late|shut|body)$")


@pytest.mark.parametrize("case", CASES)
def test_counts(case, tmp_path):
    cfg, connections = CASES[case]
    cfg = re.sub(r"(?<!\{)\{( (?:path|status).*?)\}", r"{{\1}}", cfg)
    tables = ["t"] if case == "table elsewhere" else ["l", "t"] if "backend t" in cfg else ["l"]
    oracle.same(lambda program: played(program, oracle.at(tmp_path, program), cfg, connections, tables, not LINGERS.search(case)))


NAMES = "bytes_in_rate bytes_out_rate conn_cnt conn_cur conn_rate get_gpc0 get_gpc1 get_gpt0 gpc0_rate gpc1_rate http_err_cnt " \
    "http_err_rate http_fail_cnt http_fail_rate http_req_cnt http_req_rate kbytes_in kbytes_out sess_cnt sess_rate".split()
INDEXED = "get_gpc get_gpt gpc_rate".split()
CHANGES = "inc_gpc0 inc_gpc1 clr_gpc0 clr_gpc1 inc_gpc(0) inc_gpc(1) clr_gpc(1) inc_gpc(9)".split()
# Not table_trackers: HAProxy 2.6 counts its own look-up.
CONVS = [n.removeprefix("get_") for n in NAMES] + ["server_id"]
ARRAYS = " stick-table type ip size 100 expire 1h store gpt(2),gpc(2),gpc_rate(2,1h),conn_cur\n"
FEW = " stick-table type ip size 100 expire 1h store conn_cnt,gpc0_rate(1h)\n"


def sc(name, slot, more=""):
    """sc_X(0), or sc_X(idx,0)."""
    base, _, idx = name.partition("(")
    return f"sc_{base}({idx.rstrip(')') + ',' if idx else ''}{slot}{more})"


def src(name, table):
    base, _, idx = name.partition("(")
    return f"src_{base}({idx.rstrip(')') + ',' if idx else ''}{table})"


def expressions():
    one = [f"{n}(0)" for n in INDEXED] + [f"{n}(1)" for n in INDEXED] + [f"{n}(5)" for n in INDEXED]
    for name in NAMES + one + ["tracked", "trackers"]:
        yield from (sc(name, 0), sc(name, 1), sc(name, 0, ",few"), sc(name, 0, ",arrays"))
    for name in NAMES + one:
        yield from (src(name, "l"), src(name, "few"), src(name, "arrays"))
    for name in CONVS + ["in_table"]:
        table = name if name == "in_table" else f"table_{name}"
        yield from (f"src,{table}(l)", f"src,{table}(few)", f"str(1.2.3.4),{table}(l)", f"str(nothing),{table}(l)")
    for name in INDEXED:
        name = name.removeprefix("get_")
        yield from (f"src,table_{name}(0,arrays)", f"src,table_{name}(5,arrays)", f"src,table_{name}(0,l)")
    yield from ("table_cnt", "table_avl", "table_cnt(few)", "table_avl(few)", "sc0_conn_cnt", "sc0_conn_cnt(few)", "sc1_conn_cnt",
                "sc2_tracked", "sc0_get_gpc0", "src_conn_cnt", "sc0_trackers",
                "str(1.2.3.4),table_idle(l,7)", "src,table_expire(l),div(1800001)", "str(1.2.3.4),table_expire(l,77)")


def changes():
    for name in CHANGES:
        yield from (sc(name, 0), sc(name, 1), sc(name, 0, ",arrays"))
        yield from (src(name, "l"), src(name, "few"), src(name, "arrays"))
    yield from ("src_updt_conn_cnt(l)", "src_updt_conn_cnt(few)", "src_updt_conn_cnt(arrays)", "src_updt_conn_cnt",
                "sc_inc_gpc0(0)", "sc_get_gpc0(0)", "sc_clr_gpc0(0)", "sc_get_gpc0(0)")


def valued(program, directory, lines, texts):
    """{text: its value}, of a second request, and the tables."""
    directory.mkdir(parents=True)
    server, port = Origin(serve), free_ports(1)[0]
    cfg = CFG + f"listen l\n bind 127.0.0.1:{port}\n server s 127.0.0.1:{server.port}\n" + TABLE + lines
    rows = [texts[i:i + 12] for i in range(0, len(texts), 12)]
    for i, row in enumerate(rows):
        cfg += f' http-response set-header x-{i} "{";".join(f"%[{t}]" for t in row)}.end"\n'
    cfg += f"backend few\n{FEW}backend arrays\n{ARRAYS}"
    subject = Subject(program, directory, cfg)
    try:
        with connect(port) as c:
            ask(c, "404")
            head = ask(c, "500")
        subject.settle()
        got = dict(re.findall(r"x-(\d+): (.*?).end", head))
        values = [v for i in range(len(rows)) for v in got[str(i)].split(";")]
        # HAProxy 2.6 keeps references to entries whose element does not exist, and may lose the first event of a rate of an
        # entry that sc_inc_gpc0 makes in another table.
        return list(zip(texts, values, strict=True)), [
            {k: re.sub(r"use=\d+|gpc0_rate\(3600000\)=[78]", "", v) for k, v in entries(subject, t).items()} for t in ("l", "few", "arrays")]
    finally:
        subject.stop()
        server.close()


@pytest.mark.parametrize("texts", [expressions, changes])
@pytest.mark.parametrize("lines", ["", " http-request track-sc0 src\n", " tcp-request connection track-sc0 src table few\n"])
def test_values(texts, lines, tmp_path):
    oracle.same(lambda program: valued(program, oracle.at(tmp_path, program), lines, list(texts())))


KEYED = {"string len 20": "string len 8", "integer": "integer", "ipv6": "ipv6", "binary len 8": "binary len 8", "ip": "ip"}
KEYS = {"string len 20": ["longkey1", "longkey12", "longkey", "abc"], "integer": ["7", "77"], "ipv6": ["2001:db8::1", "::1"],
        "binary len 8": ["abcdefgh", "abcdefg1"], "ip": ["192.0.2.1", "192.0.2.2"]}


def keyed(program, directory, tracked, other):
    """A counter of the other table for each key of the tracked one, and of a table with keys of another type."""
    directory.mkdir(parents=True)
    (port,) = free_ports(1)
    subject = Subject(program, directory, CFG + f"""frontend f
 bind 127.0.0.1:{port}
 http-request track-sc0 hdr(k) table tracked if {{ req.fhdr(k) -m found }}
 http-request track-sc1 hdr(seed) table other if {{ req.fhdr(seed) -m found }}
 http-request sc-inc-gpc0(1) if {{ req.fhdr(seed) -m found }}
 http-request return status 200 hdr x-n "%[sc_get_gpc0(0,other)]" hdr x-none "%[sc_get_gpc0(0,none)]"
backend tracked
 stick-table type {tracked} size 100 expire 1h store gpc0
backend other
 stick-table type {other} size 100 expire 1h store gpc0
backend none
 stick-table type {"ip" if other == "integer" else "integer"} size 100 expire 1h store gpc0
""")
    try:
        keys = KEYS[tracked]
        with connect(port) as c:
            for key in (keys[0], keys[-1], keys[-1]):
                ask(c, f"GET / HTTP/1.1\r\nHost: h\r\nseed: {key}\r\n\r\n".encode())
            return {key: ask(c, f"GET / HTTP/1.1\r\nHost: h\r\nk: {key}\r\n\r\n".encode()) for key in keys}
    finally:
        subject.stop()


@pytest.mark.parametrize("tracked", KEYED)
def test_the_key_of_an_entry_is_one_of_another_table(tracked, tmp_path):
    oracle.same(lambda program: keyed(program, oracle.at(tmp_path, program), tracked, KEYED[tracked]))


# --- rules of mode tcp that wait ---

WAITING = {
    "an action": " tcp-request content track-sc2 req.payload(0,3)\n",
    "a condition": " tcp-request content accept if { req.payload(0,3) -m found }\n",
    "an action, then a condition": " tcp-request content track-sc2 req.payload(0,2)\n tcp-request content sc-inc-gpc0(1)\n"
                                   " tcp-request content accept if { req.payload(0,3) -m found }\n",
}


def echo(conn):
    while data := conn.recv(100):
        conn.sendall(data)


def counted(program, directory, lines):
    """The tables after three bytes, each of which the rules see."""
    directory.mkdir(parents=True)
    server, port = Origin(echo), free_ports(1)[0]
    subject = Subject(program, directory, "defaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
                      f"frontend f\n bind 127.0.0.1:{port}\n default_backend b\n stick-table type binary len 3 size 10 store gpc0,bytes_in_cnt\n"
                      " tcp-request connection track-sc1 src table b\n tcp-request inspect-delay 1m\n"
                      f" tcp-request content sc-inc-gpc1(1)\n{lines}"
                      "backend b\n stick-table type ip size 10 store gpc0,gpc1,bytes_in_cnt,conn_cur\n stick store-response int(9)\n"
                      " tcp-response content sc-inc-gpc0(1)\n tcp-request content track-sc0 int(7)\n"
                      f" server s 127.0.0.1:{server.port}\n")
    try:
        with connect(port) as c:
            for byte in (b"x", b"y", b"z"):
                subject.settle()
                c.sendall(byte)
            got = b""
            while len(got) < 3:
                more = c.recv(3)
                assert more, got
                got += more
            c.shutdown(socket.SHUT_WR)
            assert c.recv(1) == b""
        subject.settle()
        return [entries(subject, t) for t in "fb"]
    finally:
        subject.stop()
        server.close()


@pytest.mark.parametrize("what", WAITING)
def test_rules_that_wait(what, tmp_path):
    """Where a condition waits all rules run again, where an action does they continue with it; those of a response run once."""
    oracle.same(lambda program: counted(program, oracle.at(tmp_path, program), WAITING[what]))
