"""HAProxy evaluates the expressions of tests/unit/rule/oracle_*.tbl.h, which have the same results there."""
import re
import socket
import subprocess

import facts
import oracle
import pytest

from conftest import ROOT, WAIT, free_port

TABLES = sorted((ROOT / "tests/unit/rule").glob("oracle_*.tbl.h"))
ROW = re.compile(r'^ORACLE\("((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\)$', re.MULTILINE)
VARIABLES = {"txn.n": "int(10)", "txn.zero": "int(0)", "txn.str": "str(str)", "txn.t12": "str(12)",
             "txn.key": "str(a2V5)", "txn.bad": "str(!!)", "txn.v": "str(VAL)"}


def c_text(text):
    return re.sub(r'\\([0-7]{3}|.)', lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else m[1], text)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def rows_of(path):
    return [(c_text(a), c_text(b)) for a, b in ROW.findall(path.read_text())]


def configuration(port, rows):
    lines = ["defaults", " mode http", " timeout client 1m", " timeout server 1m", " timeout connect 1m",
             "frontend f", f" bind 127.0.0.1:{port}"]
    lines += [f" http-request set-var({name}) {value}" for name, value in VARIABLES.items()]
    for i, (expr, _) in enumerate(rows):
        lines.append(f" http-request return status 200 content-type text/plain lf-string "
                     f"{quoted('<%[' + expr + ']>')} if {{ req.hdr(x) -m str {i} }} "
                     f"{{ {quoted(expr)} -m found }}")
    return "\n".join(lines + [" http-request return status 404"]) + "\n"


def ask(port, i):
    with socket.create_connection(("127.0.0.1", port), WAIT) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nx: %d\r\n\r\n" % i)
        got = b""
        while piece := s.recv(65536):
            got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    return body[1:-1].decode("latin-1") if head.split()[1] == b"200" else "(none)"


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.name.split(".")[0])
def test_table(path, tmp_path):
    rows = rows_of(path)
    # each line but the comment was parsed
    assert rows and len(rows) == path.read_text().count("\n") - 1
    assert oracle.same(lambda program: others(program, rows, tmp_path)) == []


def others(program, rows, tmp_path):
    """[(expression, result)] where it is another one than the table says."""
    oracle.given(repr(rows))
    port = free_port()
    (tmp_path / "h.cfg").write_text(oracle.given(configuration(port, rows)))
    p = subprocess.Popen([program, "-db", "-f", tmp_path / "h.cfg"], stderr=subprocess.DEVNULL)
    try:
        facts.listens(port)
        return [(expr, got) for i, (expr, want) in enumerate(rows) if (got := ask(port, i)) != want]
    finally:
        p.terminate()
        p.wait(WAIT)
